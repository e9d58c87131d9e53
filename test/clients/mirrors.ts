import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Big } from 'big.js';
import pg, { type QueryArrayConfig } from 'pg';
import type { Stage } from './stage.ts';

export type DatabaseName = 'SQLite' | 'PostgreSQL';

/** The sorts of values that a reporting client distinguishes: an `instant` is ours, a `timestamp` the service's, of no zone. */
export type Sort = 'integer' | 'decimal' | 'date' | 'time' | 'timestamp' | 'instant' | 'text';

/** A view of the mirror, with its rows as the database's own driver gives them, each value as text. */
export interface MirrorView {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly sort: Sort }[];
  readonly rows: readonly Row[];
}

export type Row = readonly (string | null)[];

const SORTS: Readonly<Record<string, Sort>> = {
  bigint: 'integer',
  integer: 'integer',
  numeric: 'decimal',
  date: 'date',
  'time without time zone': 'time',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'instant',
  text: 'text',
};

/** Reads all views of both mirrors, at one instant between pulls. The sorts are PostgreSQL's: both have the same columns. */
export async function readMirrors(stage: Stage): Promise<Record<DatabaseName, readonly MirrorView[]>> {
  const views = await viewsOf(stage);
  const read = (database: DatabaseName): Promise<readonly MirrorView[]> =>
    Promise.all(
      views.map(async (view) => ({
        ...view,
        rows: await askMirror(stage, database, `select * from ${view.name}`),
      })),
    );
  return { SQLite: await read('SQLite'), PostgreSQL: await read('PostgreSQL') };
}

/** A snapshot has the views as tables: without search texts, and without what records were before. */
export const inSnapshot = (views: readonly MirrorView[]): readonly MirrorView[] =>
  views
    .filter(({ name }) => !name.endsWith('_history'))
    .map((view) => {
      const isKept = (_: unknown, at: number): boolean => view.columns[at]?.name !== '_search';
      return {
        ...view,
        columns: view.columns.filter(isKept),
        rows: view.rows.map((row) => row.filter(isKept)),
      };
    });

/** Asks a mirror by the database's own driver, as the analyst. */
export function askMirror(stage: Stage, database: DatabaseName, question: string): Promise<readonly Row[]> {
  return database === 'SQLite' ? Promise.resolve(askSqlite(stage, question)) : askPostgres(stage, question);
}

type Value = string | bigint | number | null;

function askSqlite({ folder }: Stage, question: string): readonly Row[] {
  const database = new Database(join(folder, 'data/mirror.db'), { readonly: true });
  const reports = join(folder, 'data/reports.db'); // Where dbt's models are.
  if (existsSync(reports)) database.prepare('attach ? as reports').run(reports);
  try {
    const rows = database.prepare(question).safeIntegers().raw().all() as Value[][];
    return rows.map((row) => row.map((value) => value?.toString() ?? null));
  } finally {
    database.close();
  }
}

async function askPostgres({ port }: Stage, question: string): Promise<readonly Row[]> {
  const client = new pg.Client({
    connectionString: `postgres://analyst:secret@127.0.0.1:${port}/mirror`,
    options: '-c timezone=UTC',
    types: { getTypeParser: () => (text: string) => text },
  });
  await client.connect();
  try {
    const asked: QueryArrayConfig = { text: question, rowMode: 'array' };
    return (await client.query<(string | null)[]>(asked)).rows;
  } finally {
    await client.end();
  }
}

async function viewsOf(stage: Stage): Promise<readonly Omit<MirrorView, 'rows'>[]> {
  const rows = await askPostgres(
    stage,
    `select table_name, column_name, data_type from information_schema.columns
    where table_schema = 'public' and table_name in (select viewname from pg_views where schemaname = 'public')
    order by table_name, ordinal_position`,
  );
  const names = [...new Set(rows.map(([view]) => view ?? ''))];
  return names.map((name) => ({
    name,
    columns: rows
      .filter(([view]) => view === name)
      .map(([, column, type]) => ({ name: column ?? '', sort: sortOf(type ?? '') })),
  }));
}

function sortOf(type: string): Sort {
  const sort = SORTS[type];
  if (sort === undefined) throw new TypeError(`A view of the mirror has a column of the type ${type}.`);
  return sort;
}

/** How exact a client's numbers are: those of integer columns, and those of amounts. */
export interface Exactness {
  readonly integers: 'exact' | 'double';
  readonly decimals: 'exact' | 'double' | '15 digits';
}

/** One spelling for equal values: of all clients, so that what they give can be compared. */
export function spelled(value: string | null, sort: Sort, exactness: Exactness): string | null {
  return value === null ? null : SPELLINGS[sort](value, exactness);
}

const SPELLINGS: Readonly<Record<Sort, (value: string, exactness: Exactness) => string>> = {
  integer: (value, { integers }) => (integers === 'exact' ? value : String(Number(value))),
  decimal: (value, { decimals }) => {
    if (decimals === 'exact') return new Big(value).toFixed();
    return String(decimals === 'double' ? Number(value) : Number(Number(value).toPrecision(15)));
  },
  date: (value) => value.slice(0, 10),
  time: (value) => value.slice(0, 8),
  timestamp: spelledInstant,
  instant: spelledInstant,
  text: (value) => value,
};

/** With three places of a second, and without a zone, which is UTC. */
function spelledInstant(value: string): string {
  const [whole = '', fraction = ''] = value.replace(/\+00(:00)?$/, '').split('.');
  return `${whole}.${fraction.padEnd(3, '0').slice(0, 3)}`;
}
