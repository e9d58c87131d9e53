import { isArray, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import type { Field, Kind } from './kind.ts';

/** The kind without the fields that the setting `privacy.exclude` names; no table, view or decoder knows them then. */
export function excludeFields<K extends Kind>(kind: K, names: readonly string[]): K {
  if (names.length === 0) return kind;
  const isExcluded = ({ name }: Field): boolean => names.includes(name);
  const known = [...kind.fields, ...kind.hints];
  return {
    ...kind,
    fields: kind.fields.filter((field) => !isExcluded(field)),
    hints: kind.hints.filter((field) => !isExcluded(field)),
    excluded: names.map((name) => known.find((field) => field.name === name) ?? { name, type: 'text' }),
  };
}

/** Whether a name, of a read or of a write, is that of an excluded field. */
export function isExcludedName({ excluded = [] }: Kind, name: string): boolean {
  return excluded.some((field) => field.name === name || field.write?.name === name);
}

/** A record, or any other value in its place, without the kind's excluded fields. */
export function withoutExcluded<Value extends Json>(kind: Kind, record: Value): Value | JsonObject {
  if (kind.excluded === undefined || !isObject(record)) return record;
  const names = Object.keys(record);
  if (!names.some((name) => isExcludedName(kind, name))) return record;
  const kept = names.filter((name) => !isExcludedName(kind, name));
  return Object.fromEntries(kept.map((name) => [name, record[name] ?? null]));
}

/** An answer's body without them, however its record is wrapped. */
export function bodyWithoutExcluded(kind: Kind, body: Json): Json {
  if (isArray(body)) return body.map((record) => withoutExcluded(kind, record));
  if (!isObject(body)) return body;
  const { data } = body;
  const bare = withoutExcluded(kind, body);
  return data === undefined ? bare : { ...bare, data: bodyWithoutExcluded(kind, data) };
}
