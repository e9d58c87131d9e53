import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import type { SeenNames } from '../mirror/kinds/field-store.ts';
import type { Operation } from '../mirror/outbox/outbox-store.ts';
import { LARGEST_BOUND, LARGEST_INTEGER, LEAST_BOUND, patternUpTo } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';

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

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Schemas of fields by their names; false = the name is not taken. */
type Properties = Readonly<Record<string, JsonSchema | false>>;

/** The fields of a write by the names of a read and those of a write; a name of a write goes first. */
function propertiesOf({ fields, hints }: Kind, seen: ReadonlySet<string>): Properties {
  const documented = fields.filter(({ name }) => name !== 'id');
  const hinted = [...hints.flatMap(spellingsOf), ...seen].filter((name) => name !== 'id');
  return {
    ...Object.fromEntries(hinted.map((name) => [name, ANY])),
    ...Object.fromEntries(documented.map((field) => [field.name, valueOf(field)])),
    ...Object.fromEntries(documented.map((field) => [field.write?.name ?? field.name, valueOf(field)])),
  };
}

const spellingsOf = ({ name, write }: Field): readonly string[] => [name, write?.name ?? name];

/** A field that has two names is written under one of them: one set of properties for each choice. */
function spelledOnce({ fields }: Kind, all: Properties): readonly Properties[] {
  const pairs = fields.map(spellingsOf).filter(([read, write]) => read !== write);
  let choices: readonly Properties[] = [all];
  for (const names of pairs)
    choices = choices.flatMap((some) => names.map((other): Properties => ({ ...some, [other]: false })));
  return choices;
}

const OTHERS = {
  none: { additionalProperties: false },
  any: { propertyNames: { pattern: '^(?!id$)[^\\u0000]+$' }, additionalProperties: ANY },
};

/** The fields of a kind that are documented, hinted or seen, with or without any others. */
function fieldsOf(kind: Kind, seen: ReadonlySet<string>, others: keyof typeof OTHERS): JsonSchema {
  const shapes = spelledOnce(kind, propertiesOf(kind, seen)).map((properties) => ({
    ...{ type: 'object', minProperties: 1, properties, ...OTHERS[others] },
  }));
  const known = `fields of ${kind.name} that are documented or were seen`;
  const description = others === 'none' ? known : `${known}, and any others`;
  const [only = {}, ...more] = shapes;
  return { description, ...(more.length === 0 ? only : { anyOf: shapes }) };
}

const componentOf = ({ name }: Kind): string => `Fields_${name}`;
const openComponentOf = ({ name }: Kind): string => `AnyFields_${name}`;

const isWritable = ({ create, update }: Kind): boolean => create !== null || update !== null;

/** The fields of each kind that can be written, by the names of their components. */
export function fieldComponents(kinds: readonly Kind[], seen: SeenNames): Schemas {
  const components = kinds.filter(isWritable).map((kind) => {
    const names = seen.get(kind.name) ?? new Set<string>();
    return {
      [componentOf(kind)]: fieldsOf(kind, names, 'none'),
      [openComponentOf(kind)]: fieldsOf(kind, names, 'any'),
    };
  });
  return Object.assign({}, ...components) as Schemas;
}

interface ChangeShape {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly allowsUnknown: boolean;
}

function changeOf({ kind, operation, allowsUnknown }: ChangeShape, id: JsonSchema): JsonSchema {
  const isUpdate = operation === 'update';
  const base = { type: ['object', 'null'], description: 'the record as seen before the update' };
  const component = allowsUnknown ? openComponentOf(kind) : componentOf(kind);
  const title = `${operation} ${kind.name}${allowsUnknown ? ', with fields that nobody knows' : ''}`;
  return {
    ...{ type: 'object', title, additionalProperties: false },
    properties: {
      operation: { const: operation },
      kind: { const: kind.name },
      id: isUpdate ? id : NONE,
      data: { $ref: `#/components/schemas/${component}` },
      base: isUpdate ? base : NONE,
      allowUnknown: { const: allowsUnknown },
      allowDouble: { type: 'boolean' },
    },
    required: [
      ...['operation', 'kind', 'data'],
      ...(isUpdate ? ['id'] : []),
      ...(allowsUnknown ? ['allowUnknown'] : []),
    ],
  };
}

/** The body of a create or an update, kind by kind; `id` is the schema of a record's id. */
export function changeBody(kinds: readonly Kind[], id: JsonSchema): JsonSchema {
  const shapes = kinds.flatMap((kind) =>
    (['create', 'update'] as const)
      .filter((operation) => kind[operation] !== null)
      .flatMap((operation) => [false, true].map((allowsUnknown) => ({ kind, operation, allowsUnknown }))),
  );
  return { oneOf: shapes.map((shape) => changeOf(shape, id)) };
}
