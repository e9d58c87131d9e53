import type { SQL } from 'drizzle-orm';

/** A value as both databases' drivers take and give it; decimals and instants are texts. */
export type SqlValue = string | number | null;

/** A row as the database gives it, by column name. */
export type Row = Readonly<Record<string, SqlValue>>;
/** A row as an array, in the order of the columns asked for. */
export type Values = readonly SqlValue[];

export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly Values[];
}

/** Runs SQL queries: a session, or a transaction. */
export interface Queryable {
  readonly dialect: 'sqlite' | 'postgres';
  query(statement: SQL): Promise<Row[]>;
}

/** An open transaction; all methods except `query` differ by database. */
export interface Transaction extends Queryable {
  /** Reads some columns of the rows with these ids; an id without a row is absent from the map. */
  readRowsById(
    table: string,
    columns: readonly string[],
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Values>>;
  /** Inserts rows, or gives the given columns of the rows with the same `id` these values. */
  upsertRows(rows: TableRows): Promise<void>;
  /** Runs a statement that returns nothing. */
  write(statement: SQL): Promise<void>;
  /** Inserts rows that cannot exist yet. */
  insertRows(rows: TableRows): Promise<void>;
  /** Inserts rows, but none whose value in the unique column `key` a row has; returns the ids of the inserted ones by that value. */
  insertNew(rows: TableRows, key: string): Promise<ReadonlyMap<string, number>>;
  /** The names of a table's columns; empty if there is no such table. */
  listColumns(table: string): Promise<ReadonlySet<string>>;
  /** Runs a statement that changes the schema. */
  execute(statement: string): Promise<void>;
}

/** An open database. */
export interface Session extends Queryable, AsyncDisposable {
  /** Where the database is, for messages: a path, or an address without its password. */
  readonly location: string;
  /** Reads outside any transaction; never waits for a writer. */
  query(statement: SQL): Promise<Row[]>;
  /**
   * Runs `work` as one transaction: all of it lands, or nothing. Transactions of one session queue up. After a lost connection
   * or a deadlock `work` runs again from its start: it may run more than once, though only one run lands, and its effects in
   * memory must be repeatable. Its handle is valid for one run.
   */
  atomically<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * From now on, landed transactions survive a power cut. Before the first complete sweep this is not needed: the next pull
   * would read the data again.
   */
  makeDurable(): Promise<void>;
  /** Moves what SQLite's log holds into the file, as far as no reader needs it, and keeps nobody waiting; elsewhere does nothing. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}
