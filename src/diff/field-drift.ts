import type { SeenField } from './observe-fields.ts';

export interface FieldDrift {
  readonly code: 'new_field' | 'vanished_field' | 'returned_field' | 'retyped_field';
  readonly field: string;
  readonly detail: string;
}

export interface FieldReadings {
  /** What fields had shown before the sweep, and since when they are missing (null: they are not). */
  readonly before: ReadonlyMap<string, SeenField & { readonly vanishedAt: string | null }>;
  /** What they have shown with it. */
  readonly after: ReadonlyMap<string, SeenField>;
  /** Fields that some record of the sweep had. */
  readonly present: ReadonlySet<string>;
}

/** Tells what has changed in a kind's fields from one complete sweep to the next; an empty list tells nothing. */
export function fieldDrift(readings: FieldReadings): readonly FieldDrift[] {
  return readings.present.size === 0 ? [] : [...changedValues(readings), ...changedPresence(readings)];
}

function changedValues({ before, after }: FieldReadings): FieldDrift[] {
  return [...after].flatMap(([field, { wire }]): FieldDrift[] => {
    const known = before.get(field);
    if (known === undefined) return [{ code: 'new_field', field, detail: `sent as ${wire || 'null'}` }];
    if (known.wire === wire || known.wire === '') return [];
    return [{ code: 'retyped_field', field, detail: `was sent as ${known.wire}, now ${wire}` }];
  });
}

function changedPresence({ before, present }: FieldReadings): FieldDrift[] {
  return [...before].flatMap(([field, { vanishedAt }]): FieldDrift[] => {
    if (present.has(field) === (vanishedAt === null)) return [];
    if (vanishedAt === null) return [{ code: 'vanished_field', field, detail: 'no record has it' }];
    return [{ code: 'returned_field', field, detail: `was missing since ${vanishedAt}` }];
  });
}
