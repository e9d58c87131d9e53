import { isArray, isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import type { Field, Kind, Shape } from './kind.ts';

/** Returns the kind without its excluded fields (`privacy.exclude`). They get no column, view or decoder. */
export function excludeFields<K extends Kind>(kind: K, names: readonly string[]): K {
  if (names.length === 0) return kind;
  const isIncluded = ({ name }: Field): boolean => !names.includes(name);
  const fields = [...kind.fields, ...kind.hints];
  return {
    ...kind,
    fields: kind.fields.filter(isIncluded),
    hints: kind.hints.filter(isIncluded),
    excluded: names.map((name) => fields.find((field) => field.name === name) ?? { name, type: 'text' }),
  };
}

export function isExcludedName({ excluded = [] }: Shape, name: string): boolean {
  return excluded.some((field) => field.name === name || field.write?.name === name);
}

/** A record, or any other value in its place, without the kind's excluded fields. */
export function withoutExcluded<Value extends Json>(kind: Kind, record: Value): Value | JsonObject {
  if (kind.excluded === undefined || !isObject(record)) return record;
  const names = Object.keys(record);
  if (!names.some((name) => isExcludedName(kind, name))) return record;
  const includedNames = names.filter((name) => !isExcludedName(kind, name));
  return Object.fromEntries(includedNames.map((name) => [name, record[name] ?? null]));
}

/**
 * The body of an answer to a write without excluded fields at any depth, because an answer may wrap its record in anything. Only
 * the value of a field of the kind stays whole, as it does where a list is read.
 */
export function bodyWithoutExcluded(kind: Kind, body: Json): Json {
  if (isArray(body)) return body.map((item) => bodyWithoutExcluded(kind, item));
  if (!isObject(body)) return body;
  const members = Object.entries(body).filter(([name]) => !isExcludedName(kind, name));
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      findKnownField(kind, name) ? value : bodyWithoutExcluded(kind, value),
    ]),
  );
}

/** Replaces a text that may quote an excluded value. */
export const NOT_SHOWN = '(not shown: privacy.exclude)';

/** Names of members that wrap records or describe an error. */
const ENVELOPE = new Set(['data', 'result', 'results', 'success', 'message', 'error', 'errors']);

/** Keeps only the kind's known, non-excluded fields of an answer. Any other member may quote an excluded value, so it is dropped. */
export function keepKnownFields(kind: Kind, answer: Json): Json {
  if (isArray(answer)) return answer.map((item) => keepKnownFields(kind, item));
  if (!isObject(answer)) return NOT_SHOWN;
  const members = Object.entries(answer).flatMap(([name, value]): [string, Json][] => {
    if (isExcludedName(kind, name)) return [];
    const field = findKnownField(kind, name);
    if (field?.type === 'json') return [[name, bodyWithoutExcluded(kind, value)]];
    if (field !== undefined && !isArray(value) && !isObject(value)) return [[name, value]];
    return field !== undefined || ENVELOPE.has(name) ? [[name, keepKnownFields(kind, value)]] : [];
  });
  return Object.fromEntries(members);
}

function findKnownField(kind: Kind, name: string): Field | undefined {
  return [...kind.fields, ...kind.hints].find((field) => field.name === name || field.write?.name === name);
}
