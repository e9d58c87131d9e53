import { Big } from 'big.js';
import { integerField, referenceField } from '../../src/catalog/field.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Field } from '../../src/catalog/kind.ts';
import { OLD_CONTACTS } from '../../src/db/session/sql-text.ts';
import { compactJson, isArray, isObject, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import type { Stage } from './stage.ts';

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
export function sumsOf(stage: Stage): readonly Sums[] {
  return recordsOf(stage).map(({ view, records, fields }) => {
    const decimals = fields.filter(({ type }) => type === 'decimal').map(({ name }) => name);
    const units = decimals.map(
      (name) => [`${name}_e4`, sumOf(records.map((record) => record[name]))] as const,
    );
    return { view, count: records.length, units: Object.fromEntries(units) };
  });
}

/** A row of `bi_relations`: a column that names a record of another view. */
export interface Relation {
  readonly view: string;
  readonly column: string;
  readonly toView: string;
  readonly toColumn: string;
}

/** How many rows find the record that they name, by the sandbox's own data; null for a relation that it does not have. */
export function joinedRows(stage: Stage, { view: name, column, toView }: Relation): number | null {
  const { world } = stage;
  const kind = toView.slice('bi_'.length);
  const view = name === OLD_CONTACTS ? 'bi_clients_contacts' : name;
  const found = recordsOf(stage).find((one) => one.view === view);
  if (column === 'parent_id') {
    const field = fieldsOf(kind).find((one) => one.name === view.slice(toView.length + 1));
    if (field === undefined) return null;
    return world.ids(kind).flatMap((id) => elementsOf(world.get(kind, id) ?? {}, field)).length;
  }
  if (found?.fields.find(({ name }) => name === column)?.refersTo !== kind) return null;
  return found.records.filter((record) => world.get(kind, Number(record[column])) !== undefined).length;
}

/** The references that the catalogue knows, as `view.column`. */
export function catalogueReferences(stage: Stage): readonly string[] {
  return recordsOf(stage).flatMap(({ view, fields }) =>
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

function fieldsOf(kind: string): readonly Field[] {
  const known = LISTED_KINDS.find(({ name }) => name === kind);
  return [...(known?.fields ?? []), ...(known?.hints ?? [])];
}

function recordsOf({ world, removed }: Stage): readonly Records[] {
  return LISTED_KINDS.flatMap(({ name, fields, hints }) => {
    const records = world
      .ids(name)
      .map((id) => world.get(name, id))
      .filter((record) => record !== undefined);
    const all = [...fields, ...hints];
    const nested = all.flatMap((field): Records[] => {
      const items = field.items ?? field.itemHints ?? (field.part && [field.part]);
      if (items === undefined) return [];
      const elements = records.flatMap((record) => elementsOf(record, field)).filter(isObject);
      return [{ view: `bi_${name}_${field.name}`, records: elements, fields: items }];
    });
    const named = all.flatMap((field) =>
      field.recordOf === undefined ? [] : [idField(field.name, field.recordOf)],
    );
    const known = [...all, ...named];
    return [
      { view: `bi_${name}`, records: records.map(withIds(all)), fields: known },
      { view: `bi_deleted_${name}`, records: (removed[name] ?? []).map(withIds(all)), fields: known },
      ...nested,
    ];
  });
}

/** The elements of an array, or of a text such as `15,16`. */
function elementsOf(record: JsonObject, { name, part }: Field): readonly Json[] {
  const value = record[name];
  if (part === undefined) return isArray(value) ? value : [];
  return textOf(value)
    .split(',')
    .filter(Boolean)
    .map((id) => ({ [part.name]: id }));
}

const idField = (name: string, kind: string): Field => referenceField(integerField(`${name}_id`), kind);

/** A record with the id of each record that it has in itself, as that or as an object, in a field of its own. */
const withIds =
  (fields: readonly Field[]) =>
  (record: JsonObject): JsonObject => {
    const ids = fields.flatMap(({ name, recordOf }) => {
      const value = record[name] ?? null;
      return recordOf === undefined
        ? []
        : [[`${name}_id`, isObject(value) ? (value['id'] ?? null) : value] as const];
    });
    return { ...record, ...Object.fromEntries(ids) };
  };

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
