import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { KINDS } from '../../src/catalog/catalog.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { validateEntry } from '../../src/outbound/intake/validate-entry.ts';
import { STORABLE, changeBody, fieldComponents } from '../../src/server/change-body.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';

const SEEN = new Map([['clients', new Set(['id', 'code', 'vip'])]]);

/** The description of a change, as a checker of JSON Schema understands it. */
const DESCRIBED = z.fromJSONSchema(
  JSON.parse(
    JSON.stringify({
      ...changeBody(KINDS, { type: 'string', pattern: '^[1-9][0-9]{0,17}$' }),
      $defs: { Storable: STORABLE, ...fieldComponents(KINDS, SEEN) },
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

/** The description takes one spelling of a field; the check takes both if they say the same. */
const hasBoth = (drawn: object, read: string, write: string): boolean =>
  read !== write && Object.hasOwn(drawn, read) && Object.hasOwn(drawn, write);

const change = fc.constantFrom(...WRITABLE).chain((kind) => {
  const fields = [...kind.fields, ...kind.hints];
  const names = fields.flatMap(({ name, write }) => [name, write?.name ?? name]);
  const data = fc
    .dictionary(fc.constantFrom(...names, 'vip', 'unknown', ''), value, { maxKeys: 2 })
    .filter((drawn) => fields.every(({ name, write }) => !hasBoth(drawn, name, write?.name ?? name)));
  const allowUnknown = fc.constantFrom<unknown>(true, false, null, 1);
  const known = { kind: fc.constant(kind.name), data, allowUnknown };
  return fc.oneof(
    fc.record(
      { ...known, operation: fc.constant('create') },
      { requiredKeys: ['operation', 'kind', 'data'] },
    ),
    fc.record(
      { ...known, operation: fc.constant('update'), id: fc.constant('7') },
      { requiredKeys: ['operation', 'kind', 'data', 'id'] },
    ),
    fc.record(
      {
        ...{
          operation: fc.constantFrom('create', 'update'),
          kind: fc.constantFrom(kind.name, 'departments'),
          ...{ data, allowUnknown },
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
      const { operation, kind, id, data, base, allowUnknown } = asked;
      const isValid = 'ok' in validateEntry(KINDS, { operation, kind, id, data, base, allowUnknown }, SEEN);
      expect([drawn, DESCRIBED.safeParse(JSON.parse(JSON.stringify(drawn))).success]).toEqual([
        drawn,
        isValid,
      ]);
      taken[isValid ? 'yes' : 'no']++;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(50);
});

test('the description takes a field of two names under either name, not under both', () => {
  const takes = (data: object): boolean =>
    DESCRIBED.safeParse({ operation: 'create', kind: 'projects', data }).success;
  expect([{ nom: 'a' }, { name: 'a' }, { nom: 'a', name: 'b' }].map(takes)).toEqual([true, true, false]);
});
