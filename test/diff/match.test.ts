import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/catalog/kind.ts';
import { alteredFields, hasNaturalKeyOf, hasAllSentValues, naturalKeyOf } from '../../src/diff/match.ts';
import { isNumber, parseJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import { asShown, namedKind, writes } from '../support/written-payloads.ts';
import { tries } from '../support/tiers.ts';

const CLIENTS = namedKind('clients');
const PUNCHES = namedKind('punches');
const BRANDS = namedKind('vehicle_brands');
const PROJECTS = namedKind('projects');

const parse = (text: string) => parseJson(text) as JsonObject;

describe('natural keys', () => {
  test.each([
    ['{"user_id":5,"date":"2026-01-05","start_time":"08:00"}'],
    ['{"start_time":"08:00:00","date":"2026-01-05","user_id":"5"}'],
    ['{"start_time":"8:00:00.000","date":"2026-01-05 00:00:00","user_id":"5"}'],
    ['{"start_time":"08:00:00","date":"2026-01-05","user_id":5.0,"note":"x"}'],
  ])('%s has the key of its punch', (payload) => {
    expect(naturalKeyOf(PUNCHES, parse(payload))).toBe(
      '[["date","2026-01-05"],["start_time","08:00:00"],["user_id","5"]]',
    );
  });

  test('are by the names of a read', () => {
    expect(naturalKeyOf(PROJECTS, { name: 'A "b"' })).toBe('[["nom","A \\"b\\""]]');
  });

  test('are all that was sent where none of the key was, or only a blank', () => {
    expect(naturalKeyOf(CLIENTS, { name: 'A', city: 'B' })).toBe('[["city","B"],["name","A"]]');
    expect(naturalKeyOf(CLIENTS, { code: '', name: 'A', city: null })).toBe('[["name","A"]]');
    expect(naturalKeyOf(BRANDS, { name: 'A', rank: 1 })).toBe('[["name","A"],["rank","1"]]');
    expect(naturalKeyOf(BRANDS, {})).toBe('[]');
  });

  test('that are long are hashed: PostgreSQL indexes no text over 2.7 kB', () => {
    const keys = ['é'.repeat(3000), `${'é'.repeat(3000)}x`].map((code) => naturalKeyOf(CLIENTS, { code }));
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(keys[0]).not.toBe(keys[1]);
    expect(Buffer.byteLength(naturalKeyOf(CLIENTS, { code: '中'.repeat(480) }))).toBeLessThan(2000);
  });

  test('tell apart what is told apart', () => {
    // prettier-ignore
    const keys = [
      '{"code":"a"}', '{"code":"A"}', '{"code":"a b"}', '{"code":"ab"}', '{"code":"007"}', '{"code":7}', '{"name":"a"}',
      '{"code":"1.10"}', '{"code":"1.1"}', '{"code":"1E3"}', '{"code":"1000"}', '{"code":"œ"}', '{"code":"oe"}',
    ];
    expect(new Set(keys.map((key) => naturalKeyOf(CLIENTS, parse(key)))).size).toBe(keys.length);
    const numbers = ['9007199254740992', '9007199254740993', '"9007199254740994"'];
    expect(new Set(numbers.map((id) => naturalKeyOf(PUNCHES, parse(`{"user_id":${id}}`)))).size).toBe(3);
  });

  test.each([
    ['A 1 ', 'a blank at the end'],
    ['A\t1', 'a tab'],
    ['A\u00a01', 'a no-break space'],
    [' A \u200b 1', 'a zero-width space'],
    ['A&nbsp;1', 'an entity'],
    ['A&#32;1', 'the number of a character'],
  ])('of %j is that of "A 1": %s', (code) => {
    expect(naturalKeyOf(CLIENTS, { code })).toBe(naturalKeyOf(CLIENTS, { code: 'A 1' }));
    expect(hasNaturalKeyOf(CLIENTS, { code }, { code: 'A 1' })).toBe(true);
    expect(hasNaturalKeyOf(CLIENTS, { code: 'A 1' }, { code })).toBe(true);
  });

  test('are equal with accents in one sign and in two, and with entities escaped twice', () => {
    expect(hasNaturalKeyOf(CLIENTS, { code: 'É' }, { code: 'E\u0301' })).toBe(true);
    expect(
      hasNaturalKeyOf(CLIENTS, { code: 'N°5 cœur ñ' }, { code: 'N&deg;5 c&oelig;ur &amp;ntilde;' }),
    ).toBe(true);
    expect(hasNaturalKeyOf(CLIENTS, { code: 'ZZ\u00ad-1\u200e' }, { code: 'ZZ-1' })).toBe(true);
    expect(hasNaturalKeyOf(CLIENTS, { code: 'A & B' }, { code: 'A &amp;amp; B' })).toBe(true);
  });

  test('are equal for a number and its own text, and for elements that only differ in blanks', () => {
    expect(naturalKeyOf(BRANDS, parse('{"rank":1.50}'))).toBe(naturalKeyOf(BRANDS, { rank: '1.5' }));
    expect(naturalKeyOf(BRANDS, { list: [{ a: 1, b: null }] })).toBe(
      naturalKeyOf(BRANDS, { list: [{ a: '1' }] }),
    );
  });

  test('are the same for what the service makes of a payload', () => {
    fc.assert(
      fc.property(writes, ({ kind, payload }) => {
        const shown = asShown({ ...kind, fields: kind.fields.map(asRead) }, payload);
        const respelled = Object.entries(payload).map(([name, value]): [string, Json] => [
          name,
          Array.isArray(value) ? value : (shown[name] ?? null), // Elements get members of the service's own.
        ]);
        const turned = Object.fromEntries<Json>(respelled.reverse());
        expect(naturalKeyOf(kind, turned)).toBe(naturalKeyOf(kind, payload));
      }),
    );
  });
});

/** The field under its name in a write. */
function asRead({ write, ...field }: Kind['fields'][number]): Kind['fields'][number] {
  return { ...field, name: write?.name ?? field.name };
}

describe('a record that shows every sent field as it was sent', () => {
  test.each([
    [
      'punches',
      '{"user_id":"5","date":"2026-01-05","start_time":"08:00"}',
      '{"user_id":5,"date":"2026-01-05","start_time":"08:00:00","end_time":null}',
    ],
    ['projects', '{"name":"A"}', '{"nom":"A","code":null}'],
    ['clients', '{"code":"C","credit":"10","address2":"x"}', '{"code":"C","credit":10.00,"adresse2":"x"}'],
    ['clients', '{"code":"C","address2":"x"}', '{"code":"C","address2":"x"}'],
    ['vehicle_brands', '{"name":"A","rank":5}', '{"name":"A","rank":"5"}'],
    ['clients', '{"code":"","name":"A"}', '{"code":null,"name":"A"}'],
  ])('%s: %s is %s', (kind, payload, record) => {
    expect(hasAllSentValues(namedKind(kind), parse(payload), parse(record))).toBe(true);
    expect(alteredFields(namedKind(kind), parse(payload), parse(record))).toEqual([]);
  });

  test("whatever the service's spelling", () => {
    fc.assert(
      fc.property(writes, ({ kind, payload }) => {
        expect(hasAllSentValues(kind, payload, asShown(kind, payload))).toBe(true);
        expect(hasNaturalKeyOf(kind, payload, asShown(kind, payload))).toBe(true);
      }),
      { numRuns: tries(500) },
    );
  });

  test('is never a record with another natural key', () => {
    const both = writes.chain(({ kind, payload }) =>
      fc.record({ kind: fc.constant(kind), payload: fc.constant(payload), at: fc.nat(9) }),
    );
    fc.assert(
      fc.property(both, ({ kind, payload, at }) => {
        const keys = kind.naturalKey === 'all sent fields' ? Object.keys(payload) : kind.naturalKey;
        const shown = asShown(kind, payload);
        const name = keys[at % keys.length] ?? expect.fail();
        const record = { ...shown, [name]: changedValue(shown[name] ?? null) };
        expect(hasAllSentValues(kind, payload, record)).toBe(false);
      }),
    );
  });

  test('is none without content, and none that lacks a field', () => {
    expect(hasAllSentValues(BRANDS, {}, { id: 7 })).toBe(false);
    expect(hasAllSentValues(BRANDS, { name: '' }, { id: 7, name: null })).toBe(false);
    expect(hasAllSentValues(CLIENTS, { code: 'C', name: 'A' }, { id: 7, name: 'A' })).toBe(false);
  });

  test('is never a neighbour of a number beyond 2^53', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 2n }), (id) => {
        const payload = { user_id: new LosslessNumber(String(id)), date: '2026-01-05' };
        const record = (user: bigint) => ({ user_id: new LosslessNumber(String(user)), date: '2026-01-05' });
        expect(hasAllSentValues(PUNCHES, payload, record(id))).toBe(true);
        expect(hasAllSentValues(PUNCHES, payload, record(id + 1n))).toBe(false);
      }),
    );
  });
});

function changedValue(value: Json): Json {
  if (isNumber(value)) return new LosslessNumber(String(BigInt(String(value).split('.')[0] ?? '') + 1n));
  if (typeof value !== 'string') return 'another';
  return /^\d\d:/.test(value) ? '23:59:59' : /^\d{4}-\d\d-/.test(value) ? '1980-01-01' : `${value}1`;
}

describe('a record with the natural key of a payload', () => {
  test('has its fields, whatever else differs', () => {
    expect(hasNaturalKeyOf(CLIENTS, { code: 'C', name: 'A' }, { code: 'C', name: 'B' })).toBe(true);
    expect(hasNaturalKeyOf(CLIENTS, { code: 'C', name: 'A' }, { code: 'c', name: 'A' })).toBe(false);
    expect(
      hasNaturalKeyOf(PUNCHES, { user_id: '5', start_time: '08:00' }, { user_id: 5, start_time: '08:00:00' }),
    ).toBe(true);
  });

  test('has all sent fields where none of the key was sent', () => {
    expect(hasNaturalKeyOf(CLIENTS, { name: 'A', city: 'B' }, { code: 'C', name: 'A', city: 'B' })).toBe(
      true,
    );
    expect(hasNaturalKeyOf(CLIENTS, { name: 'A', city: 'B' }, { code: 'C', name: 'A', city: 'D' })).toBe(
      false,
    );
    expect(hasNaturalKeyOf(CLIENTS, { name: '' }, { name: '' })).toBe(false);
  });
});

test('altered are the sent fields that a record shows otherwise, by their names of a read', () => {
  const payload = { code: 'C-1', name: 'Ada', credit: '10', address2: 'x' };
  expect(alteredFields(CLIENTS, payload, { code: 'C-0001', name: 'Ada', credit: 10, adresse2: '' })).toEqual([
    { field: 'code', sent: 'C-1', shown: 'C-0001' },
    { field: 'adresse2', sent: 'x', shown: '' },
  ]);
});
