import { canonicalJson } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';

/** The fields that one event changed, each with its value before and after. */
export type ChangedFields = Readonly<Record<string, readonly [before: Json, after: Json]>>;

const FLAPS = 3;
const FEWEST_ROWS = 20;

/**
 * Names the fields that alternate between two values: three consecutive changes, as in a→b→a→b.
 *
 * @param history The changes in the `updated` events of one record, oldest first.
 */
export function flappingFields(history: readonly ChangedFields[]): readonly string[] {
  const flaps = new Map<string, number>();
  const latest = new Map<string, string>();
  const flapping = new Set<string>();
  for (const fields of history) {
    for (const [name, values] of Object.entries(fields)) {
      const [before, after] = values.map(canonicalJson);
      const isReversal = latest.get(name) === `${after} ${before}`;
      const count = isReversal ? (flaps.get(name) ?? 0) + 1 : 1;
      if (count >= FLAPS) flapping.add(name);
      flaps.set(name, count);
      latest.set(name, `${before} ${after}`);
    }
  }
  return [...flapping];
}

/** Whether a field changed in at least half of a list's rows, and in 20 or more, in one sweep. */
export function isVolatile(changedRows: number, rows: number): boolean {
  return changedRows >= FEWEST_ROWS && changedRows * 2 >= rows;
}
