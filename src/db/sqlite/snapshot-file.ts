import { existsSync, statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { isOurs } from '../../lib/sync-error.ts';
import type { Queryable, Values } from '../session/session.ts';
import { identifier, literal } from '../session/sql-text.ts';
import { runStatementSync } from './connection.ts';

/** A table of a snapshot: a view's name, columns with SQLite's declared types, and the columns that name its rows. */
export interface SnapshotTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
  /** The columns by which rows are found, besides those of references. */
  readonly indexed?: readonly string[];
  /** For each table, the columns that refer to records of other tables. */
  readonly references?: readonly {
    readonly column: string;
    readonly toView: string;
    readonly toColumn: string;
  }[];
}

/** A snapshot under construction. */
export type SnapshotFile = ReturnType<typeof createSnapshotFile>;

/** Marks a file as our snapshot, in the header of SQLite's files. */
const APPLICATION_ID = 0x626d_7373;
/** The name of an attached mirror. */
const MIRROR = 'mirror';
const CACHE_KIB = 64 * 1024; // A primary key of millions of rows in no order.

/** Whether a file may be replaced by a snapshot: there is none, it is empty, or it is a snapshot. */
export function isReplaceable(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return true;
  const file = new Sqlite(path, { readonly: true });
  try {
    return file.pragma('application_id', { simple: true }) === APPLICATION_ID;
  } catch (error) {
    if (isOurs(error)) throw error;
    return false; // Whatever it is: what cannot be read is not replaced.
  } finally {
    file.close();
  }
}

/** Creates a snapshot at a path where nothing is. A rollback journal would only slow it: an unfinished file is removed. */
export function createSnapshotFile(path: string) {
  const file = new Sqlite(path);
  file.pragma('journal_mode = OFF');
  file.pragma('synchronous = OFF');
  file.pragma('foreign_keys = OFF'); // A reference may name a record that is gone.
  file.pragma(`cache_size = -${CACHE_KIB}`);
  file.pragma(`application_id = ${APPLICATION_ID}`);
  const create = (table: SnapshotTable) => void file.exec(`create table main.${definition(table)}`);
  return {
    /** Makes a SQLite mirror readable, by `copy` too, as it is when it is first read. */
    attach: (mirror: string): Queryable => {
      file.exec(`attach ${literal(mirror)} as ${MIRROR}; begin`);
      return {
        dialect: 'sqlite',
        query: (statement) => Promise.resolve(runStatementSync(file, statement)), // The file has no table of such a name.
      };
    },
    /** Copies the rows of a view of an attached mirror; returns their number. */
    copy: (table: SnapshotTable): number => {
      create(table);
      const name = identifier(table.name);
      const columns = table.columns.map((column) => identifier(column.name)).join(', ');
      const { changes } = file
        .prepare(`insert into main.${name} (${columns}) select ${columns} from ${MIRROR}.${name}`)
        .run();
      createIndexes(file, table);
      return changes;
    },
    /** Creates an empty table; returns functions that add rows to it, and that index them at last. */
    create: (table: SnapshotTable) => {
      create(table);
      return { add: inserter(file, table), end: (): void => createIndexes(file, table) };
    },
    /** Ends the reading of an attached mirror; a file without it is not whole. */
    commit: (): void => {
      if (file.inTransaction) file.exec('commit');
    },
    [Symbol.dispose]: (): void => void file.close(),
  };
}

/** The text after `create table`: the columns and the keys. */
function definition({ name, columns, key, references = [] }: SnapshotTable): string {
  const list = (names: readonly string[]): string => names.map(identifier).join(', ');
  const parts = [
    ...columns.map((column) => `${identifier(column.name)} ${column.type}`),
    ...(key.length > 0 ? [`primary key (${list(key)})`] : []),
    ...references.map(
      ({ column, toView, toColumn }) =>
        `foreign key (${list([column])}) references ${identifier(toView)} (${list([toColumn])})`,
    ),
  ];
  return `${identifier(name)} (${parts.join(', ')})`;
}

/** Indexes columns: the rows of one parent, of a day, or changed since an instant are found at once. */
function createIndexes(file: Database, { name, references = [], indexed = [] }: SnapshotTable): void {
  for (const column of new Set([...references.map((reference) => reference.column), ...indexed]))
    file.exec(
      `create index main.${identifier(`${name}_${column}`)} on ${identifier(name)} (${identifier(column)})`,
    );
}

function inserter(file: Database, table: SnapshotTable): (rows: readonly Values[]) => void {
  const places = table.columns.map(() => '?').join(', ');
  const insert = file.prepare(`insert into ${identifier(table.name)} values (${places})`);
  return file.transaction((rows: readonly Values[]) => {
    for (const row of rows) insert.run(row);
  });
}
