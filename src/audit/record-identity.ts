import { DEEPEST, compactJson, isDeeper, isNumber, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { isSameJson } from './read-value.ts';

/** A record that has a row of its own. */
export interface KnownRecord {
  readonly id: string;
  readonly record: JsonObject;
}

interface SortedRecords {
  readonly known: readonly KnownRecord[];
  readonly unusable: readonly UnusableRecord[];
}

/** A record that can have no row: it has no usable id, is nested too deep, or came twice with different contents. */
interface UnusableRecord {
  readonly id: string | null;
  /** Tells it from other unusable records. */
  readonly text: string;
}

const LARGEST = 9_223_372_036_854_775_807n;

/**
 * Separates the comparable records of one answer from the others; an id shown twice with equal content counts once.
 */
export function sortRecords(records: readonly Json[]): SortedRecords {
  const byId = new Map<string, JsonObject>();
  const unusable: UnusableRecord[] = [];
  const torn = new Set<string>();
  for (const record of records) {
    const id = isObject(record) ? idOf(record) : null;
    const isTooDeep = isDeeper(record, DEEPEST);
    if (id === null || !isObject(record) || isTooDeep) {
      unusable.push({ id, text: isTooDeep ? 'nested too deep' : compactJson(record) });
      continue;
    }
    const other = byId.get(id);
    if (other !== undefined && !isSameJson(other, record)) torn.add(id); // The answer does not show which of them is true.
    byId.set(id, record);
  }
  const known = [...byId].filter(([id]) => !torn.has(id)).map(([id, record]) => ({ id, record }));
  return { known, unusable: [...unusable, ...[...torn].map((id) => ({ id, text: '' }))] };
}

/** The record's id if it is a whole number from 1 to 2^63−1 in its only spelling. */
function idOf(record: JsonObject): string | null {
  const id = Object.hasOwn(record, 'id') ? record['id'] : null;
  if (typeof id !== 'string' && !isNumber(id)) return null;
  const token = String(id);
  return /^[1-9]\d{0,18}$/.test(token) && BigInt(token) <= LARGEST ? token : null;
}
