import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordId } from '../../src/diff/record-id.ts';
import { parseJson } from '../../src/lib/json.ts';

const LARGEST = 2n ** 63n - 1n;
const idOf = (token: string) => recordId(parseJson(`{"id":${token}}`));
const near = (value: bigint) => fc.bigInt(value - 3n, value + 3n);

test('C03: every id from 1 to 2^63-1 is itself, as number and as text', () => {
  const ids = fc.oneof(
    fc.bigInt(1n, LARGEST),
    fc.bigInt(LARGEST - 9n, LARGEST),
    near(2n ** 53n),
    fc.bigInt(1n, 9n),
  );
  fc.assert(
    fc.property(ids, (id) => {
      expect(idOf(String(id))).toEqual({ id: String(id) });
      expect(idOf(`"${id}"`)).toEqual({ id: String(id) });
    }),
    { numRuns: 1000 },
  );
});

test('C03: every larger id is quarantined with its token', () => {
  const ids = fc.oneof(
    fc.bigInt(LARGEST + 1n, LARGEST + 9n),
    fc.bigInt(LARGEST + 1n, 10n ** 30n),
    near(2n ** 64n),
  );
  fc.assert(
    fc.property(ids, (id) => {
      expect(idOf(String(id))).toEqual({ fault: 'id_too_large', token: String(id) });
      expect(idOf(`"${id}"`)).toEqual({ fault: 'id_too_large', token: String(id) });
    }),
    { numRuns: 1000 },
  );
});

test.each(['{}', '{"id":null}', '{"id":""}', '{"Id":7}', '{"a":{"id":7}}', '{"__proto__":{"id":7}}'])(
  'C01: %s has no id',
  (text) => {
    expect(recordId(parseJson(text))).toEqual({ fault: 'no_id', token: null });
  },
);

test.each([
  ['7', { id: '7' }],
  ['"7"', { id: '7' }],
  ['"07"', { fault: 'id_not_an_integer', token: '07' }],
  ['7.0', { fault: 'id_not_an_integer', token: '7.0' }],
  ['"7.0"', { fault: 'id_not_an_integer', token: '7.0' }],
  ['1e2', { fault: 'id_not_an_integer', token: '1e2' }],
  ['"1e2"', { fault: 'id_not_an_integer', token: '1e2' }],
  ['0', { fault: 'id_not_an_integer', token: '0' }],
  ['-0', { fault: 'id_not_an_integer', token: '-0' }],
  ['-7', { fault: 'id_not_an_integer', token: '-7' }],
  ['" 7"', { fault: 'id_not_an_integer', token: ' 7' }],
  ['"7 "', { fault: 'id_not_an_integer', token: '7 ' }],
  ['"7\\n"', { fault: 'id_not_an_integer', token: '7\n' }],
  ['"+7"', { fault: 'id_not_an_integer', token: '+7' }],
  ['"٧"', { fault: 'id_not_an_integer', token: '٧' }],
  ['"0x7"', { fault: 'id_not_an_integer', token: '0x7' }],
  ['"abc"', { fault: 'id_not_an_integer', token: 'abc' }],
  ['true', { fault: 'id_not_an_integer', token: '' }],
  ['[7]', { fault: 'id_not_an_integer', token: '' }],
  ['{"id":7}', { fault: 'id_not_an_integer', token: '' }],
])('C02: the id %s is read as %j', (token, expected) => {
  expect(idOf(token)).toEqual(expected);
});

test.each(['null', '7', '"7"', '1.5', 'true', '[]', '[{"id":7}]'])('C11: %s is no record', (text) => {
  expect(recordId(parseJson(text))).toEqual({ fault: 'not_a_record', token: null });
});
