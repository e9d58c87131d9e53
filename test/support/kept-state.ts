import { sql, type SQL } from 'drizzle-orm';
import type { Session } from '../../src/db/session/session.ts';

/** The tables with their columns, except those that the database computes. */
const COLUMNS = {
  sqlite: sql`
    select t.name as name, group_concat('"' || c.name || '"') as columns
    from sqlite_schema as t, pragma_table_info(t.name) as c
    where t.type = 'table' and (t.name not like 'sqlite_%' or t.name = 'sqlite_sequence') group by t.name`,
  postgres: sql`
    select table_name as name, string_agg(quote_ident(column_name), ',') as columns from information_schema.columns
    where table_schema = 'bms_sync' and is_generated = 'NEVER' and table_name in (
      select tablename from pg_tables where schemaname = 'bms_sync') group by table_name`,
};

interface Table {
  readonly name: SQL;
  readonly kept: SQL;
  readonly columns: SQL;
}

/** Keeps what a database holds now; `restore` puts it back, as a back-up or a lagging standby does. */
export async function keepState(session: Session): Promise<{ readonly restore: () => Promise<void> }> {
  const rows = await session.query(COLUMNS[session.dialect]);
  const tables = rows
    .map(({ name, columns }) => ({ name: String(name), columns: String(columns) }))
    .filter(({ name }) => !name.includes('migrations'))
    .map(({ name, columns }) => ({
      name: sql.raw(name),
      kept: sql.raw(`kept_${name}`),
      columns: sql.raw(columns),
    }));
  const inOne = (statementsFor: (table: Table) => readonly SQL[]): Promise<void> =>
    session.atomically(async (tx) => {
      for (const table of tables) for (const one of statementsFor(table)) await tx.query(one);
    });
  await inOne(({ name, kept, columns }) => [sql`create table ${kept} as select ${columns} from ${name}`]);
  const overriding = sql.raw(session.dialect === 'postgres' ? 'overriding system value' : '');
  return {
    restore: () =>
      inOne(({ name, kept, columns }) => [
        sql`delete from ${name}`,
        sql`insert into ${name} (${columns}) ${overriding} select ${columns} from ${kept}`,
        sql`drop table ${kept}`,
      ]),
  };
}
