import { LosslessNumber } from 'lossless-json';
import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import { atScale, shortestNumber } from '../lib/decimal.ts';
import { isNumber } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';

const MINUTE_TIME = /^\d\d:\d\d$/;
const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * Turns the body of a write into fields as they are stored and read: write names into read names (§2.2), `HH:MM`
 * into `HH:MM:SS` (§4.7), numbers sent as text into numbers (§2.5). A field that the kind does not know is kept as sent.
 */
export function writtenFields(kind: Kind, body: JsonObject): JsonObject {
  const fields = [...kind.fields, ...kind.hints];
  const stored = Object.entries(body).flatMap(([name, value]) => {
    const field = fields.find((candidate) => writeName(candidate) === name);
    if (field) return [[field.name, storedValue(kind, field, value)] as const];
    const isReadName = fields.some((candidate) => candidate.name === name);
    return isReadName ? [] : [[name, value] as const]; // A write by the read name is ignored.
  });
  return Object.fromEntries(stored.filter(([name]) => name !== 'id'));
}

const writeName = (field: Field): string => field.write?.name ?? field.name;

/** How the service stores a value; a text that does not fit the field is stored as sent. */
const STORED: Partial<Record<FieldType, (text: string, field: Field) => Json>> = {
  time: (text) => (MINUTE_TIME.test(text) ? `${text}:00` : text),
  integer: (text) => (WHOLE_NUMBER.test(text) ? Number(text) : text),
  flag: (text) => (WHOLE_NUMBER.test(text) ? Number(text) : text),
  decimal: (text, { scale = 0 }) => {
    const shortest = shortestNumber(text);
    return shortest === null ? text : atScale(shortest, scale);
  },
};

function storedValue(kind: Kind, field: Field, value: Json): Json {
  const store = STORED[field.type];
  if (!store || (typeof value !== 'string' && !isNumber(value))) return value;
  const stored = store(String(value), field);
  const isNumberHere = kind.name === 'providers' && field.name === 'credit'; // §2.4: a JSON number, alone of all money.
  return isNumberHere && typeof stored === 'string' && stored !== '' ? new LosslessNumber(stored) : stored;
}
