import { z } from 'zod';
import { kindNamed } from '../../catalog/catalog.ts';
import type { AuthHeader, Field, ListEndpoint } from '../../catalog/kind.ts';
import { mapOf, setting } from '../setting.ts';
import { fieldName, kindName, path, pathWithId } from '../value-types.ts';

const TYPES = [
  'integer',
  'flag',
  'date',
  'time',
  'timestamp',
  'text',
  'json',
] as const satisfies Field['type'][];
const HEADERS = ['Authentication', 'Authorization', 'Authentification'] as const satisfies AuthHeader[];
const PAGINGS = ['documented', 'by answer'] as const satisfies ListEndpoint['paging'][];

const fieldType = z.union(
  [z.enum(TYPES), z.templateLiteral(['decimal(', z.int().min(0), ')'])],
  `${TYPES.join(', ')} or decimal(PLACES)`,
);

/** The name of a record kind that the catalogue does not have yet. */
const newKindName = kindName.refine(
  (name) => kindNamed(name) === undefined,
  'a name that no record kind of the catalogue bears',
);

/** A further record kind: what the catalogue says about its own, as far as reading needs it. */
const furtherKind = z.strictObject(
  {
    list: path,
    retrieve: pathWithId,
    header: z.enum(HEADERS, HEADERS.join(', ')).default('Authorization'),
    paging: z.enum(PAGINGS, PAGINGS.join(' or ')).default('by answer'),
    fields: mapOf(fieldName, fieldType),
  },
  'a map with list, retrieve and fields',
);

export const kinds = setting(
  mapOf(newKindName, furtherKind),
  'Further record kinds: name to list, retrieve, header, paging and fields.',
  { inForce: false },
);
