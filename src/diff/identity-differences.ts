import type { Field, Kind } from '../catalog/kind.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { isReference } from './rule-out.ts';
import { isShownAsWritten, isBlank, isSameInAnySpelling, readNameOf, shownValue } from './merge-update.ts';

/** A field that a record shows otherwise than it did; by its name of a read. */
export interface IdentityDifference {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
}

/**
 * Finds differences that suggest that the id now belongs to another record: the natural key differs, and at least half of
 * the other texts, references and dates that both show. Empty if it is the same record, perhaps renamed, or if that is unknown.
 *
 * @param ours The payloads of this and of earlier updates, by the names of a write: a value that one of them wanted is not a difference.
 */
export function findIdentityDifferences(
  kind: Kind,
  base: JsonObject,
  remote: JsonObject,
  ourPayloads: readonly JsonObject[],
): readonly IdentityDifference[] {
  const { naturalKey, fields } = kind;
  if (naturalKey === 'all sent fields') return [];
  const shown = fields.flatMap((known): readonly IdentityDifference[] => {
    const old = shownValue(kind, base, known.name) ?? null;
    const now = shownValue(kind, remote, known.name) ?? null;
    return isBlank(known, old) || isBlank(known, now) ? [] : [{ field: known.name, base: old, remote: now }];
  });
  const wanted = ourPayloads.flatMap((payload) => Object.entries(payload));
  const differs = ({ field, base: old, remote: now }: IdentityDifference): boolean =>
    !isSameInAnySpelling(kind, field, old, now) &&
    !wanted.some(
      ([name, sent]) => readNameOf(kind, name) === field && isShownAsWritten(kind, field, sent, now),
    );
  const keys = shown.filter((other) => naturalKey.includes(other.field));
  const key = keys.find(differs);
  if (key === undefined) return [];
  const identifyingNames = fields.filter((field) => isIdentifying(field)).map(({ name }) => name);
  // Of a key of several fields, one is often corrected: its others count with the rest.
  const rest = shown.filter(
    (one) => one !== key && (keys.includes(one) || identifyingNames.includes(one.field)),
  );
  const otherDifferences = rest.filter(differs);
  return otherDifferences.length > 0 && otherDifferences.length >= rest.length / 2
    ? [key, ...otherDifferences]
    : [];
}

/** A text, a reference or a date; the company of a record is that of all others. */
function isIdentifying(field: Field): boolean {
  if (field.name === 'id' || field.name === 'system_id') return false;
  return field.type === 'text' || field.type === 'date' || isReference(field);
}
