import * as z from 'zod';
import { AUTH_HEADERS, type Field, type ListEndpoint, type ListOrder } from '../../catalog/kind.ts';
import { mapOf, setting, nullableSetting } from './setting.ts';
import { kindField, path, pathWithId } from './value-types.ts';

export const PLAIN_TYPES = [
  'integer',
  'flag',
  'date',
  'time',
  'timestamp',
  'text',
  'json',
] as const satisfies Field['type'][];
const PAGINGS = ['documented', 'by answer'] as const satisfies ListEndpoint['paging'][];
const ORDERS = [
  'created, oldest first',
  'created, newest first',
  'code',
  'pickup date, newest first',
  'unknown',
] as const satisfies ListOrder[];
const ALL_FIELDS = 'all sent fields';

const MOST_PLACES = 18;
const DECIMALS = Array.from({ length: MOST_PLACES + 1 }, (_, places) => `decimal(${places})` as const);

const FIELD_TYPE = `${PLAIN_TYPES.join(', ')} or decimal(PLACES), PLACES from 0 to ${MOST_PLACES}, or reference(KIND)`;
const fieldType = z.union(
  [
    z.enum([...PLAIN_TYPES, ...DECIMALS]),
    z.templateLiteral(['reference(', z.string().regex(/^[a-z][a-z0-9_]*$/), ')']),
  ],
  FIELD_TYPE,
);
const NATURAL_KEY = `a list of field names, or ${ALL_FIELDS}`;
const naturalKey = z.union([z.literal(ALL_FIELDS), z.array(kindField).min(1, NATURAL_KEY)], NATURAL_KEY);

/** A further record kind: the properties that the catalogue gives its own kinds, as far as reading needs them. */
const furtherKind = z.strictObject(
  {
    list: path,
    retrieve: nullableSetting(pathWithId),
    header: z.enum(AUTH_HEADERS, AUTH_HEADERS.join(', ')).default('Authorization'),
    paging: z.enum(PAGINGS, PAGINGS.join(' or ')).default('by answer'),
    order: z.enum(ORDERS, ORDERS.map((order) => `"${order}"`).join(', ')).default('unknown'),
    naturalKey: naturalKey.default(ALL_FIELDS),
    fields: mapOf(z.string(), fieldType),
  },
  'a map with list, and the other properties of the kind',
);

/** Keys are any text here: `furtherKindFaults` judges names, so that a wrong name does not hide faults below it. */
export const kinds = setting(
  mapOf(z.string(), furtherKind),
  'Further record kinds: name to list, retrieve, header, paging, order, naturalKey and fields.',
);
