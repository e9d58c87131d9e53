import type { Kind } from '../catalog/kind.ts';
import { isArray, isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import { isSameInAnySpelling, numberText, readNameOf } from './merge-update.ts';
import { isBlank, shownValue } from './shown-value.ts';

/** A field that a record shows otherwise than before, by its name in a read. */
export type IdentityDifference = {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
};

/**
 * Finds the differences that show that an id now belongs to another record: its natural key differs, and of its witnesses, its
 * name, the date of its creation and its rare texts more differ than what is its own alone and stays. Empty if it is the same
 * record, perhaps renamed, or if nothing more is known.
 * @param seen `ourPayloads`: of this and of earlier updates, by the names in a write; a value that they wanted does not count.
 * `rare`: fields of `base` whose value no other record has. A text may stay, like a town's name, so one alone outweighs nothing; a
 * witness outweighs one difference, not two.
 */
export function findIdentityDifferences(
  kind: Kind,
  seen: {
    readonly base: JsonObject;
    readonly remote: JsonObject;
    readonly ourPayloads: readonly JsonObject[];
    readonly rare: ReadonlySet<string>;
  },
): readonly IdentityDifference[] {
  const { base, remote, ourPayloads, rare } = seen;
  const { naturalKey, witnesses = [], describedBy = [] } = kind;
  const keys = findKeyDifferences(kind, base, remote, ourPayloads);
  const shown = shownInBoth(kind, base, remote).filter(({ field }) => field !== keys[0]?.field);
  // Of a key of several fields, one is often corrected: its others count with the rest.
  const telling = [...witnesses, ...describedBy, ...rare];
  const isTelling = ({ field }: IdentityDifference): boolean =>
    telling.includes(field) || naturalKey.includes(field);
  const different = shown.filter((one) => isTelling(one) && differs(kind, one, ourPayloads));
  const agreeing = shown.filter((one) => rare.has(one.field) && isAlike(kind, one));
  const weight = agreeing.length + agreeing.filter(({ field }) => witnesses.includes(field)).length;
  const [key] = keys;
  return key && different.length > 0 && different.length >= weight ? [key, ...different] : [];
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
  [...kind.fields, ...kind.hints].flatMap((field) => {
    const old = shownValue(kind, base, field.name) ?? null;
    const now = shownValue(kind, remote, field.name) ?? null;
    return isBlank(field, old) || isBlank(field, now) ? [] : [{ field: field.name, base: old, remote: now }];
  });

function differs(kind: Kind, shown: IdentityDifference, ourPayloads: readonly JsonObject[]): boolean {
  const { field, remote } = shown;
  const isOurs = ([name, sent]: [string, Json]): boolean =>
    readNameOf(kind, name) === field && isSameInAnySpelling(kind, field, sent, remote);
  return !isAlike(kind, shown) && !ourPayloads.some((payload) => Object.entries(payload).some(isOurs));
}

/** Whether a field has its value still; of nested rows, whether one of them is there still. */
function isAlike(kind: Kind, { field, base, remote }: IdentityDifference): boolean {
  return nestedIdsInBoth(base, remote).length > 0 || isSameInAnySpelling(kind, field, base, remote);
}

/** The ids of the nested rows that two readings of an array share. */
export function nestedIdsInBoth(base: Json, remote: Json): readonly string[] {
  const ids = new Set(nestedIds(remote));
  return nestedIds(base).filter((id) => ids.has(id));
}

const nestedIds = (value: Json): readonly string[] =>
  isArray(value) ? value.flatMap((row) => (isObject(row) ? (numberText(row['id'] ?? null) ?? []) : [])) : [];
