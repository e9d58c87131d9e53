import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { asMirrored, saveColumn } from '../kinds/field-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { identifier } from '../../db/session/sql-text.ts';
import { text } from '../../db/rows/engine-column.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { readRows } from '../../db/rows/rows.ts';
import { addTextColumns } from './discover-columns.ts';
import { growKindTable } from './grow-kind-tables.ts';
import { ignoringViews } from '../views/draw-views.ts';
import type { Retyped, Retyping } from './plan-retyping.ts';
import { redecodeWhere } from './redecode.ts';

/**
 * Changes the columns of an older release's mirror to their present types, and fills them from `_raw`. Rows keep their
 * instants, and no change event is written. In PostgreSQL no view may read these columns.
 */
export async function retypeColumns(
  tx: Transaction,
  { kind, fields, columns: retyped }: Retyping,
  dialect: Dialect,
): Promise<void> {
  for (const field of fields) await saveRetyped(tx, kind.name, field);
  if (retyped.length === 0) return;
  await changeTypes(tx, { table: kind.name, dialect, columns: retyped });
  const cast = retyped.filter(({ to }) => to !== 'as it was');
  if (cast.length > 0) await fillLost(tx, await asMirrored(tx, kind), { retyped: cast, dialect });
}

async function saveRetyped(tx: Transaction, kind: string, field: Field): Promise<void> {
  await saveColumn(tx, kind, field);
  await tx.query(sql`update fields set type = ${field.type} where kind = ${kind} and field = ${field.name}`);
}

/** Decodes the rows whose retyped column is null: the new type may hold a value that the old one could not. */
async function fillLost(
  tx: Transaction,
  kind: Kind,
  { retyped, dialect }: { readonly retyped: readonly Retyped[]; readonly dialect: Dialect },
): Promise<void> {
  const now = systemClock.now();
  const where = sql`(${sql.join(
    retyped.map(({ name }) => sql`${sql.identifier(name)} is null`),
    sql` or `,
  )})`;
  await growKindTable(tx, kind, dialect);
  await redecodeWhere(tx, kind, where, now);
  const grown = await addTextColumns(tx, kind, now); // The issues that were just opened require them.
  if (grown.fields.length === kind.fields.length) return;
  await growKindTable(tx, grown, dialect);
  await redecodeWhere(tx, grown, where, now);
}

interface TypeChange {
  readonly table: string;
  readonly dialect: Dialect;
  readonly columns: readonly Retyped[];
}

/** Changes the types of columns. A text that is not a 64-bit integer in canonical spelling becomes null; nothing raises. */
async function changeTypes(tx: Transaction, { table, dialect, columns }: TypeChange): Promise<void> {
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
  const owner = identifier(table);
  const column = identifier(name);
  const value = to === 'as it was' ? column : `cast(${column} as ${to})`;
  // SQLite's cast cuts to 64 bits and to the digits before a letter: a text was such a number only if it comes back the same.
  const fits = to === 'integer' ? `cast(${value} as text) = ${column}` : `${column} is not null`;
  const indexes = await indexesNaming(tx, table, name);
  for (const index of indexes) await tx.execute(`drop index ${identifier(index.name)}`);
  await tx.execute(`create temp table retyped as select id, ${value} as value from ${owner} where ${fits}`);
  await ignoringViews(tx, () => tx.execute(`alter table ${owner} drop column ${column}`));
  await tx.execute(`alter table ${owner} add column ${column} ${type}`);
  await tx.execute(
    `update ${owner} set ${column} = retyped.value from retyped where retyped.id = ${owner}.id`,
  );
  await tx.execute('drop table retyped');
  for (const index of indexes) await tx.execute(index.statement);
}

interface Index {
  readonly name: string;
  readonly statement: string;
}

/** Includes users' own indexes. An index that merely contains the column's name is recreated needlessly, which does no harm. */
async function indexesNaming(tx: Transaction, table: string, column: string): Promise<readonly Index[]> {
  const indexes = sql`
    select name, sql as statement from sqlite_schema where type = 'index' and tbl_name = ${table} and sql is not null`;
  const rows = await readRows(tx, [text('name'), text('statement')], indexes);
  return rows.filter(({ statement }) => statement.toLowerCase().includes(column.toLowerCase()));
}
