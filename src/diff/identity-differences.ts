import type { Field, Kind } from '../catalog/kind.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { isReference } from './rule-out.ts';
import { isShownAsWritten, isBlank, isSameInAnySpelling, readNameOf, shownValue } from './merge-update.ts';

/** A field that a record shows otherwise than before, by its name in a read. */
export type IdentityDifference = {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
};

/**
 * Finds differences that suggest that the id now belongs to another record: the natural key differs, and at least half of
 * the other texts, references and dates that both show. Empty if it is the same record, perhaps renamed, or if that is unknown.
 *
 * @param ourPayloads The payloads of this and of earlier updates, by the names in a write: a value that they wanted does not count.
 */
export function findIdentityDifferences(
  kind: Kind,
  base: JsonObject,
  remote: JsonObject,
  ourPayloads: readonly JsonObject[],
): readonly IdentityDifference[] {
  const shown = shownInBoth(kind, base, remote);
  const [key] = findKeyDifferences(kind, base, remote, ourPayloads);
  if (key === undefined) return [];
  // Of a key of several fields, one is often corrected: its others count with the rest.
  const names = kind.fields
    .filter(isIdentifying)
    .map((field) => field.name)
    .concat(kind.naturalKey);
  const rest = shown.filter(
    (shownField) => shownField.field !== key.field && names.includes(shownField.field),
  );
  const otherDifferences = rest.filter((difference) => differs(kind, difference, ourPayloads));
  return otherDifferences.length > 0 && otherDifferences.length >= rest.length / 2
    ? [key, ...otherDifferences]
    : [];
}

/** Finds the fields of the natural key that differ: enough where the record was gone in between. */
export function findKeyDifferences(
  kind: Kind,
  base: JsonObject,
  remote: JsonObject,
  ourPayloads: readonly JsonObject[],
): readonly IdentityDifference[] {
  const { naturalKey } = kind;
  if (naturalKey === 'all sent fields') return [];
  const keys = shownInBoth(kind, base, remote).filter((difference) => naturalKey.includes(difference.field));
  return keys.filter((key) => differs(kind, key, ourPayloads));
}

const shownInBoth = (kind: Kind, base: JsonObject, remote: JsonObject): readonly IdentityDifference[] =>
  kind.fields.flatMap((field) => {
    const old = shownValue(kind, base, field.name) ?? null;
    const now = shownValue(kind, remote, field.name) ?? null;
    return isBlank(field, old) || isBlank(field, now) ? [] : [{ field: field.name, base: old, remote: now }];
  });

function differs(kind: Kind, shown: IdentityDifference, ourPayloads: readonly JsonObject[]): boolean {
  const { field, base, remote } = shown;
  const isOurs = ([name, sent]: [string, Json]): boolean =>
    readNameOf(kind, name) === field && isShownAsWritten(kind, field, sent, remote);
  return (
    !isSameInAnySpelling(kind, field, base, remote) &&
    !ourPayloads.some((payload) => Object.entries(payload).some(isOurs))
  );
}

/** A text, a reference or a date; the company of a record is that of all others. */
function isIdentifying(field: Field): boolean {
  if (field.name === 'id' || field.name === 'system_id') return false;
  return field.type === 'text' || field.type === 'date' || isReference(field);
}
