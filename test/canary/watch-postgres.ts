import pg from 'pg';
import { watch } from './watch.ts';

/** Tables of no bytes were never written: there is nothing to ask them for. */
const TABLES = `
  select format('%I.%I', schemaname, tablename) as name,
    pg_relation_size(format('%I.%I', schemaname, tablename)::regclass) = 0 as "isEmpty"
  from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by name`;

/** Who is still connected might hold a lock, and is about to be cut off anyway. */
const CUT_OFF = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

/** Looks at every row of a database that is about to be dropped. */
export async function lookAtDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, query_timeout: 10_000 });
  await client.connect();
  try {
    await client.query(CUT_OFF);
    const { rows: tables } = await client.query<{ name: string; isEmpty: boolean }>(TABLES);
    const empty = tables.filter(({ isEmpty }) => isEmpty);
    const written = tables.filter(({ isEmpty }) => !isEmpty);
    watch.count('PostgreSQL tables', empty.length);
    await lookAtTables(
      client,
      written.map(({ name }) => name),
    );
  } finally {
    await client.end();
  }
}

/** In one question: to ask each table alone takes longer than all that they hold. */
async function lookAtTables(client: pg.Client, names: readonly string[]): Promise<void> {
  const questions = names.map(
    (name, at) => `select ${at} as at, coalesce(string_agg(t::text, e'\\n'), '') as rows from ${name} t`,
  );
  if (questions.length === 0) return;
  const { rows: tables } = await client.query<{ at: number; rows: string }>(questions.join(' union all '));
  for (const { at, rows } of tables)
    watch.look({ place: 'PostgreSQL tables', what: () => names[at] ?? '' }, rows);
}
