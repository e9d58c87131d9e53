import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { parseJson } from '../../../src/lib/json.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { validateEntry } from '../../../src/outbound/intake/validate-entry.ts';
import { STORABLE, changeBody, fieldComponents } from '../../../src/server/openapi/change-body.ts';
import { NASTY_VALUES } from '../../support/nasty-values.ts';

/** The description of a change, as a checker of JSON Schema understands it. */
const DESCRIBED = z.fromJSONSchema(
  JSON.parse(
    JSON.stringify({
      ...changeBody(KINDS, { type: 'string', pattern: '^[1-9][0-9]{0,17}$' }),
      $defs: { Storable: STORABLE, ...fieldComponents(KINDS) },
    }).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as z.core.JSONSchema.JSONSchema,
);

const WRITABLE = KINDS.filter(({ create, update }) => create ?? update);

/** Half of a pair of characters is no Unicode, of which a description speaks; nested values are drawn apart. */
const isDescribable = (one: unknown): boolean =>
  typeof one === 'string' ? !/\p{Surrogate}/u.test(one) : typeof one !== 'object';

const value = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, 0, 1, -1, 7.5, '', '0', '1', '01', '-7', '9223372036854775807', true, false],
  ),
  fc.constantFrom<unknown>(
    ...[
      '9223372036854775808',
      '12.50',
      '-0.5',
      '1e3',
      '1E-3',
      '.5',
      '2026-02-29',
      '2028-02-29',
      '2026-12-31',
      '0000-00-00',
    ],
  ),
  fc.constantFrom<unknown>(
    ...['08:30', '08:30:00', '08:30:15', '24:00', '2026-03-01 12:00:00', '2026-03-01T12:00:00', '2026-03-01'],
  ),
  fc.constantFrom<unknown>(
    ...['0000-00-00 00:00:00', [], {}, [{ id: 1 }], ['a\u0000'], 'a text', 'nul\u0000', { a: { b: 'c' } }],
  ),
  fc.constantFrom<unknown>(...NASTY_VALUES.filter(isDescribable)),
);

const change = fc.constantFrom(...WRITABLE).chain((kind) => {
  const names = kind.fields.map((field) => field.write?.name ?? field.name);
  const data = fc.dictionary(fc.constantFrom(...names, 'undocumented', ''), value, { maxKeys: 2 });
  const known = { kind: fc.constant(kind.name), data };
  return fc.oneof(
    fc.record({ ...known, operation: fc.constant('create') }),
    fc.record({ ...known, operation: fc.constant('update'), id: fc.constant('7') }),
    fc.record(
      {
        ...{
          operation: fc.constantFrom('create', 'update'),
          kind: fc.constantFrom(kind.name, 'departments'),
          data,
        },
        id: fc.constantFrom(null, '7', '07', ''),
        base: fc.constantFrom<unknown>(null, {}, { name: 'Ada' }, []),
      },
      { requiredKeys: ['operation', 'kind', 'data'] },
    ),
  );
});

test('what the description takes can be stored, and what it does not take cannot', () => {
  const taken = { yes: 0, no: 0 };
  fc.assert(
    fc.property(change, (drawn) => {
      const asked = parseJson(JSON.stringify(drawn)) as JsonObject;
      const { operation, kind, id, data, base } = asked;
      const isValid = 'ok' in validateEntry(KINDS, { operation, kind, id, data, base });
      expect([drawn, DESCRIBED.safeParse(JSON.parse(JSON.stringify(drawn))).success]).toEqual([
        drawn,
        isValid,
      ]);
      taken[isValid ? 'yes' : 'no']++;
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(100);
});
