import { sql } from 'drizzle-orm';
import { identifier } from '../session/identifier.ts';
import type { Dialect } from '../tables/kind-table.ts';
import type { Transaction } from '../session/session.ts';

export interface Retyped {
  readonly name: string;
  /** The declared type that the column is to have. */
  readonly type: string;
  /** `as it was`: a column that an older release had SQLite compute becomes a column that landing writes. */
  readonly to: 'integer' | 'text' | 'as it was';
}

interface TypeChange {
  readonly table: string;
  readonly dialect: Dialect;
  readonly columns: readonly Retyped[];
}

/** Changes the types of columns. A text that is not a 64-bit integer in canonical spelling becomes null; nothing raises. */
export async function changeTypes(tx: Transaction, { table, dialect, columns }: TypeChange): Promise<void> {
  if (dialect === 'postgres') await tx.execute(alterTable(table, columns));
  else for (const column of columns) await replaceColumn(tx, table, column);
}

/** One statement rewrites the table once, and its indexes. */
function alterTable(table: string, columns: readonly Retyped[]): string {
  const changes = columns.map(({ name, type, to }) => {
    const column = identifier(name);
    return `alter column ${column} type ${type} using ${to === 'text' ? `${column}::text` : integerOf(column)}`;
  });
  return `alter table ${identifier(table)} ${changes.join(', ')}`;
}

const LARGEST = '9223372036854775807';

function integerOf(column: string): string {
  const fits = `length(${column}) < 19 or ${column}::numeric between -${LARGEST} - 1 and ${LARGEST}`;
  return `case when ${column} ~ '^(0|-?[1-9][0-9]{0,18})$' then case when ${fits} then ${column}::bigint end end`;
}

/**
 * SQLite cannot change a column's type. So the values wait in a temporary table while the column is dropped and added again,
 * and the indexes that name it are recreated.
 */
async function replaceColumn(tx: Transaction, table: string, { name, type, to }: Retyped): Promise<void> {
  const [owner, column] = [identifier(table), identifier(name)];
  const value = to === 'as it was' ? column : `cast(${column} as ${to})`;
  // SQLite's cast cuts to 64 bits and to the digits before a letter: a text was such a number only if it comes back the same.
  const fits = to === 'integer' ? `cast(${value} as text) = ${column}` : `${column} is not null`;
  const indexes = await indexesNaming(tx, table, name);
  for (const index of indexes) await tx.execute(`drop index ${identifier(index.name)}`);
  await tx.execute(`create temp table retyped as select id, ${value} as value from ${owner} where ${fits}`);
  await dropColumn(tx, owner, column);
  await tx.execute(`alter table ${owner} add column ${column} ${type}`);
  await tx.execute(
    `update ${owner} set ${column} = retyped.value from retyped where retyped.id = ${owner}.id`,
  );
  await tx.execute('drop table retyped');
  for (const index of indexes) await tx.execute(index.statement);
}

/**
 * Without `legacy_alter_table`, SQLite would refuse because of the views that read the column, although it is back at once.
 */
async function dropColumn(tx: Transaction, owner: string, column: string): Promise<void> {
  await tx.execute('pragma legacy_alter_table = on');
  try {
    await tx.execute(`alter table ${owner} drop column ${column}`);
  } finally {
    await tx.execute('pragma legacy_alter_table = off');
  }
}

interface Index {
  readonly name: string;
  readonly statement: string;
}

/**
 * Includes users' own indexes. An index that merely contains the column's name is recreated needlessly, which does no harm.
 */
async function indexesNaming(tx: Transaction, table: string, column: string): Promise<readonly Index[]> {
  const rows = await tx.query(sql`
    select name, sql as statement from sqlite_schema where type = 'index' and tbl_name = ${table} and sql is not null`);
  return rows
    .map((row) => ({ name: String(row['name']), statement: String(row['statement']) }))
    .filter(({ statement }) => statement.toLowerCase().includes(column.toLowerCase()));
}
