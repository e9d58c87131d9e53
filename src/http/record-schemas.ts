import { named } from '../lib/json/document.ts';
import type { Field, FieldType, Kind } from '../catalog/kind.ts';

/** The JSON of a value by its type in the catalogue: the service also sends numbers as text, and takes them so. */
const TYPES: Readonly<Record<FieldType, readonly string[]>> = {
  integer: ['integer', 'string', 'null'],
  flag: ['integer', 'boolean', 'string', 'null'],
  decimal: ['number', 'string', 'null'],
  date: ['string', 'null'],
  time: ['string', 'null'],
  timestamp: ['string', 'null'],
  text: ['string', 'null'],
  json: ['array', 'object', 'null'],
};

const JSON_REF = named('Json');

const NO_LIST = [
  { type: 'object', additionalProperties: JSON_REF },
  { type: ['string', 'number', 'boolean', 'null'] },
];
/** Any JSON, as clients can read it. TypeScript refuses a list that refers to itself. */
const ANY_JSON: object = {
  anyOf: [...NO_LIST, { type: 'array', items: { anyOf: [...NO_LIST, { type: 'array' }] } }],
};

/** The schemas that the routes name: `Record` as the service sends it, `Data` as a write takes it, one of each kind, and `Json`. */
export function recordSchemas(kinds: readonly Kind[]) {
  const written = kinds.filter((kind) => kind.create !== null || kind.update !== null);
  const records = kinds.map((kind) => [kind.name, objectOf(kind, (field) => field.name)] as const);
  const data = written.map(
    (kind) => [`${kind.name}_data`, objectOf(kind, (field) => field.write?.name ?? field.name)] as const,
  );
  const oneOf = (schemas: readonly (readonly [name: string, schema: object])[]) => ({
    anyOf: schemas.map(([name]) => named(name)),
  });
  return {
    ...Object.fromEntries([...records, ...data]),
    Record: oneOf(records),
    Data: oneOf(data),
    Json: ANY_JSON,
  };
}

function objectOf({ fields, hints, excluded = [] }: Kind, nameOf: (field: Field) => string) {
  const names = new Set(excluded.map((field) => field.name));
  const shown = [...fields, ...hints].filter((field) => !names.has(field.name));
  return objectWith(shown.map((field) => [nameOf(field), valueOf(field)]));
}

/** A service sends more than it documents. */
const objectWith = (members: readonly (readonly [string, object])[]) =>
  ({ type: 'object', properties: Object.fromEntries(members), additionalProperties: JSON_REF }) as const;

function valueOf({ type, items }: Field): object {
  if (type !== 'json') return { type: TYPES[type] };
  const element = items ? objectWith(items.map((item) => [item.name, valueOf(item)])) : JSON_REF;
  return { type: TYPES.json, items: element, additionalProperties: JSON_REF };
}
