import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import type { Operation } from '../../mirror/outbox/outbox-store.ts';
import { LARGEST_BOUND, LARGEST_INTEGER, LEAST_BOUND, patternUpTo } from './whole-numbers.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT: JsonSchema = { type: 'string', pattern: '^[^\\u0000]*$' };
const NUMBER: JsonSchema = { type: 'number' };
const NONE: JsonSchema = { type: 'null' };
const BLANK = ['', '0000-00-00'];
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const INTEGER = `^(?:0|-?(?:${patternUpTo(LARGEST_INTEGER)})|-9223372036854775808)$`;

const ANY: JsonSchema = { $ref: '#/components/schemas/Storable' };
const ARRAY: JsonSchema = { type: 'array', items: ANY };
const OBJECT: JsonSchema = { type: 'object', propertyNames: TEXT, additionalProperties: ANY };

/** Any JSON that a database keeps. */
export const STORABLE: JsonSchema = {
  anyOf: [NONE, { type: 'boolean' }, NUMBER, TEXT, ARRAY, OBJECT],
};

const DATE: JsonSchema = { type: 'string', format: 'date' };
const DAY_OF_ANY_YEAR =
  '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])';
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00)';
const DAY = `(?:[1-9][0-9]{3}-(?:${DAY_OF_ANY_YEAR})|${LEAP_YEAR}-02-29)`;

/** The values that each type accepts in a write, as `outbound/intake/write-value.ts` checks them. */
const VALUES: Readonly<Record<FieldType, (field: Field) => readonly (JsonSchema | undefined)[]>> = {
  integer: () => [
    { type: 'integer', minimum: LEAST_BOUND, maximum: LARGEST_BOUND },
    { type: 'string', pattern: INTEGER },
  ],
  flag: () => [{ enum: [0, 1, '0', '1', false, true] }],
  decimal: () => [NUMBER, { type: 'string', pattern: '^(?:-?[0-9]+(?:[.][0-9]+)?)?$' }],
  date: () => [DATE, { enum: BLANK }],
  time: ({ write }) => [
    { enum: [''] },
    { type: 'string', pattern: `^${TIME}${write?.as === 'HH:MM' ? '(?::00)?' : '(?::[0-5][0-9])?'}$` },
  ],
  timestamp: () => [
    { type: 'string', pattern: `^${DAY}[ T]${TIME}:[0-5][0-9]$` },
    { enum: [...BLANK, '0000-00-00 00:00:00'] },
  ],
  text: () => [TEXT, NUMBER],
  json: ({ items }) => (items === undefined ? [ANY] : [ARRAY, OBJECT]),
};

function valueOf(field: Field): JsonSchema {
  return { anyOf: [NONE, ...VALUES[field.type](field)] };
}

/** The fields of a kind by the names of a write; the names of a read are accepted too, and other names are sent unchanged. */
function fieldsOf({ name, fields }: Kind): JsonSchema {
  const written = fields.filter((field) => field.name !== 'id');
  return {
    ...{ type: 'object', minProperties: 1, description: `fields of ${name}` },
    propertyNames: { pattern: '^(?!id$)[^\\u0000]+$' },
    properties: Object.fromEntries(written.map((field) => [field.write?.name ?? field.name, valueOf(field)])),
    additionalProperties: ANY,
  };
}

const componentOf = ({ name }: Kind): string => `Fields_${name}`;

const isWritable = ({ create, update }: Kind): boolean => create !== null || update !== null;

/** The fields of each kind that can be written, by the names of their components. */
export function fieldComponents(kinds: readonly Kind[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(kinds.filter(isWritable).map((kind) => [componentOf(kind), fieldsOf(kind)]));
}

function changeOf(kind: Kind, operation: Operation, id: JsonSchema): JsonSchema {
  const isUpdate = operation === 'update';
  const base = { type: ['object', 'null'], description: 'the record as seen before the update' };
  return {
    ...{ type: 'object', title: `${operation} ${kind.name}`, additionalProperties: false },
    properties: {
      operation: { const: operation },
      kind: { const: kind.name },
      id: isUpdate ? id : NONE,
      data: { $ref: `#/components/schemas/${componentOf(kind)}` },
      base: isUpdate ? base : NONE,
    },
    required: ['operation', 'kind', 'data', ...(isUpdate ? ['id'] : [])],
  };
}

/** The body of a create or an update, kind by kind; `id` is the schema of a record's id. */
export function changeBody(kinds: readonly Kind[], id: JsonSchema): JsonSchema {
  const operations = ['create', 'update'] as const;
  return {
    oneOf: kinds.flatMap((kind) =>
      operations.filter((name) => kind[name] !== null).map((name) => changeOf(kind, name, id)),
    ),
  };
}
