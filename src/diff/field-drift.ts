import type { SeenField } from './observe-fields.ts';

export interface FieldDrift {
  readonly code: 'new_field' | 'vanished_field' | 'returned_field' | 'retyped_field';
  readonly field: string;
  readonly detail: string;
}

/** Finds the fields that are new, or have another JSON type, between two states of the known fields. */
export function findTypeDrift(before: ReadonlyMap<string, SeenField>, after: ReadonlyMap<string, SeenField>) {
  return [...after].flatMap(([field, { wire }]): FieldDrift[] => {
    const known = before.get(field);
    if (known === undefined) return [{ code: 'new_field', field, detail: `sent as ${wire || 'null'}` }];
    if (known.wire === wire || known.wire === '') return [];
    return [{ code: 'retyped_field', field, detail: `was sent as ${known.wire}, now ${wire}` }];
  });
}

/**
 * Finds the fields that disappeared from all records of a complete list, and the ones that are back; an empty list shows neither.
 * @param known By field, since when it is missing; null = it is not missing.
 */
export function findPresenceDrift(
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
