import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { sentField } from '../../src/catalog/kind.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { judgeSearch, matchRecord, naturalKeyOf } from '../../src/diff/match.ts';
import type { Match } from '../../src/diff/match.ts';
import { isNumber, parseJson } from '../../src/lib/json/json.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import { asShown, namedKind, writes } from '../support/written-payloads.ts';

const [CLIENTS, PUNCHES, BRANDS, PROJECTS] = [
  namedKind('clients'),
  namedKind('punches'),
  namedKind('vehicle_brands'),
  namedKind('projects'),
];

const match = (kind: Kind, payload: JsonObject, record: JsonObject): Match =>
  matchRecord({ kind, payload, record, marker: null });
const parse = (text: string) => parseJson(text) as JsonObject;

describe('natural keys', () => {
  test.each([
    ['{"user_id":5,"date":"2026-01-05","start_time":"08:00"}'],
    ['{"start_time":"08:00:00","date":"2026-01-05","user_id":"5"}'],
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

  test('tell apart what is told apart', () => {
    const keys = [
      '{"code":"a"}',
      '{"code":"A"}',
      '{"code":"a "}',
      '{"code":"007"}',
      '{"code":7}',
      '{"name":"a"}',
    ];
    expect(new Set(keys.map((key) => naturalKeyOf(CLIENTS, parse(key)))).size).toBe(keys.length);
    const numbers = ['9007199254740992', '9007199254740993', '"9007199254740994"'];
    expect(new Set(numbers.map((id) => naturalKeyOf(PUNCHES, parse(`{"user_id":${id}}`)))).size).toBe(3);
  });

  test('are equal for a number and its own text, and for elements that only differ in blanks', () => {
    expect(naturalKeyOf(BRANDS, parse('{"rank":1.50}'))).toBe(naturalKeyOf(BRANDS, { rank: '1.50' }));
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

/** The field under the name by which it is written. */
function asRead({ write, ...field }: Kind['fields'][number]): Kind['fields'][number] {
  return { ...field, name: write?.name ?? field.name };
}

describe('exact', () => {
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
    expect(match(namedKind(kind), parse(payload), parse(record))).toBe('exact');
  });

  test("whatever the service's spelling", () => {
    fc.assert(
      fc.property(writes, ({ kind, payload }) => {
        expect(match(kind, payload, asShown(kind, payload))).toBe('exact');
      }),
      { numRuns: 500 },
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
        expect(match(kind, payload, record)).not.toBe('exact');
      }),
    );
  });

  test('is never a neighbour of a number beyond 2^53', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 2n }), (id) => {
        const payload = { user_id: new LosslessNumber(String(id)), date: '2026-01-05' };
        const record = (user: bigint) => ({ user_id: new LosslessNumber(String(user)), date: '2026-01-05' });
        expect(match(PUNCHES, payload, record(id))).toBe('exact');
        expect(match(PUNCHES, payload, record(id + 1n))).not.toBe('exact');
      }),
    );
  });
});

function changedValue(value: Json): Json {
  if (isNumber(value)) return new LosslessNumber(String(BigInt(String(value).split('.')[0] ?? '') + 1n));
  if (typeof value !== 'string') return 'another';
  return /^\d\d:/.test(value) ? '23:59:59' : /^\d{4}-\d\d-/.test(value) ? '1980-01-01' : `${value}1`;
}

describe('a look-alike', () => {
  const LONG = 'Les Constructions Québec & Fils inc. de Saint-Jean';
  test.each([
    ['case', 'Ab-1', 'AB-1'],
    ['outer spaces', ' A ', 'A'],
    ['inner spaces', 'A  b', 'A b'],
    ['decomposed accents', 'Québec', 'Que\u0301bec'],
    ['lost accents', 'Québec', 'Quebec'],
    ['capitals with accents', 'œuvre été', 'OEUVRE ÉTÉ'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['HTML', `<A> & "b" 'c'`, '&lt;A&gt; &amp; &quot;b&quot; &#039;c&#039;'],
    ['HTML, twice', 'A & b', 'A &amp;amp; b'],
    ['HTML that was there before', 'A &amp; b', 'A &amp;amp; b'],
    ['HTML names', 'Été à la forêt', '&Eacute;t&eacute; &agrave; la for&ecirc;t'],
    ['HTML numbers', 'é’', '&#233;&#x2019;'],
    ['slashes', "O'Brien", "O\\'Brien"],
    ['curly quotes', 'L’Île', "L'ile"],
    ['question marks', 'Québec 🍁', 'Qu?bec ????'],
    ['replacement characters', 'Québec', 'Qu\ufffdbec'],
    ['the wrong encoding', 'Québec', 'QuÃ©bec'],
    ['the end at a wide character', 'Ab 🍁 inc.', 'Ab'],
    ['a cut', LONG, LONG.slice(0, 30)],
    ['a cut through an entity', `${'A'.repeat(27)} & b`, `${'A'.repeat(27)} &a`],
    ['a cut of escapes', '<<<<<<<<<<', '&lt;&lt;&lt;&lt;&lt;&lt;&lt;&l'],
    ['a sharp s by its name', 'Straße', 'Stra&szlig;e'],
    ['the end at an early wide character', 'A 🍁b', 'A'],
    ['question marks alone', '中文', '??'],
    ['question marks for decomposed accents', 'Que\u0301bec', 'Qu?bec'],
    ['question marks and a cut', LONG, LONG.replace('é', '?').slice(0, 30)],
    ['wide characters that are not kept', '🍁', ''],
    ['a trim that leaves nothing', ' ', null],
    ['a number', '007', '7'],
  ])('by %s', (_what, sent, remote) => {
    expect(match(CLIENTS, { code: sent }, { code: remote })).toBe('look-alike');
    expect(match(PROJECTS, { name: sent }, { nom: remote })).toBe('look-alike');
    expect(match(BRANDS, { name: sent }, { name: remote })).toBe('look-alike');
  });

  test.each([
    ['user_id', '9007199254740993', '9007199254740992'],
    ['user_id', '5', '" 5 "'],
    ['user_id', '5.4', '5'],
    ['start_time', '"08:00:30"', '"08:00:00"'],
    ['start_time', '"8:00"', '"08:00:00"'],
    ['date', '"2026-01-05"', '"2026-01-05 00:00:00"'],
    ['date', '"2026-1-5"', '"2026-01-05"'],
  ])('by %s: %s as %s', (field, sent, remote) => {
    expect(match(PUNCHES, parse(`{"${field}":${sent}}`), parse(`{"${field}":${remote}}`))).toBe('look-alike');
  });

  test.each([
    ['"10.005"', '"10.01"'],
    ['"10.005"', '10'],
    ['0.3', '0.30000000000000004'],
    ['"1.23456789"', '"1.2346"'],
    ['123456.78', '123457'],
  ])('by rounding: %s as %s', (sent, remote) => {
    expect(match(BRANDS, parse(`{"price":${sent}}`), parse(`{"price":${remote}}`))).toBe('look-alike');
  });

  test('by its natural key alone, whatever else differs', () => {
    expect(match(CLIENTS, { code: 'C', name: 'A' }, { code: 'C', name: 'B' })).toBe('look-alike');
  });

  test('where the record does not show what was sent', () => {
    expect(match(BRANDS, { name: 'A', rank: 1 }, { id: 7, name: 'a' })).toBe('look-alike');
    expect(match(CLIENTS, { code: 'C', name: 'A' }, { id: 7, name: 'A' })).toBe('look-alike');
    expect(match(CLIENTS, { code: 'C', name: 'A' }, { id: 7, name: 'B' })).toBe('none');
    expect(match(CLIENTS, { code: 'C' }, { id: 7 })).toBe('look-alike');
  });

  test('where nothing was sent that could tell', () => {
    expect(match(BRANDS, {}, { id: 7, name: 'A' })).toBe('look-alike');
    expect(match(BRANDS, { name: '' }, { id: 7, name: null })).toBe('look-alike');
  });

  test('in nested values', () => {
    const payload = { models: [{ name: 'Été' }], made: { by: 'A' } };
    expect(match(BRANDS, payload, { models: [{ id: 1, name: 'ETE' }], made: { by: 'a', at: 1 } })).toBe(
      'look-alike',
    );
    expect(match(BRANDS, payload, { models: [{ id: 1, name: 'X' }], made: { by: 'a' } })).toBe('none');
    expect(match(BRANDS, payload, { models: [], made: { by: 'A' } })).toBe('none');
    expect(match(BRANDS, { tags: ['a'] }, { tags: ['A', 'b'] })).toBe('none');
    expect(match(BRANDS, { made: { by: null, at: 1 } }, { made: { by: 'null', at: 1 } })).toBe('none');
    const shown = { tasks: [{ id: 1, start_date: '2026-01-05 00:00:00' }] };
    expect(match(PROJECTS, { tasks: [{ start_date: '2026-01-05' }] }, shown)).toBe('look-alike');
    expect(match(BRANDS, { tags: ['a', 'b'] }, { tags: '["a", "b"]' })).toBe('look-alike');
  });
});

describe('no match', () => {
  test.each([
    ['another code', 'C-1', 'C-2'],
    ['a code that goes on', 'C-1', 'C-10'],
    ['a code that begins alike', 'C-10', 'C-1'],
    ['a sign', 'A+', 'A-'],
    ['other foreign letters', '中文', '日本'],
    ['a foreign letter that was not sent', 'AB', 'AéB'],
    ['another number', '10', '11'],
    ['another place', '10', '10.4'],
    ['nothing', 'A', ''],
    ['nothing, long as it was', 'A'.repeat(40), ''],
    ['a long text in other foreign letters', `ab${'中文'.repeat(20)}`, '日本'],
    ['null', 'A', null],
    ['null, though a text says so', 'null', null],
    ['an object', 'A', { a: 1 }],
  ])('with %s', (_what, sent, remote) => {
    expect(match(CLIENTS, { code: sent }, { code: remote })).toBe('none');
    expect(match(BRANDS, { name: sent }, { name: remote })).toBe('none');
  });

  test('with one other field of the natural key', () => {
    const payload = { user_id: 5, date: '2026-01-05', start_time: '08:00' };
    expect(match(PUNCHES, payload, { ...payload, user_id: 6 })).toBe('none');
    expect(match(PUNCHES, payload, { ...payload, date: '2026-01-06' })).toBe('none');
    expect(match(PUNCHES, payload, { ...payload, start_time: '08:01:00' })).toBe('none');
    expect(match(PUNCHES, payload, { ...payload, user_id: null })).toBe('none');
  });

  test('with a code of digits that was rounded, or the neighbour of an integer that a float can tell apart', () => {
    expect(match(CLIENTS, { code: '10.4' }, { code: '10' })).toBe('none');
    expect(match(PUNCHES, { user_id: 16777217 }, { user_id: 16777216 })).toBe('none');
  });

  test('with one other of all fields where they are the natural key', () => {
    expect(match(BRANDS, { name: 'A', rank: 1 }, { name: 'A', rank: 3 })).toBe('none');
  });

  test('hostile text costs little time', () => {
    for (const piece of [
      '&amp;',
      '&#38;',
      '&',
      ' ',
      '\\',
      '1',
      '&#x',
      '&#9999999;',
      'e\u0301',
      '?',
      '🍁',
      '<',
    ]) {
      const text = piece.repeat(60_000);
      const started = performance.now();
      match(CLIENTS, { code: `K${text}` }, { code: `${text}K` });
      expect(performance.now() - started, piece).toBeLessThan(2000);
    }
  });
});

type Loosening = (text: string) => string;
const LOOSENINGS: Record<string, Loosening> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trimmed: (text) => text.trim(),
  padded: (text) => ` ${text}  `,
  respaced: (text) => text.replace(/\s+/g, ' '),
  decomposed: (text) => text.normalize('NFD'),
  composed: (text) => text.normalize('NFC'),
  unaccented: (text) => text.normalize('NFD').replace(/\p{M}/gu, ''),
  escaped: (text) =>
    text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0).toString().padStart(3, '0')};`),
  named: (text) =>
    text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
  cut: (text) => text.slice(0, 30),
};

/** Loosens every text, and rounds every number, of a record that would match. */
function loosened(kind: Kind, record: JsonObject, loosenings: readonly string[]): JsonObject {
  const entries = Object.entries(record).map(([name, value]): [string, Json] => {
    const type = sentField(kind, name)?.type;
    if (isNumber(value) || (type === 'decimal' && typeof value === 'string'))
      return [name, roundedUp(String(value))];
    const isText = type === undefined || type === 'text';
    if (typeof value !== 'string' || !isText || /^-?[\d.]+$/.test(value)) return [name, value];
    return [name, loosenings.reduce((text, loosening) => LOOSENINGS[loosening]?.(text) ?? text, value)];
  });
  return Object.fromEntries(entries);
}

/** Half of all digits behind the point, the last of them one up. */
function roundedUp(number: string): Json {
  const [whole = '', places = ''] = number.split('.');
  const kept = Math.floor(places.length / 2);
  if (places === '') return new LosslessNumber(number);
  const units =
    BigInt(whole.replace('-', '') + places.slice(0, kept)) + (/[1-9]/.test(places.slice(kept)) ? 1n : 0n);
  const digits = String(units).padStart(kept + 1, '0');
  const text = kept === 0 ? digits : `${digits.slice(0, -kept)}.${digits.slice(-kept)}`;
  return new LosslessNumber(`${number.startsWith('-') ? '-' : ''}${text}`);
}

test('C15: what a service may make of a text never makes a record of ours a stranger', () => {
  const some = fc.array(fc.constantFrom(...Object.keys(LOOSENINGS)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(writes, some, ({ kind, payload }, loosenings) => {
      const record = loosened(kind, asShown(kind, payload), loosenings);
      expect(match(kind, payload, record)).not.toBe('none');
    }),
    { numRuns: 2000 },
  );
});

describe('a marker', () => {
  const marker = { field: 'note', text: '[bms:7f3a]' };
  const payload = { user_id: 5, date: '2026-01-05', start_time: '08:00', note: 'x [bms:7f3a]' };
  const marked = (record: JsonObject) => matchRecord({ kind: PUNCHES, payload, record, marker });

  test.each([
    ['whatever else differs', { user_id: 6, note: '[bms:7f3a]' }],
    ['within more text', { user_id: 5, note: 'x [bms:7f3a] y' }],
  ])('makes exact, %s', (_what, record) => {
    expect(marked(record)).toBe('exact');
  });

  test('D13: without it, an equal record is a look-alike', () => {
    expect(marked({ ...payload, note: 'x' })).toBe('look-alike');
    expect(
      matchRecord({ kind: PUNCHES, payload, record: payload, marker: { field: 'code', text: 'm' } }),
    ).toBe('look-alike');
    expect(marked({ user_id: 6, date: '2026-01-05', start_time: '08:00', note: 'x' })).toBe('none');
  });

  test('that the service respelled is a look-alike, whatever else differs', () => {
    expect(marked({ user_id: 6, note: 'X [BMS:7F3A]' })).toBe('look-alike');
  });

  test('that is empty is none', () => {
    const record = { ...payload, user_id: 6 };
    expect(matchRecord({ kind: PUNCHES, payload, record, marker: { field: 'note', text: '' } })).toBe('none');
    expect(
      matchRecord({ kind: PUNCHES, payload, record: payload, marker: { field: 'note', text: '' } }),
    ).toBe('exact');
  });
});

describe('a look', () => {
  const EXACT = { code: 'C', name: 'A' };
  const ALIKE = { code: 'c', name: 'A' };
  const OTHER = { code: 'D', name: 'A' };
  const look = (records: readonly JsonObject[], marker: { field: string; text: string } | null = null) =>
    judgeSearch({
      kind: CLIENTS,
      payload: EXACT,
      marker,
      candidates: records.map((record, at) => ({ id: String(at + 1), record })),
    });

  test.each([
    ['nothing', [], { is: 'absent' }],
    ['strangers', [OTHER, OTHER], { is: 'absent' }],
    ['one exact', [OTHER, EXACT], { is: 'found', id: '2' }],
    ['two exact', [EXACT, OTHER, EXACT, ALIKE], { is: 'twins', ids: ['1', '3'] }],
    ['one exact and a look-alike', [ALIKE, OTHER, EXACT], { is: 'look-alike', ids: ['1', '3'] }],
    ['look-alikes', [ALIKE, OTHER, ALIKE], { is: 'look-alike', ids: ['1', '3'] }],
  ])('at %s', (_what, records, result) => {
    expect(look(records)).toEqual(result);
  });

  test('with a marker finds its record among similar ones', () => {
    const marker = { field: 'fax', text: 'm-7' };
    expect(look([EXACT, { ...ALIKE, fax: 'm-7' }], marker)).toEqual({ is: 'found', id: '2' });
    expect(look([{ fax: 'm-7' }, { fax: 'm-7' }], marker)).toEqual({ is: 'twins', ids: ['1', '2'] });
    expect(look([EXACT], marker)).toEqual({ is: 'look-alike', ids: ['1'] });
    expect(look([EXACT, ALIKE], { field: 'fax', text: '' })).toMatchObject({ is: 'look-alike' });
  });

  test('counts a record once that it was shown twice', () => {
    const candidates = [EXACT, EXACT].map((record) => ({ id: '7', record }));
    expect(judgeSearch({ kind: CLIENTS, payload: EXACT, marker: null, candidates })).toEqual({
      is: 'found',
      id: '7',
    });
  });

  test('says found only of an id with an exact match, and absent only without a match', () => {
    const records = fc.array(fc.constantFrom(EXACT, ALIKE, OTHER), { maxLength: 5 });
    fc.assert(
      fc.property(records, (shown) => {
        const result = look(shown);
        const matches = shown.map((record) => match(CLIENTS, EXACT, record));
        if (result.is === 'found') expect(matches[Number(result.id) - 1]).toBe('exact');
        expect(result.is === 'absent').toBe(matches.every((one) => one === 'none'));
      }),
    );
  });
});
