/** Engine tables of people: who may do what, and what they have decided. drizzle-kit generates the migrations from them. */

import { sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { NOW, serial, text, timestamp } from './column-types.ts';

/** Who may look, decide or administer. Of a token only its hash is kept: a copy of the mirror signs nobody in. */
export const USERS = sqliteTable(
  'users',
  {
    nameKey: text('name_key', 'nothing').primaryKey(), // The name in small letters: no two names differ only in their case.
    name: text('name', 'nothing').notNull(),
    role: text('role', 'nothing').$type<'viewer' | 'writer' | 'operator' | 'admin'>().notNull(),
    tokenHash: text('token_hash', 'nothing').notNull(), // SHA-256, in hexadecimal digits.
    createdAt: timestamp('created_at').notNull().default(NOW),
  },
  (t) => [uniqueIndex('users_token_hash').on(t.tokenHash)],
);

/** What people have decided. It holds ids, names and our own words, never content of a record: nothing in it has to be erased. */
export const DECISIONS = sqliteTable('decisions', {
  id: serial('id'),
  at: timestamp('at').notNull(),
  who: text('who', 'nothing').notNull(), // A user; `admin`, who has the setting's token; on the command line the user of the machine: `ada@office`.
  role: text('role', 'nothing').$type<'viewer' | 'writer' | 'operator' | 'admin'>().notNull(),
  via: text('via', 'nothing').$type<'command' | 'page' | 'api'>().notNull(),
  what: text('what', 'nothing').notNull(), // In the words of the command line: `deletions approve`.
  target: text('target', 'nothing'), // What it is about: the number of an entry, a kind, the name of an endpoint or a user.
  detail: text('detail', 'nothing'), // What else was given: `recordId 501`.
});
