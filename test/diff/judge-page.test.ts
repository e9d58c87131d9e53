import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { isOvertaken, judge, sortPage } from '../../src/diff/judge-page.ts';
import { compactJson, parseJson } from '../../src/lib/json.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';

const CLIENTS: Kind = kindNamed('clients') ?? expect.fail('no clients');
const page = (text: string) => parseJson(text) as readonly Json[];
const sort = (text: string) => {
  const { incoming, quarantined } = sortPage(page(text));
  return {
    incoming: incoming.map(({ id, raw }) => `${id} ${raw}`),
    quarantined: quarantined.map(({ id, code, raw }) => `${id ?? '-'} ${code} ${raw}`),
  };
};

/** A record with containers inside each other, itself counted. */
function nested(levels: number, open: '[' | '{"a":'): Json {
  const close = open === '[' ? ']' : '}';
  return parseJson(`{"id":7,"deep":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`);
}

/** Nesting that no parser was asked for. */
function abyss(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return { id: 7, value };
}

describe('sortPage', () => {
  test('keeps good records in their order, each with its text as received', () => {
    expect(sort('[{"id":9,"credit":10.00}, {"id":"7","b":1,"a":2},{"id":8}]')).toEqual({
      incoming: ['9 {"id":9,"credit":10.00}', '7 {"id":"7","b":1,"a":2}', '8 {"id":8}'],
      quarantined: [],
    });
  });

  test('an empty page is empty', () => {
    expect(sortPage([])).toEqual({ incoming: [], quarantined: [] });
  });

  test('C11: a poison row at any position costs only itself', () => {
    const poisons: [Json, string][] = [
      [null, '- not_a_record null'],
      [7, '- not_a_record 7'],
      ['text', '- not_a_record "text"'],
      [[{ id: 7 }], '- not_a_record [{"id":7}]'],
      [{}, '- no_id {}'],
      [{ id: null }, '- no_id {"id":null}'],
      [{ id: '07' }, '07 id_not_an_integer {"id":"07"}'],
      [parseJson('{"id":7.0}'), '7.0 id_not_an_integer {"id":7.0}'],
      [
        parseJson('{"id":9223372036854775808}'),
        '9223372036854775808 id_too_large {"id":9223372036854775808}',
      ],
      [nested(65, '['), '7 too_deep '],
      [abyss(10_000), '7 too_deep '],
    ];
    const good = [1, 2, 3, 4].map((id) => ({ id, note: 'a\0b' }));
    for (const [poison, expected] of poisons)
      for (let at = 0; at <= good.length; at++) {
        const { incoming, quarantined } = sortPage([...good.slice(0, at), poison, ...good.slice(at)]);
        expect(incoming.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
        expect(quarantined.map(({ id, code, raw }) => `${id ?? '-'} ${code} ${raw}`)).toEqual([expected]);
      }
  });

  test.each(['[', '{"a":'] as const)('B14: 64 levels of %s pass, 65 do not', (open) => {
    expect(sortPage([nested(64, open)])).toMatchObject({ incoming: [{ id: '7' }], quarantined: [] });
    expect(sortPage([nested(65, open)])).toEqual({
      incoming: [],
      quarantined: [{ id: '7', code: 'too_deep', raw: '' }],
    });
  });

  test('B14: 200,000 levels do not cost the page', () => {
    const { incoming, quarantined } = sortPage([{ id: 1 }, abyss(200_000), { id: 2 }]);
    expect([incoming.map(({ id }) => id), quarantined.length]).toEqual([['1', '2'], 1]);
  });

  test.each<[string, string[], string[]]>([
    ['[{"id":7,"a":1},{"id":7,"a":1}]', ['7 {"id":7,"a":1}'], []],
    ['[{"id":7,"a":1},{"id":8},{"id":7,"a":1}]', ['7 {"id":7,"a":1}', '8 {"id":8}'], []],
    [
      '[{"id":7,"a":1},{"id":8},{"id":7,"a":2}]',
      ['8 {"id":8}'],
      ['7 two_versions {"id":7,"a":1}', '7 two_versions {"id":7,"a":2}'],
    ],
    [
      '[{"id":7},{"id":7},{"id":7,"a":2}]',
      [],
      ['7 two_versions {"id":7}', '7 two_versions {"id":7}', '7 two_versions {"id":7,"a":2}'],
    ],
    ['[{"id":7},{"id":"7"}]', [], ['7 two_versions {"id":7}', '7 two_versions {"id":"7"}']],
    ['[{"id":7},{"id":"07"}]', ['7 {"id":7}'], ['07 id_not_an_integer {"id":"07"}']],
    [
      '[{"id":9007199254740992},{"id":9007199254740993}]',
      ['9007199254740992 {"id":9007199254740992}', '9007199254740993 {"id":9007199254740993}'],
      [],
    ],
  ])('A18, C02: doubles inside a page: %s', (text, incoming, quarantined) => {
    expect(sort(text)).toEqual({ incoming, quarantined });
  });

  test('A18: every record of a page ends in one place', () => {
    const records = fc.record({ id: fc.constantFrom(1, 2, 3, '3', null), a: fc.constantFrom(1, 2) });
    fc.assert(
      fc.property(fc.array(records, { maxLength: 8 }), (rows) => {
        const { incoming, quarantined } = sortPage(rows);
        const versions = (id: string) =>
          rows.filter((row) => String(row.id) === id).map((row) => compactJson(row));
        for (const { id, raw } of incoming) expect(new Set(versions(id))).toEqual(new Set([raw]));
        for (const id of ['1', '2', '3']) {
          const expected = new Set(versions(id)).size > 1 ? versions(id) : [];
          expect(quarantined.filter((row) => row.id === id).map(({ raw }) => raw)).toEqual(expected);
          const kept = new Set(versions(id)).size === 1 ? 1 : 0;
          expect(incoming.filter((row) => row.id === id)).toHaveLength(kept);
        }
        const nameless = rows.filter(({ id }) => id === null).length;
        expect(quarantined.filter(({ code }) => code === 'no_id')).toHaveLength(nameless);
      }),
      { numRuns: 500 },
    );
  });

  test.each([0, 1])('C10: the text of a poison row is cut between characters (shift %i)', (shift) => {
    const { quarantined } = sortPage([{ a: 'x'.repeat(shift) + '🍁'.repeat(2000) }]);
    expect(quarantined[0]?.raw.length).toBeLessThanOrEqual(2000);
    expect(quarantined[0]?.raw).not.toMatch(/\p{Surrogate}/u);
  });

  test.each([
    ['a NUL', 'a\0b'],
    ['a lone surrogate', '\ud800'],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('C10: the id of a poison row can be stored, though it be %s', (_name, id) => {
    const token = sortPage([{ id }]).quarantined[0]?.id ?? '';
    expect(token).not.toMatch(/[\0\p{Surrogate}]/u);
    expect(token.length).toBeLessThanOrEqual(2000);
  });

  test('a page of one record 20,000 times costs no more than its length', () => {
    const started = performance.now();
    expect(sortPage(Array.from({ length: 20_000 }, () => ({ id: 7 }))).incoming).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('judge', () => {
  const incoming = (raw: string) => ({ id: '7', raw, record: parseJson(raw) as JsonObject });

  test.each([
    [null, '{"id":7}', 'created'],
    ['{"id":7,"credit":"1.00"}', '{"id":7,"credit":"1.00"}', 'unchanged'],
    ['{"id":7,"credit":"1.00"}', '{"credit":"1.00","id":7}', 'unchanged'],
    ['{"id":7,"credit":"1.00"}', '{"id":7,"credit":1}', 'unchanged'],
    ['{"id":7}', '{"id":"7"}', 'unchanged'],
    ['{"id":7,"credit":"1.00"}', '{"id":7,"credit":"1.01"}', 'changed'],
    ['{"id":7,"credit":"1.00"}', '{"id":7}', 'changed'],
    ['{"id":7}', '{"id":7,"news":null}', 'changed'],
    ['{"id":7,"name":"null"}', '{"id":7,"name":null}', 'changed'],
    ['{"id":7,"contacts":[{"id":1},{"id":2}]}', '{"id":7,"contacts":[{"id":2},{"id":1}]}', 'changed'],
    ['[]', '{"id":7}', 'changed'],
    ['null', '{"id":7}', 'changed'],
  ])('what is stored as %s and comes as %s is %s', (stored, raw, verdict) => {
    const row = stored === null ? undefined : { raw: stored, response: 1, isDeleted: false };
    expect(judge(CLIENTS, row, incoming(raw)).is).toBe(verdict);
  });

  test('a change names its fields, and gives what was there before', () => {
    const row = { raw: '{"id":7,"credit":"1.00","name":"a"}', response: 1, isDeleted: false };
    expect(judge(CLIENTS, row, incoming('{"id":7,"credit":"1.0","news":1}'))).toEqual({
      is: 'changed',
      fields: ['name', 'news'],
      before: { id: 7, credit: '1.00', name: 'a' },
    });
  });

  test.each(['{"id":7}', '{"id":7,"name":"new"}'])('a deleted row that comes as %s is restored', (raw) => {
    const row = { raw: '{"id":7}', response: 1, isDeleted: true };
    expect(judge(CLIENTS, row, incoming(raw))).toEqual({ is: 'restored' });
  });
});

test.each([
  [undefined, 5, false],
  [4, 5, false],
  [5, 5, false],
  [6, 5, true],
])('a row of response %s has overtaken a request sent at %i: %s', (response, sent, expected) => {
  const row = response === undefined ? undefined : { raw: '{}', response, isDeleted: false };
  expect(isOvertaken(row, sent)).toBe(expected);
});
