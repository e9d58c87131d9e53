import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { hasRow } from '../../db/rows/rows.ts';
import type { Session, SqlValue, Transaction } from '../../db/session/session.ts';
import { joinWithCommas } from '../../db/session/sql-list.ts';
import { deleteMeta, readMeta, writeMeta } from '../kinds/meta.ts';
import { fillMark } from '../kinds/unfilled.ts';
import { KEY_COLUMN, keyWriter } from '../tables/key-column.ts';
import { searchTables } from '../tables/kind-table.ts';
import { searchTexts, type SEARCH_COLUMN } from '../tables/search-text.ts';

/** Records filled in one transaction: more would make others wait. */
const RECORDS_A_TRANSACTION = 1_000;

/** A column that we derive from others of its row. */
type FilledColumn = typeof KEY_COLUMN | typeof SEARCH_COLUMN;

/** Whether rows of any kind lack a column still: the transaction that adds one to a table notes it, and the last slice deletes the note. */
export const hasUnfilled = (session: Session, column: FilledColumn): Promise<boolean> =>
  hasRow(session, sql`select 1 from mirror_meta where key like ${`filled.%.${column}`} limit 1`);

/**
 * Fills a column of ours in the rows of an older release, in slices. After an interruption it goes on where it was. Whoever writes
 * a row meanwhile writes the column.
 * @param kind As mirrored.
 * @param signal Ends it after a transaction; the next run goes on.
 */
export async function fillColumn(session: Session, kind: Kind, column: FilledColumn, signal?: AbortSignal) {
  const mark = fillMark(kind, column);
  while (!signal?.aborted && (await readMeta(session, mark)) !== null)
    await session.atomically(async (tx) => {
      const from = await readMeta(tx, mark);
      if (from === null) return; // Another process has filled the rest.
      const to = await fillRecords(tx, kind, column, from);
      await (to === null ? deleteMeta(tx, mark) : writeMeta(tx, mark, to));
    });
}

/** @returns The id up to which the records are filled; null = all are. */
async function fillRecords(tx: Transaction, kind: Kind, column: FilledColumn, from: string) {
  const next = sql`
    select cast(k.id as text) as id from ${sql.identifier(kind.name)} as k where k.id > ${from} order by k.id
    limit ${RECORDS_A_TRANSACTION}`;
  const ids = (await tx.query(next)).map((row) => String(row['id']));
  const to = ids.at(-1) ?? from;
  for (const table of tablesWith(kind, column)) await fillTable(tx, table, { column, from, to });
  return ids.length < RECORDS_A_TRANSACTION ? null : to;
}

/** A table that has the column. */
interface FilledTable {
  readonly name: string;
  /** The columns that find a row again; the first has the id of the record. */
  readonly keys: readonly string[];
  readonly fields: readonly Field[];
  readonly textOf: (values: readonly SqlValue[]) => [] | [string];
}

function tablesWith(kind: Kind, column: FilledColumn): readonly FilledTable[] {
  const { name, fields } = kind;
  if (column === KEY_COLUMN) return [{ name, keys: ['id'], fields, textOf: keyWriter(kind) }];
  return searchTables(kind).map((table) => ({
    ...table,
    keys: table.id === 'id' ? ['id'] : ['parent_id', 'position'],
    textOf: (values) => searchTexts(table.fields, values),
  }));
}

/** Gives the rows of records beyond `from`, up to `to`, the text of their fields. */
async function fillTable(
  tx: Transaction,
  { name, keys, fields, textOf }: FilledTable,
  { column, from, to }: { readonly column: FilledColumn; readonly from: string; readonly to: string },
): Promise<void> {
  const table = sql.identifier(name);
  const [id = '', ...others] = keys.map((key) => sql`k.${sql.identifier(key)}`);
  const read = joinWithCommas([
    id,
    ...others,
    ...fields.map((field) => sql`k.${sql.identifier(field.name)}`),
  ]);
  const rows = await tx.query(
    sql`select ${read} from ${table} as k where ${id} > ${from} and ${id} <= ${to}`,
  );
  const filled = rows.map((row) => [
    ...keys.map((key) => String(row[key])),
    ...textOf(fields.map((field) => row[field.name] ?? null)),
  ]);
  const json = JSON.stringify(filled);
  const each = tx.dialect === 'sqlite' ? sql`json_each(${json})` : sql`json_array_elements(${json}::json)`;
  const isSame = keys.map(
    (key, at) => sql`k.${sql.identifier(key)} = cast(v.value ->> ${sql.raw(String(at))} as bigint)`,
  );
  await tx.write(sql`
    update ${table} as k set ${sql.identifier(column)} = v.value ->> ${sql.raw(String(keys.length))}
    from ${each} as v where ${sql.join(isSame, sql` and `)}`);
}
