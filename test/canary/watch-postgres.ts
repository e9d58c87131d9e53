import pg from 'pg';
import { watch } from './watch.ts';

const TABLES = `
  select format('%I.%I', schemaname, tablename) as name from pg_tables
  where schemaname not in ('pg_catalog', 'information_schema')`;

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
    const { rows: tables } = await client.query<{ name: string }>(TABLES);
    for (const { name } of tables) await lookAtTable(client, name);
  } finally {
    await client.end();
  }
}

async function lookAtTable(client: pg.Client, name: string): Promise<void> {
  const question = `select coalesce(string_agg(t::text, e'\\n'), '') as rows from ${name} t`;
  const [row] = (await client.query<{ rows: string }>(question)).rows;
  watch.look({ place: 'PostgreSQL tables', what: () => name }, row?.rows ?? '');
}
