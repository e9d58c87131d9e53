import { findSentField, type Field, type Kind } from '../catalog/kind.ts';
import { isArray, isNumber, isObject, canonicalJson, type Json, type JsonObject } from '../lib/json/json.ts';
import { decodeIfFits, ownValue } from './decode-record.ts';
import { canonicalNumber } from '../lib/json/decimal.ts';
import { listChangedFields } from './compare-page.ts';
import { normalizeKey, normalizeSpelling } from './normalize-spelling.ts';
import { isBlank, shownValue, writeNameOf } from './shown-value.ts';

/** One field in three states; `field` is its name in a read. A field that a state does not show is null. */
type FieldStates = {
  readonly field: string;
  readonly base: Json;
  readonly remote: Json;
  readonly wanted: Json;
};

export type Merge =
  | { readonly is: 'nothing' }
  /** The changes only, by the names of a write. */
  | { readonly is: 'set'; readonly body: JsonObject }
  /** Fields that another writer changed in the meantime, to another value than the wanted one. */
  | { readonly is: 'conflict'; readonly conflicts: readonly FieldStates[] };

/**
 * Merges an update (`wanted`, by the names of a write) into the service's present state (`remote`): a single conflict stops the
 * whole update. `base` is the state that its author saw; null = unknown.
 */
export function merge(update: {
  readonly kind: Kind;
  readonly wanted: JsonObject;
  readonly base: JsonObject | null;
  readonly remote: JsonObject;
}): Merge {
  const { kind, wanted, base, remote } = update;
  const isSame = (field: string, valueA: Json, valueB: Json | undefined): boolean =>
    valueB !== undefined && isSameInAnySpelling(kind, field, valueA, valueB);
  const changes: [name: string, value: Json][] = [];
  const conflicts: FieldStates[] = [];
  for (const { name, field, value, shown } of listDifferences(kind, wanted, remote)) {
    const seen = base === null ? undefined : shownValue(kind, base, field);
    // A value that is there in another spelling need not be sent, unless its author wants that spelling changed.
    const isSpellingWanted =
      seen === undefined || (isSame(field, seen, value) && !isShownAsWritten(kind, field, value, seen));
    if (isSame(field, value, shown) && !isSpellingWanted) continue;
    changes.push([name, value]);
    // A field that one state does not show is unknown, so no change can be proved.
    if (seen !== undefined && shown !== undefined && !isSame(field, seen, shown))
      conflicts.push({ field, base: seen, remote: shown, wanted: value });
  }
  if (conflicts.length > 0) return { is: 'conflict', conflicts };
  return changes.length === 0 ? { is: 'nothing' } : { is: 'set', body: Object.fromEntries(changes) };
}

/**
 * Compares the readings before and after a write of `body`.
 * @returns `missed`: written fields that were not kept; `base` is the value before the write, `remote` the present one. `alsoChanged`:
 * further fields that changed in between, through the write itself or by another writer.
 */
export function compareReadBack(write: {
  readonly kind: Kind;
  readonly body: JsonObject;
  readonly before: JsonObject;
  readonly after: JsonObject;
}) {
  const { kind, body, before, after } = write;
  const missed = listDifferences(kind, body, after).map(({ field, value, shown = null }): FieldStates => {
    return { field, base: shownValue(kind, before, field) ?? null, remote: shown, wanted: value };
  });
  const written = new Set(Object.keys(body).flatMap((name) => [name, readNameOf(kind, name)]));
  return { missed, alsoChanged: listChangedFields(kind, before, after).filter((name) => !written.has(name)) };
}

/** The values of an update that a record does not show as written, by the field's name in a write (`name`) and in a read (`field`). */
function listDifferences(kind: Kind, wanted: JsonObject, record: JsonObject) {
  return Object.entries(wanted)
    .map(([name, value]) => {
      const field = readNameOf(kind, name);
      return { name, field, value, shown: shownValue(kind, record, field) };
    })
    .filter(({ field, value, shown }) => !isShownAsWritten(kind, field, value, shown));
}

/** The name of a written field in a read; an unknown name is returned unchanged. */
export function readNameOf(kind: Kind, writeName: string): string {
  const fields = [...kind.fields, ...kind.hints];
  return fields.find((field) => writeNameOf(field) === writeName)?.name ?? writeName;
}

/** Whether the service shows the sent value, under the field's normaliser; `name` is the name in a read. */
export function isShownAsWritten(kind: Kind, name: string, sent: Json, remote: Json | undefined): boolean {
  return isSameValue(findSentField(kind, name), sent, remote);
}

/** Whether two values of a field are one value in two spellings of the service; in an array, members that it has added count too. */
export function isSameInAnySpelling(kind: Kind, name: string, valueA: Json, valueB: Json): boolean {
  const field = findSentField(kind, name);
  const spell = kind.naturalKey.includes(name) ? spellKey : (value: Json) => normalizeSpelling(field, value);
  const [one, other] = [spell(valueA), spell(valueB)];
  return isSameValue(field, one, other) && isSameValue(field, other, one);
}

/** A value in the one spelling in which natural keys are compared. */
export const spellKey = (value: Json): Json => normalizeSpelling(undefined, value, normalizeKey);

/** Whether two values are equal in a field of this type; without a type they are compared as JSON, a number also as its text. */
export function isSameValue(field: Field | undefined, sent: Json, remote: Json | undefined): boolean {
  if (remote === undefined || isBlank(field, remote)) return isBlank(field, sent);
  if (isArray(sent)) return isArray(remote) && isSameArray(field?.items ?? [], sent, remote);
  if (normalForm(field, sent) === normalForm(field, remote)) return true;
  return !hasType(field) && (isTextOf(sent, remote) || isTextOf(remote, sent));
}

/** The service adds ids and further members to the elements of an array, so only the sent members must hold. */
function isSameArray(items: readonly Field[], sent: readonly Json[], remote: readonly Json[]): boolean {
  const isSameElement = (element: Json, shown: Json | undefined): boolean => {
    if (!isObject(element) || !isObject(shown)) return isSameValue(undefined, element, shown);
    return Object.entries(element).every(([name, value]) => {
      const field = items.find((item) => item.name === name);
      return isSameValue(field, value, ownValue(shown, name));
    });
  };
  return sent.length === remote.length && sent.every((element, at) => isSameElement(element, remote[at]));
}

function isTextOf(text: Json, number: Json): boolean {
  return isNumber(number) && (text === String(number) || text === normalForm(undefined, number));
}

/** A text that is equal for values that the service holds equal: by the field's type, as JSON where it fits none. */
function normalForm(field: Field | undefined, value: Json): string {
  return (field && FORMS[field.type]?.(value, field)) ?? canonicalJson(value);
}

/** A value's part in a key, as `spellKey` writes it: equal for equal values, and for a number and its own text. */
export function keyForm(field: Field | undefined, value: Json): Json {
  if (isBlank(field, value)) return null;
  if (isArray(value)) return value.map((element) => elementForm(field?.items ?? [], element));
  if (hasType(field)) return normalForm(field, value);
  return isNumber(value) ? (numberText(value) ?? String(value)) : value;
}

/** Whether the field's type defines a spelling of its values; texts and unknown fields are compared as they are. */
function hasType(field: Field | undefined): field is Field {
  return field !== undefined && field.type in FORMS;
}

/** The shortest text of a number, or of a text that is a number; null for any other value. */
export function numberText(value: Json): string | null {
  return isNumber(value) || typeof value === 'string' ? canonicalNumber(String(value)) : null;
}

/** A date or time as its column holds it; null where it is none. */
function calendarText(value: Json, field: Field): string | null {
  const decoded = decodeIfFits(field, value);
  return typeof decoded === 'string' ? decoded : null;
}

const FORMS: Partial<Record<Field['type'], (value: Json, field: Field) => string | null>> = {
  integer: numberText,
  decimal: numberText,
  flag: (value) => numberText(typeof value === 'boolean' ? Number(value) : value),
  date: calendarText,
  time: calendarText,
  timestamp: calendarText,
};

/** An element of an array, without empty members. */
function elementForm(items: readonly Field[], element: Json): Json {
  if (!isObject(element)) return keyForm(undefined, element);
  const members = Object.entries(element).map(([name, value]) => {
    const field = items.find((candidate) => candidate.name === name);
    return [name, keyForm(field, value)] as const;
  });
  return Object.fromEntries(members.filter(([, form]) => form !== null)) satisfies JsonObject;
}
