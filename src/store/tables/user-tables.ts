/** Engine tables of people: who may do what, and what they have decided. drizzle-kit generates the migrations from them. */

import {
  optionalText,
  serial,
  textColumn,
  timestampColumn,
  withDefault,
  type EngineTable,
} from '../../db/rows/engine-column.ts';

/** Who may look, decide or administer. Of a token only its hash is kept: a copy of the mirror signs nobody in. */
export const USERS = {
  name: 'users',
  columns: [
    textColumn('name_key', 'nothing'), // The name in small letters: no two names differ only in their case.
    textColumn('name', 'nothing'),
    textColumn<'role', 'viewer' | 'writer' | 'operator' | 'admin'>('role', 'nothing'),
    textColumn('token_hash', 'nothing'), // SHA-256, in hexadecimal digits.
    withDefault(timestampColumn('created_at'), 'now'),
  ],
  primaryKey: ['name_key'],
  unique: 'token_hash',
} as const satisfies EngineTable;

/** What people have decided. It holds ids, names and our own words, never content of a record: nothing in it has to be erased. */
export const DECISIONS = {
  name: 'decisions',
  columns: [
    serial('id'),
    timestampColumn('at'),
    textColumn('who', 'nothing'), // A user; `admin`, who has the setting's token; on the command line the user of the machine: `ada@office`.
    textColumn<'role', 'viewer' | 'writer' | 'operator' | 'admin'>('role', 'nothing'),
    textColumn<'via', 'command' | 'page' | 'api'>('via', 'nothing'),
    textColumn('what', 'nothing'), // In the words of the command line: `deletions approve`.
    optionalText('target', 'nothing'), // What it is about: the number of an entry, a kind, the name of an endpoint or a user.
    optionalText('detail', 'nothing'), // What else was given: `recordId 501`.
  ],
  primaryKey: ['id'],
} as const satisfies EngineTable;
