import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { ownValue } from '../../diff/decode-record.ts';
import type { RecordChange } from '../../diff/judge-page.ts';
import { boundFields, observeFields } from '../../diff/observe-fields.ts';
import { compactJson } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readFields, saveFields } from '../kinds/field-store.ts';
import { writeMeta } from '../kinds/meta.ts';
import type { Queryable, SqlValue, Transaction } from '../session/session.ts';
import { elementKind, nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { NestedTable } from '../tables/kind-table.ts';
import { readTexts } from '../tables/rows.ts';
import type { Issue } from './issue-store.ts';
import { elementReader, idsIn } from './nested-elements.ts';

/** A record whose row is written. */
interface NestedParent {
  readonly id: string;
  readonly record: JsonObject;
  /** How the record differs from its row; without it, all its arrays are written. */
  readonly verdict?: RecordChange;
  /** Another program had altered the row. */
  readonly repair?: string;
  /** The record is new, and a row that another program inserted has its id. */
  readonly replacesRow?: true;
}

interface ParentRows {
  readonly kind: Kind;
  readonly records: readonly NestedParent[];
  /** Gets the issues of the elements. */
  readonly found: Issue[];
  readonly now: Date;
}

/** Rows written before the next turn of the event loop: an array may be as long as a body. */
const ROWS_AT_ONCE = 2_000;

/**
 * Writes the elements of these records' nested arrays in place of those of their former content. Costs nothing for a kind
 * without nested arrays.
 *
 * An array whose spelling has not changed is decoded for its issues and not written.
 */
export async function putNestedRows(
  tx: Transaction,
  { kind, records, found, now }: ParentRows,
): Promise<void> {
  for (const table of nestedTables(kind)) {
    const read = elementReader(table, tx.dialect, found);
    const [former, rows]: [string[], SqlValue[][]] = [[], []];
    let weight = 0;
    for (const parent of records) {
      const elements = read(parent);
      if (!hasChanged(parent, table.array)) continue;
      if (mayHaveElements(parent)) former.push(parent.id);
      for (const element of elements) rows.push(element);
      if (elements.length > 0) weight += elements.length * weightOf(parent.id);
    }
    if (former.length > 0)
      weight -= await removeElements(tx, table.name, sql`parent_id in ${idsIn(tx, former)}`);
    await addWeight(tx, table.name, weight);
    const columns = nestedColumns(table, tx.dialect).map(({ name }) => name);
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      if (from > 0) await yieldToEventLoop();
      await tx.append({ table: table.name, columns, rows: rows.slice(from, from + ROWS_AT_ONCE) });
    }
    await observeElements(tx, kind, { table, records: read.unknown, now });
  }
}

/** A record without a row has none: `removeOrphans` has seen to it. */
const mayHaveElements = ({ verdict, repair, replacesRow }: NestedParent): boolean =>
  verdict?.is !== 'created' || repair !== undefined || replacesRow !== undefined;

/**
 * Removes elements whose parents' rows are gone by another program's hand, before a reading without a baseline: it would
 * take these records for new ones. With a baseline, the event log tells them from new ones.
 */
export async function removeOrphans(tx: Transaction, kind: Kind): Promise<void> {
  for (const { name } of nestedTables(kind))
    await addWeight(tx, name, -(await removeElements(tx, name, orphansOf(kind, name))));
}

const orphansOf = (kind: Kind, table: string): SQL => sql`not exists (
  select 1 from ${sql.identifier(kind.name)} p where p.id = ${sql.identifier(table)}.parent_id)`;

/** Removes elements; returns their weight. */
async function removeElements(tx: Transaction, table: string, which: SQL): Promise<number> {
  const weight = await weightIn(tx, table, which);
  if (weight !== 0) await tx.write(sql`delete from ${sql.identifier(table)} where ${which}`);
  return weight;
}

/**
 * Each element weighs something that depends on its parent: the sum over a table, which is read from the index on the parent
 * alone, shows that elements were added or removed.
 */
const [LEAST_WEIGHT, WEIGHT_STEPS] = [2_000_000, 1_000_003];

const weightOf = (parent: string): number => LEAST_WEIGHT + Number(BigInt(parent) % BigInt(WEIGHT_STEPS));

async function weightIn(db: Queryable, table: string, which: SQL): Promise<number> {
  const [weight = null] = await readTexts(
    db,
    sql`select sum(${sql.raw(`${LEAST_WEIGHT} + parent_id % ${WEIGHT_STEPS}`)}) from ${sql.identifier(table)} where ${which}`,
  );
  return Number(weight);
}

/** Notes by how much our own writing has changed the weight of a table. */
async function addWeight(tx: Transaction, table: string, weight: number): Promise<void> {
  if (weight !== 0)
    await tx.write(sql`
      insert into mirror_meta (key, value) values (${`nested.${table}`}, ${String(weight)})
      on conflict (key) do update set value =
        cast(cast(mirror_meta.value as bigint) + cast(excluded.value as bigint) as text)`);
}

/** The nested tables to which another program has added elements, or from which it has removed some. */
export async function touchedTables(db: Queryable, kind: Kind): Promise<readonly NestedTable[]> {
  const touched: NestedTable[] = [];
  for (const table of nestedTables(kind)) {
    const apart = sql`
      select coalesce((select sum(${sql.raw(`${LEAST_WEIGHT} + parent_id % ${WEIGHT_STEPS}`)})
          from ${sql.identifier(table.name)}), 0)
        - coalesce((select cast(value as bigint) from mirror_meta where key = ${`nested.${table.name}`}), 0)`;
    if (Number((await readTexts(db, apart))[0]) !== 0) touched.push(table);
  }
  return touched;
}

/**
 * Ends the repair of tables that another program had written to, once all rows of the kind were compared: removes elements
 * whose parents have no row, and notes what the tables weigh now.
 *
 * @returns The ids of these parents.
 */
export async function removeStrayElements(
  tx: Transaction,
  kind: Kind,
  tables: readonly NestedTable[],
): Promise<readonly string[]> {
  const parents = new Set<string>();
  for (const { name } of tables) {
    const orphans = orphansOf(kind, name);
    const ids = sql`select distinct cast(parent_id as text) from ${sql.identifier(name)} where ${orphans}`;
    for (const id of await readTexts(tx, ids)) parents.add(id);
    await removeElements(tx, name, orphans);
    await writeMeta(tx, `nested.${name}`, String(await weightIn(tx, name, sql`1 = 1`)));
  }
  return [...parents];
}

/** False only for an array that both readings of a record spell alike: `_raw` and the rows must have one spelling. */
function hasChanged({ record, verdict, repair }: NestedParent, array: string): boolean {
  if (verdict?.is !== 'changed' || repair !== undefined || verdict.fields.includes(array)) return true;
  const [before, after] = [ownValue(verdict.before, array), ownValue(record, array)];
  return before === undefined || after === undefined || compactJson(before) !== compactJson(after);
}

interface Elements {
  readonly table: NestedTable;
  readonly records: readonly JsonObject[];
  readonly now: Date;
}

/** Notes fields of elements that have no column yet; they get it at the end of the sweep. */
async function observeElements(
  tx: Transaction,
  kind: Kind,
  { table, records, now }: Elements,
): Promise<void> {
  if (records.length === 0) return;
  const element = elementKind(kind, table);
  const known = await readFields(tx, table.name);
  const fields = observeFields(element, known, boundFields(element, known, records).records);
  for (const { name } of element.fields) fields.delete(name);
  await saveFields(tx, element, { fields, now });
}
