import { createHash } from 'node:crypto';
import { findSentField, type Kind } from '../catalog/kind.ts';
import { canonicalJson, type Json, type JsonObject } from '../lib/json/json.ts';
import type { ColumnValue } from './decode-record.ts';
import { keyForm, isShownAsWritten, readNameOf, spellKey } from './merge-update.ts';
import { normalizeKey } from './normalize-spelling.ts';
import { isBlank, shownValue } from './shown-value.ts';

interface SentField {
  readonly name: string;
  readonly sent: Json;
  /** The service's value in its place; undefined if it shows none. */
  readonly remote: Json | undefined;
}

/** PostgreSQL indexes no text over 2.7 kB; a character has three bytes at most, counted as JavaScript does. */
const LONGEST_KEY = 500;

/** A text that is equal for payloads that a person would call the same, in any spelling of their values; the hash of a long one. */
export function naturalKeyOf(kind: Kind, payload: JsonObject): string {
  const parts = keyFields(kind, payload, {}).map((field) =>
    canonicalJson([field.name, keyForm(findSentField(kind, field.name), spellKey(field.sent))]),
  );
  return indexable(`[${parts.sort().join(',')}]`);
}

/**
 * What finds a row by its natural key, of the decoded values of its fields: equal also for keys that differ by case alone, so
 * that these are found, too. Empty where one is blank.
 */
export function keyText(values: readonly ColumnValue[]): string {
  const parts = values.map((value) => normalizeKey(String(value ?? '')).toLowerCase());
  return parts.length === 0 || parts.includes('') ? '' : indexable(JSON.stringify(parts));
}

const indexable = (key: string): string =>
  key.length <= LONGEST_KEY ? key : createHash('sha256').update(key).digest('hex');

/** The sent fields of the natural key, with a record's values; if none of them is in the key, all sent fields with content. */
export function keyFields(kind: Kind, payload: JsonObject, record: JsonObject): readonly SentField[] {
  const filled = sentFields(kind, payload, record).filter(
    (field) => !isBlank(findSentField(kind, field.name), spellKey(field.sent)),
  );
  const { naturalKey } = kind;
  if (naturalKey === 'all sent fields') return filled;
  const keyed = filled.filter((field) => naturalKey.includes(field.name));
  return keyed.length > 0 ? keyed : filled;
}

/** Whether a record has the natural key of a payload, in any spelling. */
export function hasNaturalKeyOf(kind: Kind, payload: JsonObject, record: JsonObject): boolean {
  const fields = keyFields(kind, payload, record);
  return fields.length > 0 && fields.every((field) => isSameKey(kind, field));
}

const isSameKey = (kind: Kind, { name, sent, remote }: SentField): boolean =>
  isShownAsWritten(kind, name, spellKey(sent), remote === undefined ? remote : spellKey(remote));

const isShownAsSent = (kind: Kind, field: SentField): boolean =>
  isShownAsWritten(kind, field.name, field.sent, field.remote);

/** Whether a record shows every sent field as it was sent, the natural key in any spelling. A payload without content is equal to none. */
export function hasAllSentValues(kind: Kind, payload: JsonObject, record: JsonObject): boolean {
  const keyed = new Set(keyFields(kind, payload, record).map((field) => field.name));
  const isShown = (field: SentField): boolean =>
    keyed.has(field.name) ? isSameKey(kind, field) : isShownAsSent(kind, field);
  return keyed.size > 0 && sentFields(kind, payload, record).every(isShown);
}

/** Whether a record shows all that was sent beside the natural key, which the service may have altered; false where that is nothing. */
export function hasOtherSentValues(kind: Kind, payload: JsonObject, record: JsonObject): boolean {
  const keyed = new Set(keyFields(kind, payload, record).map((field) => field.name));
  const others = sentFields(kind, payload, record).filter(
    ({ name, sent }) => !keyed.has(name) && !isBlank(findSentField(kind, name), sent),
  );
  return others.length > 0 && others.every((field) => isShownAsSent(kind, field));
}

/** Whether a record shows another natural key than that of a payload; what it does not show differs in nothing. */
export const hasOtherKey = (kind: Kind, payload: JsonObject, record: JsonObject): boolean =>
  keyFields(kind, payload, record).some((field) => field.remote !== undefined && !isSameKey(kind, field));

/** The sent fields that a record shows with another value. */
export function alteredFields(kind: Kind, payload: JsonObject, record: JsonObject) {
  return sentFields(kind, payload, record).flatMap((field) => {
    const { name, sent, remote } = field;
    return remote === undefined || isShownAsSent(kind, field) ? [] : [{ field: name, sent, shown: remote }];
  });
}

function sentFields(kind: Kind, payload: JsonObject, record: JsonObject): readonly SentField[] {
  return Object.entries(payload).map(([writeName, sent]) => {
    const name = readNameOf(kind, writeName);
    return { name, sent, remote: shownValue(kind, record, name) };
  });
}
