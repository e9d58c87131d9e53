import * as z from 'zod';
import { PLAIN_TYPES, listReadyFiles } from '../../catalog/declared-kinds.ts';
import { AUTH_HEADERS, ORDERS, PAGINGS } from '../../catalog/kind.ts';
import { mapOf, setting, nullableSetting } from './setting.ts';
import { kindField, path, pathWithId } from './value-types.ts';

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
    fields: mapOf(fieldType),
  },
  'a map with list, and the other properties of the kind',
);

export const kinds = setting(
  mapOf(furtherKind),
  'Further record kinds: name to list, retrieve, header, paging, order, naturalKey and fields.',
);

const READY_FILES = listReadyFiles();
const READY = `a list of ${READY_FILES.join(', ')}`;

export const includeKinds = setting(
  z.array(z.enum(READY_FILES, READY), READY).default([]),
  'Ready files of further record kinds (config/kinds): shop has the lists that the service does not document.',
);
