import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { hasRow } from '../../db/rows/rows.ts';
import type { Session, SqlValue, Transaction } from '../../db/session/session.ts';
import { deleteMeta, readMeta, writeMeta } from '../kinds/meta.ts';
import { filledColumns, rowWriter } from '../tables/kind-table.ts';

/** Rows filled in one transaction: more would make others wait. */
const ROWS_A_TRANSACTION = 1_000;

/** Whether rows lack a column still: the transaction that adds one to a table notes it, and the last slice deletes the note. */
export const hasUnfilled = (session: Session): Promise<boolean> =>
  hasRow(session, sql`select 1 from mirror_meta where key like 'filled.%' limit 1`);

/**
 * Fills columns that we derive from others of a row, and that rows of an older release lack, in slices. After an interruption it
 * goes on where it was. Whoever writes a row meanwhile writes its columns.
 * @param kind As mirrored.
 * @param signal Ends it after a transaction; the next run goes on.
 */
export async function fillColumns(
  session: Session,
  kind: Kind,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  for (const name of names) {
    const mark = `filled.${kind.name}.${name}` as const;
    while (!signal?.aborted && (await readMeta(session, mark)) !== null)
      await session.atomically(async (tx) => {
        const from = await readMeta(tx, mark);
        if (from === null) return; // Another process has filled the rest.
        const to = await fillRows(tx, kind, name, from);
        await (to === null ? deleteMeta(tx, mark) : writeMeta(tx, mark, to));
      });
  }
}

/** @returns The id up to which the rows are filled; null = all are. */
async function fillRows(tx: Transaction, kind: Kind, name: string, from: string): Promise<string | null> {
  const fields = kind.fields.map((field) => sql.identifier(field.name));
  const rows = await tx.query(sql`
    select ${sql.join(fields, sql`, `)} from ${sql.identifier(kind.name)} as k where k.id > ${from} order by k.id
    limit ${ROWS_A_TRANSACTION}`);
  const writeRow = rowWriter(kind, tx.dialect, true);
  const at = filledColumns(kind, tx.dialect, true).indexOf(name);
  const filled = rows.map((row) => {
    const values = kind.fields.map((field) => row[field.name] ?? null);
    return [String(row['id']), writeRow(values)[at] ?? null];
  });
  await updateRows(tx, { table: kind.name, keys: ['id'], column: name }, filled);
  return rows.length < ROWS_A_TRANSACTION ? null : String(rows.at(-1)?.['id']);
}

/** Gives rows a text in one column. @param rows Of each the values of its keys, which are whole numbers, then the text. */
export async function updateRows(
  tx: Transaction,
  {
    table,
    keys,
    column,
  }: { readonly table: string; readonly keys: readonly string[]; readonly column: string },
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  const json = JSON.stringify(rows);
  const each = tx.dialect === 'sqlite' ? sql`json_each(${json})` : sql`json_array_elements(${json}::json)`;
  const isSame = keys.map(
    (key, at) => sql`k.${sql.identifier(key)} = cast(v.value ->> ${sql.raw(String(at))} as bigint)`,
  );
  await tx.write(sql`
    update ${sql.identifier(table)} as k set ${sql.identifier(column)} = v.value ->> ${sql.raw(String(keys.length))}
    from ${each} as v where ${sql.join(isSame, sql` and `)}`);
}
