import { Big } from 'big.js';
import { compactJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';

/** Rows of a report as texts, in the order of its columns. */
export type Rows = readonly (readonly (string | null)[])[];

export const monthOf = (value: Json | undefined): string => dayOf(value)?.slice(0, 7) ?? 'none';

/** A quantity at a price, cut after four places; null without either, and for what 64 bits may not hold. */
export function valueAt(price: Amount, quantity: Amount): Amount {
  if (price === null || quantity === null) return null;
  const value = quantity.times(price).div(10_000).round(0, Big.roundDown);
  return value.abs().gt('4e18') ? null : value;
}

/** Whether `bi_calendar` has the day. */
export const isInCalendar = (day: string): boolean => day >= '2000' && day < '2050';

export const DAY_MS = 86_400_000;

export function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

interface RankedRow {
  readonly id: string;
  readonly by: Amount;
  readonly row: readonly (string | null)[];
}

export const largestFirst = (rows: readonly RankedRow[]): Rows =>
  [...rows]
    .sort((one, other) => (other.by ?? ZERO).cmp(one.by ?? ZERO) || compareIds(one.id, other.id))
    .map(({ row }) => row);

/** Ids that name a row together, one by one as numbers; what is no number, as text. */
function compareIds(one: string, other: string): number {
  const others = other.split(' ');
  const differences = one.split(' ').map((id, at) => {
    const difference = Number(id) - Number(others[at]);
    return Number.isNaN(difference)
      ? Number(id > (others[at] ?? '')) - Number(id < (others[at] ?? ''))
      : difference;
  });
  return differences.find((difference) => difference !== 0) ?? 0;
}

export const recordsOf = (world: World, kind: string): readonly JsonObject[] =>
  world.ids(kind).map((id) => world.get(kind, id) ?? {});

export function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** Groups in the order of their names. */
export const sorted = <T>(groups: ReadonlyMap<string, T>): [string, T][] =>
  [...groups].sort(([one], [other]) => (one < other ? -1 : 1));

/** A value as text, as it was sent; empty for none. */
export const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : compactJson(value);

/** Values as they were sent; null for none, and without a record. */
export const presentTexts = (record: JsonObject | undefined, names: readonly string[]): (string | null)[] =>
  names.map((name) => {
    const value = record?.[name];
    return value === undefined || value === null ? null : textOf(value);
  });

/** The id that a reference names; `0` for none. */
export const idOf = (value: Json | undefined): string =>
  /^[1-9]\d*$/.test(textOf(value)) ? textOf(value) : '0';

export const dayOf = (value: Json | undefined): string | null =>
  /^\d{4}-(?!00)/.test(textOf(value)) ? textOf(value) : null;

/** Units of 0.0001; null: not known. */
export type Amount = Big | null;

export const ZERO = new Big(0);

/** A decimal in units of 0.0001; null for none, and for what has no such units. */
export function unitsOf(value: Json | undefined): Amount {
  if (!/^-?\d+(\.\d{1,4})?$/.test(textOf(value))) return null;
  const units = new Big(textOf(value)).times(10_000);
  return units.abs().lt('1e18') ? units : null;
}

/** The sum of the ones that are known; null if none is. */
export const sum = (amounts: readonly Amount[]): Amount =>
  amounts.reduce((total, one) => (one === null ? total : (total ?? ZERO).plus(one)), null);

export const textOfUnits = (units: Amount): string | null => units?.toFixed(0) ?? null;

/** Units, and the same with the point put in. */
export const both = (units: Amount): (string | null)[] => [
  textOfUnits(units),
  units?.div(10_000).toFixed(4) ?? null,
];
