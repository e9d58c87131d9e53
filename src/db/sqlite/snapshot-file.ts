import { existsSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { createDraft } from '../../lib/draft-file.ts';
import { errorCode } from '../../lib/sync-error.ts';
import type { Queryable, Values } from '../session/session.ts';
import { identifier, literal } from '../session/sql-text.ts';
import { runStatementSync } from './connection.ts';

/** A table of a snapshot: a view's name, columns with SQLite's declared types, and the columns that find its rows. */
export interface SnapshotTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
  /** Other tables refer to its `id`, which is then its primary key. */
  readonly isReferred: boolean;
  /** The tables whose ids its columns hold, by column. Not enforced: the service may refer to a record that is gone. */
  readonly references: ReadonlyMap<string, string>;
}

/** A snapshot under construction. */
export type SnapshotFile = ReturnType<typeof beginSnapshot>;

/** Marks a file as our snapshot, in the header of SQLite's files. */
const APPLICATION_ID = 0x626d_7373;
const MIRROR = 'mirror';

/** Whether a file may be replaced by a snapshot: there is none, it is empty, or it is a snapshot. */
export function isReplaceable(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return true;
  const file = new Sqlite(path, { readonly: true });
  try {
    return file.pragma('application_id', { simple: true }) === APPLICATION_ID;
  } catch (error) {
    if (errorCode(error) !== 'SQLITE_NOTADB') throw error;
    return false;
  } finally {
    file.close();
  }
}

/** Begins a snapshot, in a file beside its place. A rollback journal would only slow it: an unfinished file is removed. */
export function beginSnapshot(path: string) {
  const draft = createDraft(path);
  const file = new Sqlite(draft.path);
  file.pragma('journal_mode = OFF');
  file.pragma('synchronous = OFF');
  file.pragma('foreign_keys = OFF');
  file.pragma(`application_id = ${APPLICATION_ID}`);
  const keys: SnapshotTable[] = [];
  const create = (table: SnapshotTable): void => {
    const columns = table.columns.map(({ name, type }) => {
      const target = table.references.get(name);
      const reference = target === undefined ? '' : ` references ${identifier(target)} (id)`;
      return `${identifier(name)} ${type}${table.isReferred && name === 'id' ? ' primary key' : ''}${reference}`;
    });
    file.exec(`create table main.${identifier(table.name)} (${columns.join(', ')})`);
    keys.push(table);
  };
  return {
    /** Makes a SQLite mirror readable, by `copy` too, as it is when it is first read; until `finish`. */
    attach: (mirror: string): Queryable => {
      file.exec(`attach ${literal(mirror)} as ${MIRROR}; begin`);
      return {
        query: (statement) => Promise.resolve(runStatementSync(file, statement)), // The file has no table of such a name.
      };
    },
    /** Copies the rows of a view of an attached mirror; returns their number. */
    copy: (table: SnapshotTable): number => {
      create(table);
      const name = identifier(table.name);
      const columns = table.columns.map((column) => identifier(column.name)).join(', ');
      return file
        .prepare(`insert into main.${name} (${columns}) select ${columns} from ${MIRROR}.${name}`)
        .run().changes;
    },
    /** Creates an empty table, and returns a function that adds rows to it. */
    create: (table: SnapshotTable) => {
      create(table);
      return inserter(file, table);
    },
    /** Puts the file in its place at once: a reader that has the former one open goes on reading that. Returns its bytes. */
    finish: (): number => {
      if (file.inTransaction) file.exec(`commit; detach ${MIRROR}`);
      for (const { name, key, isReferred } of keys)
        if (key.length > 0 && !isReferred) file.exec(indexOn(name, key));
      file.close();
      return draft.publish();
    },
    /** Removes an unfinished file. */
    discard: (): void => {
      file.close();
      draft.discard();
    },
  };
}

const indexOn = (table: string, key: readonly string[]): string =>
  `create index ${identifier(`${table}_key`)} on ${identifier(table)} (${key.map(identifier).join(', ')})`;

function inserter(file: Database, table: SnapshotTable): (rows: readonly Values[]) => void {
  const places = table.columns.map(() => '?').join(', ');
  const insert = file.prepare(`insert into ${identifier(table.name)} values (${places})`);
  return file.transaction((rows: readonly Values[]) => {
    for (const row of rows) insert.run(row);
  });
}
