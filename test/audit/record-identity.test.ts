import { LosslessNumber } from 'lossless-json';
import { expect, test } from 'vitest';
import { sortRecords } from '../../src/audit/record-identity.ts';
import type { Json } from '../../src/lib/json/json.ts';

const idsOf = (records: readonly Json[]) => {
  const { known, unusable } = sortRecords(records);
  return { known: known.map(({ id }) => id), unusable: unusable.map(({ id }) => id) };
};

test('a record is known by a whole number from 1 to 2^63-1, as number or text (C01, C03)', () => {
  const usable = [1, '2', new LosslessNumber('9223372036854775807')];
  expect(idsOf(usable.map((id) => ({ id })))).toEqual({
    known: ['1', '2', '9223372036854775807'],
    unusable: [],
  });
  const not = [0, -1, '07', '', null, true, [1], new LosslessNumber('7.0'), '9223372036854775808'];
  const records: Json[] = [...not.map((id) => ({ id })), {}, 'a text', 7, null, []];
  expect(idsOf(records)).toEqual({ known: [], unusable: records.map(() => null) });
});

test('a record that came twice is one, unless its versions differ (A18)', () => {
  const twice = [
    { id: 1, a: 1 },
    { id: 2, a: 1 },
    { id: '1', a: 1 },
    { a: 1, id: 2 },
    { id: 1, a: 2 },
  ];
  expect(idsOf(twice)).toEqual({ known: ['2'], unusable: ['1'] });
});

test('a record nested beyond reason is set aside, with its id', () => {
  let deep: Json = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(idsOf([{ id: 5, deep }, { deep }])).toEqual({ known: [], unusable: ['5', null] });
});
