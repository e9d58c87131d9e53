import { Big } from 'big.js';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Field } from '../../src/catalog/kind.ts';
import { compactJson, isArray, isObject } from '../../src/lib/json/json.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../src/sandbox/world.ts';

/** The records of a view as the simulated company has them, and the fields that the catalogue knows. */
interface Records {
  readonly view: string;
  readonly records: readonly JsonObject[];
  readonly fields: readonly Field[];
}

/** What the sums of a view must be, in units of 0.0001, by the names of its `_e4` columns; null for no value at all. */
export interface Sums {
  readonly view: string;
  readonly count: number;
  readonly units: Readonly<Record<string, string | null>>;
}

/** The exact sums of every decimal column of every kind and nested array, by the sandbox's own data. */
export function sumsOf(world: World): readonly Sums[] {
  return recordsOf(world).map(({ view, records, fields }) => {
    const decimals = fields.filter(({ type }) => type === 'decimal').map(({ name }) => name);
    const units = decimals.map(
      (name) => [`${name}_e4`, sumOf(records.map((record) => record[name]))] as const,
    );
    return { view, count: records.length, units: Object.fromEntries(units) };
  });
}

/** A row of `bi_relations`: which column names a record of which view. */
export interface Relation {
  readonly view: string;
  readonly column: string;
  readonly toView: string;
  readonly toColumn: string;
}

/** How many rows find the record that they name, by the sandbox's own data; null for a relation that it does not have. */
export function joinedRows(world: World, { view, column, toView }: Relation): number | null {
  const kind = toView.slice('bi_'.length);
  if (column === 'parent_id') {
    const field = view.slice(toView.length + 1);
    return world.ids(kind).flatMap((id) => arrayIn(world.get(kind, id)?.[field])).length;
  }
  const found = recordsOf(world).find((one) => one.view === view);
  if (found?.fields.find(({ name }) => name === column)?.refersTo !== kind) return null;
  return found.records.filter((record) => world.get(kind, Number(record[column])) !== undefined).length;
}

/** The references that the catalogue knows, as `view.column`. */
export function catalogueReferences(world: World): readonly string[] {
  return recordsOf(world).flatMap(({ view, fields }) =>
    fields.filter(({ refersTo }) => refersTo !== undefined).map(({ name }) => `${view}.${name}`),
  );
}

/** How many bookings are picked up in each month: lines of a month and a number, in order. */
export function bookingsByMonth(world: World): readonly string[] {
  const months = world
    .ids('bookings')
    .map((id) => textOf(world.get('bookings', id)?.['pickup_date']).slice(0, 7))
    .filter((month) => /^\d{4}-(?!00)/.test(month));
  return [...new Set(months)]
    .sort()
    .map((month) => `${month} ${months.filter((one) => one === month).length}`);
}

function recordsOf(world: World): readonly Records[] {
  return LISTED_KINDS.flatMap(({ name, fields, hints }) => {
    const records = world
      .ids(name)
      .map((id) => world.get(name, id))
      .filter((record) => record !== undefined);
    const all = [...fields, ...hints];
    const nested = all.flatMap((field): Records[] => {
      if (field.items === undefined) return [];
      const elements = records.flatMap((record) => arrayIn(record[field.name])).filter(isObject);
      return [{ view: `bi_${name}_${field.name}`, records: elements, fields: field.items }];
    });
    return [{ view: `bi_${name}`, records, fields: all }, ...nested];
  });
}

const arrayIn = (value: Json | undefined): readonly Json[] => (isArray(value) ? value : []);

const MOST_PLACES = 4;
const TOO_LARGE = 1e14;

/** Values beyond four places or 14 digits before the point have no such units (docs/analysts.md), and no part in the sum. */
function sumOf(values: readonly (Json | undefined)[]): string | null {
  const numbers = values
    .map(textOf)
    .filter((text) => text !== '')
    .map((text) => new Big(text))
    .filter((value) => value.round(MOST_PLACES).eq(value) && value.abs().lt(TOO_LARGE));
  if (numbers.length === 0) return null;
  return numbers
    .reduce((sum, value) => sum.plus(value), new Big(0))
    .times(10_000)
    .toFixed(0);
}

/** A text or a number as it was sent; empty for none. */
const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : compactJson(value);
