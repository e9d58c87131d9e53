import type { Kind } from '../catalog/kind.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { changedFields } from './change-event.ts';
import { holdsWritten, readNameOf, shownValue } from './written.ts';

interface MergeInput {
  readonly kind: Kind;
  /** The wanted state of the record, by the names of a write. */
  readonly wanted: JsonObject;
  /** The state that the author of the update saw, by the names of a read; null = unknown. */
  readonly base: JsonObject | null;
  /** The service's present state, by the names of a read. */
  readonly remote: JsonObject;
}

/** One field in three states; `field` is its name of a read. A field that a state does not show is null. */
export interface FieldStates {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
  readonly wanted: Json;
}

/** A field that another writer changed in the meantime, to another value than the wanted one. */
type Conflict = FieldStates;

export type Merge =
  | { readonly is: 'nothing' }
  /** The changes only, by the names of a write. */
  | { readonly is: 'set'; readonly body: JsonObject }
  | { readonly is: 'conflict'; readonly conflicts: readonly Conflict[] };

interface ReadBackInput {
  readonly kind: Kind;
  /** The written fields, by the names of a write. */
  readonly body: JsonObject;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

interface ReadBack {
  /** Written fields that were not kept; `base` is the value before the write, `remote` the present one. */
  readonly missed: readonly FieldStates[];
  /** Further fields that changed between the two readings: through the write itself, or by another writer. */
  readonly others: readonly string[];
}

/** Merges an update into the service's present state: a single conflict stops the whole update. */
export function merge({ kind, wanted, base, remote }: MergeInput): Merge {
  const changes = unheld(kind, wanted, remote);
  const conflicts = changes.flatMap(([name, value]): readonly Conflict[] => {
    const field = readNameOf(kind, name);
    const seen = base === null ? undefined : shownValue(kind, base, field);
    const there = shownValue(kind, remote, field);
    // A field that one state does not show is unknown, so no change can be proved.
    if (seen === undefined || there === undefined || isSame(kind, field, [seen, there])) return [];
    return [{ field, base: seen, remote: there, wanted: value }];
  });
  if (conflicts.length > 0) return { is: 'conflict', conflicts };
  return changes.length > 0 ? { is: 'set', body: Object.fromEntries(changes) } : { is: 'nothing' };
}

/**
 * Compares the reading after a write with the one before: fields that were not kept, and other fields that changed.
 */
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

/** Whether two readings show the same value; in an array, members that the service added count too. */
function isSame(kind: Kind, field: string, [one, other]: readonly [Json, Json]): boolean {
  return (
    holdsWritten(kind, field, { sent: one, remote: other }) &&
    holdsWritten(kind, field, { sent: other, remote: one })
  );
}
