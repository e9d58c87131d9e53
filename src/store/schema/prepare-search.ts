import { sql } from 'drizzle-orm';
import { isListed, type Kind } from '../../catalog/kind.ts';
import { hasRow } from '../../db/rows/rows.ts';
import type { Row, Session, Transaction } from '../../db/session/session.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import { searchTables, type SearchTable } from '../tables/kind-table.ts';
import { updateRows } from './fill-columns.ts';
import { SEARCH_COLUMN, isSearchField, searchTexts } from '../tables/search-text.ts';

/** Rows filled in one transaction: more would make others wait. */
const ROWS_A_TRANSACTION = 1_000;
const SEARCH = sql.identifier(SEARCH_COLUMN);

/**
 * Fills the search texts of a kind after its first load, and indexes them; does nothing once that is done. After an interruption
 * it goes on with the rows that lack one.
 * @param kind As mirrored.
 * @param createIndexes Creates what is missing of the indexes.
 * @param signal Ends it after a transaction; the next run goes on.
 */
export async function prepareSearch(
  session: Session,
  kind: Kind,
  createIndexes: (tables: readonly SearchTable[]) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const tables = searchTables(kind);
  const key = `search.${kind.name}` as const;
  const isDone = !isListed(kind) || (await readMeta(session, key)) === 'ready';
  if (isDone) {
    await createIndexes(tables);
    return;
  }
  // From here on, whoever writes rows writes their search texts.
  await session.atomically((tx) => writeMeta(tx, key, 'filling'));
  await fillTables(session, tables, signal);
  if (signal?.aborted) return;
  await createIndexes(tables);
  await fillTables(session, tables, signal); // A VACUUM meanwhile may have numbered the rows of a SQLite file anew.
  if (signal?.aborted) return;
  await session.atomically((tx) => writeMeta(tx, key, 'ready'));
}

async function fillTables(
  session: Session,
  tables: readonly SearchTable[],
  signal?: AbortSignal,
): Promise<void> {
  for (const table of tables)
    while (!signal?.aborted && (await hasEmpty(session, table))) await fillTable(session, table, signal);
}

const hasEmpty = (session: Session, table: SearchTable): Promise<boolean> =>
  hasRow(session, sql`select 1 from ${sql.identifier(table.name)} where ${SEARCH} is null limit 1`);

async function fillTable(session: Session, table: SearchTable, signal?: AbortSignal): Promise<void> {
  for (let from: string | null = '-1'; from !== null && !signal?.aborted;) {
    const after: string = from;
    from = await session.atomically((tx) => fillRows(tx, table, after));
  }
}

/**
 * Columns that find a row again: in SQLite its place, since lists come in another order than that of the ids. A field may be
 * named `rowid`.
 */
const keyColumns = (tx: Transaction, table: SearchTable): readonly string[] =>
  tx.dialect === 'sqlite' ? ['_rowid_'] : table.id === 'id' ? ['id'] : ['parent_id', 'position'];

/** @returns From where to continue; null if no row is left. */
async function fillRows(tx: Transaction, table: SearchTable, from: string): Promise<string | null> {
  const keys = keyColumns(tx, table);
  const place = sql.identifier(keys[0] ?? '');
  const fields = table.fields.filter(isSearchField);
  const read = [...keys.map((key, at) => sql`k.${sql.identifier(key)} as ${sql.identifier(`_key${at}`)}`)];
  for (const { name } of fields) read.push(sql`k.${sql.identifier(name)}`);
  const name = sql.identifier(table.name);
  const rows = await tx.query(sql`
    select ${sql.join(read, sql`, `)} from ${name} as k
    where ${SEARCH} is null and k.${place} >= ${from} order by k.${place} limit ${ROWS_A_TRANSACTION}`);
  const last = rows.at(-1);
  if (last === undefined) return null;
  const texts = (row: Row) =>
    searchTexts(
      fields,
      fields.map((field) => row[field.name] ?? null),
    );
  const filled = rows.map((row) => [...keys.map((_, at) => String(row[`_key${at}`])), ...texts(row)]);
  await updateRows(tx, { table: table.name, keys, column: SEARCH_COLUMN }, filled);
  return rows.length < ROWS_A_TRANSACTION ? null : String(last['_key0']);
}
