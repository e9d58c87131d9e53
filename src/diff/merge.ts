import type { Kind } from '../catalog/kind.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { changedFields } from './compare.ts';
import { holdsWritten, readNameOf, shownValue } from './written.ts';

export interface MergeInput {
  readonly kind: Kind;
  /** What the record is to become, by the names of a write. */
  readonly wanted: JsonObject;
  /** What the author of the update saw, by the names of a read; null where nobody knows. */
  readonly base: JsonObject | null;
  /** What the service shows now, by the names of a read. */
  readonly remote: JsonObject;
}

/** One field in three states; `field` is its name of a read, and what a state does not show is null. */
export interface FieldStates {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
  readonly wanted: Json;
}

/** A field that somebody else changed meanwhile, to something else than is wanted. */
export type Conflict = FieldStates;

export type Merge =
  | { readonly is: 'nothing' }
  /** Only what changes, by the names of a write. */
  | { readonly is: 'set'; readonly body: JsonObject }
  | { readonly is: 'conflict'; readonly conflicts: readonly Conflict[] };

export interface ReadBackInput {
  readonly kind: Kind;
  /** What was written, by the names of a write. */
  readonly body: JsonObject;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

export interface ReadBack {
  /** Written fields that do not hold; `base` is what was there before, `remote` what is there now. */
  readonly missed: readonly FieldStates[];
  /** Further fields that changed between the two readings: by the write itself, or by somebody else. */
  readonly others: readonly string[];
}

/** Merges an update into what the service shows now: one conflict is enough to set nothing. */
export function merge({ kind, wanted, base, remote }: MergeInput): Merge {
  const changes = unheld(kind, wanted, remote);
  const conflicts = changes.flatMap(([name, value]): readonly Conflict[] => {
    const field = readNameOf(kind, name);
    const seen = base === null ? undefined : shownValue(kind, base, field);
    const there = shownValue(kind, remote, field);
    // What one of them does not show is unknown, so nobody can be said to have changed it.
    if (seen === undefined || there === undefined || isSame(kind, field, [seen, there])) return [];
    return [{ field, base: seen, remote: there, wanted: value }];
  });
  if (conflicts.length > 0) return { is: 'conflict', conflicts };
  return changes.length > 0 ? { is: 'set', body: Object.fromEntries(changes) } : { is: 'nothing' };
}

/** Compares a reading after a write with the one before it: what was not taken over, and what else changed. */
export function readBack({ kind, body, before, after }: ReadBackInput): ReadBack {
  const missed = unheld(kind, body, after).map(([name, wanted]) => {
    const field = readNameOf(kind, name);
    const [base, remote] = [shownValue(kind, before, field), shownValue(kind, after, field)];
    return { field, base: base ?? null, remote: remote ?? null, wanted };
  });
  const written = new Set(Object.keys(body).flatMap((name) => [name, readNameOf(kind, name)]));
  return { missed, others: changedFields(kind, before, after).filter((name) => !written.has(name)) };
}

function unheld(kind: Kind, wanted: JsonObject, record: JsonObject): readonly (readonly [string, Json])[] {
  return Object.entries(wanted).filter(([name, sent]) => {
    const field = readNameOf(kind, name);
    return !holdsWritten(kind, field, { sent, remote: shownValue(kind, record, field) });
  });
}

/** Whether two readings are one value; of an array, also what the service itself gave its elements counts. */
function isSame(kind: Kind, field: string, [one, other]: readonly [Json, Json]): boolean {
  return (
    holdsWritten(kind, field, { sent: one, remote: other }) &&
    holdsWritten(kind, field, { sent: other, remote: one })
  );
}
