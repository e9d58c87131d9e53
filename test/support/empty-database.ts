// cspell:ignore setval seqrelid seqstart
import pg from 'pg';
import { lookAtTables } from '../canary/watch-postgres.ts';

/** Who is still connected might hold a lock, and what a connection has written is counted once it has ended. */
const CUT_OFF = `
  do $$ begin
    perform pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid();
    while exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) loop
      perform pg_sleep(0.001), pg_stat_clear_snapshot();
    end loop;
  end $$`;

/**
 * The server counts what is written in its own tables as well: whoever alters a table or a right writes there. A database that a
 * test has dropped and made again lacks our comment.
 */
const WRITTEN = `
  select format('%I.%I', schemaname, relname) as name, schemaname = 'pg_catalog' as "isCatalog",
    pg_relation_size(relid) > 10 * 8192 as "isLarge"
  from pg_stat_all_tables
  where n_tup_ins + n_tup_upd + n_tup_del > 0 and schemaname <> 'pg_toast'
    and not (select relisshared from pg_class where oid = relid)
  union all
  select 'rights, settings or comment of the database', true, false
  from pg_database d left join pg_db_role_setting s on s.setdatabase = d.oid
  where datname = current_database()
    and (datacl is not null or s.setdatabase is not null or shobj_description(d.oid, 'pg_database') is null)
  order by name`;

interface Written {
  readonly name: string;
  readonly isCatalog: boolean;
  /** Of more pages than the planner assumes of any table: emptied, it must be as small as a new one. */
  readonly isLarge: boolean;
}

/**
 * Empties the tables that were written since the last time, once the canary has read them, and fills again what came filled.
 *
 * @param fills The statement that fills such a table, by its name.
 * @returns Whether the database is as it was made; if its schema, rights or settings were changed, it must be dropped.
 */
export async function emptyDatabase(url: string, fills: Readonly<Record<string, string>>): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(CUT_OFF);
    const { rows: written } = await client.query<Written>(WRITTEN);
    const tables = written.filter(({ isCatalog }) => !isCatalog);
    await lookAtTables(
      client,
      tables.map(({ name }) => name),
    );
    if (tables.length < written.length) return false;
    const emptied = tables.map(
      ({ name, isLarge }) => `${isLarge ? 'truncate' : 'delete from'} ${name}; ${fills[name] ?? ''}`,
    );
    await client.query(`
      begin; set local session_replication_role = replica; -- no trigger, no guard
      ${emptied.join(';\n')};
      select setval(seqrelid, seqstart, false) from pg_sequence;
      commit; select pg_stat_force_next_flush()`);
    await client.query('select pg_stat_reset()');
    return true;
  } finally {
    await client.end();
  }
}
