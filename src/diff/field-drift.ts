import type { SeenField } from './observe-fields.ts';
import { canonicalJson } from '../lib/json/json.ts';
import type { Json } from '../lib/json/json.ts';

export interface FieldDrift {
  readonly code: 'new_field' | 'vanished_field' | 'returned_field' | 'retyped_field';
  readonly field: string;
  readonly detail: string;
}

/** Finds the fields that are new, or have another JSON type, between two states of the known fields. */
export function valueDrift(
  before: ReadonlyMap<string, SeenField>,
  after: ReadonlyMap<string, SeenField>,
): readonly FieldDrift[] {
  return [...after].flatMap(([field, { wire }]): FieldDrift[] => {
    const known = before.get(field);
    if (known === undefined) return [{ code: 'new_field', field, detail: `sent as ${wire || 'null'}` }];
    if (known.wire === wire || known.wire === '') return [];
    return [{ code: 'retyped_field', field, detail: `was sent as ${known.wire}, now ${wire}` }];
  });
}

/**
 * Finds the fields that no record of a complete list has any more, and those that are back; an empty list shows neither.
 * @param known By field, since when it is missing; null = it is not missing.
 */
export function presenceDrift(
  known: ReadonlyMap<string, { readonly vanishedAt: string | null }>,
  present: ReadonlySet<string>,
): readonly FieldDrift[] {
  if (present.size === 0) return [];
  return [...known].flatMap(([field, { vanishedAt }]): FieldDrift[] => {
    if (present.has(field) === (vanishedAt === null)) return [];
    if (vanishedAt === null) return [{ code: 'vanished_field', field, detail: 'no record has it' }];
    return [{ code: 'returned_field', field, detail: `was missing since ${vanishedAt}` }];
  });
}

/** The fields that one event changed, each with its value before and after. */
export type ChangedFields = Readonly<Record<string, readonly [before: Json, after: Json]>>;

const FLAPS = 3;
const FEWEST_ROWS = 20;

/**
 * Names the fields that alternate between two values: three consecutive changes, as in a→b→a→b.
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
