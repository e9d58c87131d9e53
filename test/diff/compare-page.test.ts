import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentedKind } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import {
  compacted,
  isOutdated,
  compareRecord,
  splitPage,
  recordId,
  toListShape,
  compareFirstListing,
  withoutSuppressed,
  fieldChanges,
  listChangedFields,
  type IncomingRecord,
  type StoredRecord,
} from '../../src/diff/compare-page.ts';
import {
  compactJson,
  parseJson,
  isObject,
  isArray,
  type Json,
  type JsonObject,
} from '../../src/lib/json/json.ts';
import { models, respelled, spell, records, type Member } from '../support/json-models.ts';
import { tries } from '../support/tiers.ts';

const named = (name: string): Kind => documentedKind(name) ?? expect.fail(`no kind ${name}`);
const CLIENTS = named('clients');
const page = (text: string) => parseJson(text) as readonly Json[];
const sort = (text: string) => {
  const { incoming, quarantined } = splitPage(page(text));
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

  test('a page with the texts that were sent is sorted like one without', () => {
    // prettier-ignore
    const rows = [
      '{ "id": 9, "credit": 10.00 }', '{"id":7}', '[]', '{"id" :7 }', '{"id":8}', '{"id":8,"a":1}',
    ];
    const records = rows.map(parseJson);
    const plain = splitPage(records);
    const sent = splitPage(records, rows);
    expect(sent.incoming.map(({ raw }) => raw)).toEqual(rows.slice(0, 2));
    expect({ ...sent, incoming: sent.incoming.map(compacted) }).toEqual(plain);
    expect(plain.incoming.map(compacted)).toEqual(plain.incoming);
  });

  test('an empty page is empty', () => {
    expect(splitPage([])).toEqual({ incoming: [], quarantined: [] });
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
        const { incoming, quarantined } = splitPage([...good.slice(0, at), poison, ...good.slice(at)]);
        expect(incoming.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
        expect(quarantined.map(({ id, code, raw }) => `${id ?? '-'} ${code} ${raw}`)).toEqual([expected]);
      }
  });

  test.each(['[', '{"a":'] as const)('B14: 64 levels of %s pass, 65 do not', (open) => {
    expect(splitPage([nested(64, open)])).toMatchObject({ incoming: [{ id: '7' }], quarantined: [] });
    expect(splitPage([nested(65, open)])).toEqual({
      incoming: [],
      quarantined: [{ id: '7', code: 'too_deep', raw: '' }],
    });
  });

  test('B14: 200,000 levels do not cost the page', () => {
    const { incoming, quarantined } = splitPage([{ id: 1 }, abyss(200_000), { id: 2 }]);
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
        const { incoming, quarantined } = splitPage(rows);
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
      { numRuns: tries(500) },
    );
  });

  test.each([0, 1])('C10: the text of a poison row is cut between characters (shift %i)', (shift) => {
    const { quarantined } = splitPage([{ a: 'x'.repeat(shift) + '🍁'.repeat(2000) }]);
    expect(quarantined[0]?.raw.length).toBeLessThanOrEqual(2000);
    expect(quarantined[0]?.raw).not.toMatch(/\p{Surrogate}/u);
  });

  test.each([
    ['a NUL', 'a\0b'],
    ['a lone surrogate', '\ud800'],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('C10: the id of a poison row can be stored, though it be %s', (_name, id) => {
    const token = splitPage([{ id }]).quarantined[0]?.id ?? '';
    expect(token).not.toMatch(/[\0\p{Surrogate}]/u);
    expect(token.length).toBeLessThanOrEqual(2000);
  });

  test('a page of one record 20,000 times costs no more than its length', () => {
    let reads = 0;
    const record = {
      get id() {
        reads++;
        return 7;
      },
    };
    expect(splitPage(Array.from({ length: 20_000 }, () => record)).incoming).toHaveLength(1);
    expect(reads).toBeLessThan(10 * 20_000);
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
    ['{"id":7}', '{"id":7,"news":null}', 'unchanged'],
    ['{"id":7,"credit":null}', '{"id":7}', 'unchanged'],
    ['{"id":7,"credit":""}', '{"id":7}', 'changed'],
    ['{"id":7}', '{"id":7,"news":0}', 'changed'],
    ['{"id":7}', '{"id":7,"news":""}', 'changed'],
    ['{"id":7,"name":"null"}', '{"id":7,"name":null}', 'changed'],
    ['{"id":7,"contacts":[{"id":1},{"id":2}]}', '{"id":7,"contacts":[{"id":2},{"id":1}]}', 'changed'],
    ['[]', '{"id":7}', 'changed'],
    ['null', '{"id":7}', 'changed'],
  ])('what is stored as %s and comes as %s is %s', (stored, raw, verdict) => {
    const row = stored === null ? undefined : { raw: stored, response: 1, isDeleted: false };
    expect(compareRecord(CLIENTS, row, incoming(raw)).is).toBe(verdict);
  });

  test('a change names its fields, and gives what was there before', () => {
    const row = { raw: '{"id":7,"credit":"1.00","name":"a"}', response: 1, isDeleted: false };
    expect(compareRecord(CLIENTS, row, incoming('{"id":7,"credit":"1.0","news":1}'))).toEqual({
      is: 'changed',
      fields: ['name', 'news'],
      before: { id: 7, credit: '1.00', name: 'a' },
    });
  });

  test.each(['{"id":7}', '{"id":7,"name":"new"}'])('a deleted row that comes as %s is restored', (raw) => {
    const row = { raw: '{"id":7}', response: 1, isDeleted: true };
    expect(compareRecord(CLIENTS, row, incoming(raw))).toEqual({ is: 'restored' });
  });

  test('is written again, without an event, with a field that is allowed again, be it null', () => {
    const kind = { ...CLIENTS, allowedAgain: ['email'] };
    const row = stored('{"id":7}');
    for (const email of ['null', '"a@x"'])
      expect(compareRecord(kind, row, incoming(`{"id":7,"email":${email}}`))).toMatchObject({
        is: 'changed',
        fields: [],
      });
    expect(compareRecord(kind, row, incoming('{ "id":7}'))).toEqual({ is: 'unchanged' });
  });
});

test.each([
  [undefined, 5, false],
  [4, 5, false],
  [5, 5, false],
  [6, 5, true],
])('a row of response %s has overtaken a request sent at %i: %s', (response, sent, expected) => {
  const row = response === undefined ? undefined : { raw: '{}', response, isDeleted: false };
  expect(isOutdated(row, sent)).toBe(expected);
});

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
    { numRuns: tries(1000) },
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
    { numRuns: tries(1000) },
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
  ['1e2', { fault: 'id_not_an_integer', token: '1e2' }],
  ['0', { fault: 'id_not_an_integer', token: '0' }],
  ['-7', { fault: 'id_not_an_integer', token: '-7' }],
  ['" 7"', { fault: 'id_not_an_integer', token: ' 7' }],
  ['"7\\n"', { fault: 'id_not_an_integer', token: '7\n' }],
  ['"+7"', { fault: 'id_not_an_integer', token: '+7' }],
  ['"٧"', { fault: 'id_not_an_integer', token: '٧' }],
  ['"0x7"', { fault: 'id_not_an_integer', token: '0x7' }],
  ['"abc"', { fault: 'id_not_an_integer', token: 'abc' }],
  ['true', { fault: 'id_not_an_integer', token: '' }],
  ['{"id":7}', { fault: 'id_not_an_integer', token: '' }],
])('C02: the id %s is read as %j', (token, expected) => {
  expect(idOf(token)).toEqual(expected);
});

test.each(['null', '7', '"7"', '1.5', 'true', '[]', '[{"id":7}]'])('C11: %s is no record', (text) => {
  expect(recordId(parseJson(text))).toEqual({ fault: 'not_a_record', token: null });
});

function incoming(text: string): IncomingRecord {
  const record = parseJson(text);
  return { id: '7', raw: compactJson(record), record: isObject(record) ? record : {} };
}

const stored = (raw: string): StoredRecord => ({ raw, response: 1, isDeleted: false });
const fieldsOf = (record: JsonObject): string[] => Object.keys(record).sort();

describe('a record that was asked for, in the shape of its list', () => {
  test.each<[string, string, string, string]>([
    ['has the newer values', '{"id":7,"name":"old"}', '{"id":7,"name":"new"}', '{"id":7,"name":"new"}'],
    ['has no field that the list leaves out', '{"id":7}', '{"id":7,"notes":"long"}', '{"id":7}'],
    ['keeps what only the list shows', '{"id":7,"balance":1}', '{"id":7}', '{"id":7,"balance":1}'],
    [
      'has the list’s order of fields',
      '{"id":7,"b":1,"a":2}',
      '{"a":3,"b":4,"id":7}',
      '{"id":7,"b":4,"a":3}',
    ],
    ['may say that a field is null', '{"id":7,"name":"old"}', '{"id":7,"name":null}', '{"id":7,"name":null}'],
    ['has numbers as received', '{"id":7,"credit":1.00}', '{"id":7,"credit":2.50}', '{"id":7,"credit":2.50}'],
    ['has fields of any name', '{"id":7,"__proto__":1}', '{"id":7,"__proto__":2}', '{"id":7,"__proto__":2}'],
    ['inherits none', '{"id":7,"toString":1}', '{"id":7}', '{"id":7,"toString":1}'],
  ])('%s', (_name, listed, asked, shaped) => {
    const { id, raw, record } = toListShape(CLIENTS, incoming(asked), listed, NO_FIELDS);
    expect([id, raw]).toEqual(['7', shaped]);
    expect(compactJson(record)).toBe(shaped);
  });

  test('has a field that its list leaves out where it is blank, once it has a value', () => {
    const shape = (asked: string): string =>
      toListShape(CLIENTS, incoming(asked), '{"id":7}', new Set(['phone', 'contacts'])).raw;
    expect(shape('{"id":7,"phone":"418","notes":"x"}')).toBe('{"id":7,"phone":"418"}');
    expect(shape('{"id":7,"phone":"","contacts":[]}')).toBe('{"id":7}');
  });

  test.each(['null', '[]', '"x"'])('is the record itself where what is stored is %s and no record', (raw) => {
    expect(toListShape(CLIENTS, incoming('{"id":7}'), raw, NO_FIELDS).raw).toBe('{"id":7}');
  });
});

describe('the first listing of a row that was only asked for so far', () => {
  test.each<[string, string, string, readonly string[]]>([
    ['no change where both agree', '{"id":7,"name":"a","notes":"x"}', '{"id":7,"name":"a","balance":1}', []],
    ['a change of what both have', '{"id":7,"name":"a","notes":"x"}', '{"id":7,"name":"b"}', ['name']],
    ['no change where a value is spelled otherwise', '{"id":7,"credit":"1.0"}', '{"id":7,"credit":1}', []],
    ['a change to null', '{"id":7,"name":"a"}', '{"id":7,"name":null}', ['name']],
    ['a change of what the list leaves out where it is blank', '{"id":7,"shown":"a"}', '{"id":7}', ['shown']],
    ['no change by fields with inherited names', '{"id":7}', '{"id":7,"toString":"x"}', []],
  ])('is %s', (_name, asked, listed, fields) => {
    const verdict = compareFirstListing(CLIENTS, asked, incoming(listed), new Set(['shown']));
    expect(verdict).toEqual({ is: 'changed', fields, before: parseJson(asked) });
  });
});

const NO_FIELDS: ReadonlySet<string> = new Set();
const namesOf = (members: readonly Member[]): ReadonlySet<string> => new Set(members.map(([name]) => name));

/** Fields that a list and a retrieve both show, and the ones that only one of them does. */
const shapes = fc
  .uniqueArray(
    fc.tuple(fc.string({ minLength: 1, maxLength: 6 }), models, fc.constantFrom('both', 'list', 'one')),
    { maxLength: 8, selector: ([name]) => name },
  )
  // In a documented text a number is kept as it is spelled: 0 and -0 differ there.
  .map((fields) => fields.filter(([name]) => !CLIENTS.fields.some((field) => field.name === name)))
  .map((fields) => {
    const of = (...where: readonly string[]): Member[] =>
      fields.filter(([, , shows]) => where.includes(shows)).map(([name, value]): Member => [name, value]);
    return { both: of('both'), list: of('both', 'list'), one: of('both', 'one') };
  });

const ID: Member = ['id', { number: '7' }];
const text = (members: readonly Member[]): string => spell({ object: [ID, ...members] });

describe('list, retrieve, list', () => {
  test('of a record that does not change shows no change, whatever each of them leaves out', () => {
    fc.assert(
      fc.property(shapes, ({ list, one }) => {
        const listed = incoming(text(list));
        for (const spelled of [
          text(one),
          text(one.map(([name, value]): Member => [name, respelled(value)])),
        ]) {
          const asked = toListShape(CLIENTS, incoming(spelled), listed.raw, namesOf(list));
          expect(compareRecord(CLIENTS, stored(listed.raw), asked)).toEqual({ is: 'unchanged' });
          expect(compareRecord(CLIENTS, stored(asked.raw), listed)).toEqual({ is: 'unchanged' });
          expect(fieldsOf(asked.record)).toEqual(fieldsOf(listed.record));
        }
      }),
      { numRuns: tries(1000) },
    );
  });

  test('shows a change once: by whichever of them comes first', () => {
    const changed = fc.tuple(shapes, models).filter(([{ both }]) => both.length > 0);
    fc.assert(
      fc.property(changed, ([{ list, one, both }, value]) => {
        const [name] = both[0] ?? [''];
        const edit = (members: readonly Member[]): Member[] =>
          members.map((member): Member => (member[0] === name ? [name, value] : member));
        const before = incoming(text(list));
        const after = incoming(text(edit(list)));
        const asked = toListShape(CLIENTS, incoming(text(edit(one))), before.raw, namesOf(list));
        expect(compareRecord(CLIENTS, stored(before.raw), asked)).toEqual(
          compareRecord(CLIENTS, stored(before.raw), after),
        );
        expect(compareRecord(CLIENTS, stored(asked.raw), after)).toEqual({ is: 'unchanged' });
      }),
      { numRuns: tries(1000) },
    );
  });
});

describe('retrieve, list, retrieve', () => {
  test('of a record that does not change shows no change', () => {
    fc.assert(
      fc.property(shapes, ({ list, one }) => {
        const asked = incoming(text(one));
        const listed = incoming(text(list));
        expect(compareFirstListing(CLIENTS, asked.raw, listed, namesOf(list))).toMatchObject({
          is: 'changed',
          fields: [],
        });
        const again = toListShape(CLIENTS, asked, listed.raw, namesOf(list));
        expect(compareRecord(CLIENTS, stored(listed.raw), again)).toEqual({ is: 'unchanged' });
      }),
      { numRuns: tries(1000) },
    );
  });
});

const ids = fc.array(fc.integer({ min: 1, max: 9 }).map(String), { maxLength: 8 });

test('exactly the suppressed records are left out of a page, in its order', () => {
  fc.assert(
    fc.property(ids, ids, ids, (shown, faulty, kept) => {
      const page = {
        incoming: shown.map((id) => ({ id, raw: `{"id":${id}}`, record: { id } })),
        quarantined: [...faulty, null].map((id) => ({ id, code: 'two_versions' as const, raw: '' })),
      };
      const suppressed = new Set(kept);
      const left = withoutSuppressed(page, suppressed);
      expect(left.incoming).toEqual(page.incoming.filter(({ id }) => !suppressed.has(id)));
      expect(left.quarantined).toEqual(
        page.quarantined.filter(({ id }) => id === null || !suppressed.has(id)),
      );
    }),
  );
});

const object = (text: string): JsonObject => {
  const value = parseJson(text);
  return isObject(value) ? value : expect.fail(`${text} is no object`);
};

describe('the changed fields of a record', () => {
  test.each<[string, readonly string[], string, string, string]>([
    ['values before and after', ['name'], '{"name":"a","x":1}', '{"name":"b","x":2}', '{"name":["a","b"]}'],
    ['a field that came', ['new'], '{}', '{"new":1}', '{"new":[null,1]}'],
    ['a field that went', ['old'], '{"old":1}', '{}', '{"old":[1,null]}'],
    ['the order asked for', ['b', 'a'], '{"a":1,"b":1}', '{"a":2,"b":2}', '{"b":[1,2],"a":[1,2]}'],
    ['none', [], '{"a":1}', '{"a":2}', '{}'],
    [
      'numbers as received',
      ['total', 'n'],
      '{"total":10.00,"n":12345678901234567890}',
      '{"total":1e2,"n":-0.0}',
      '{"total":[10.00,1e2],"n":[12345678901234567890,-0.0]}',
    ],
    [
      'nested values whole',
      ['contacts'],
      '{"contacts":[{"id":1}]}',
      '{"contacts":[{"id":1},{"id":2.50}]}',
      '{"contacts":[[{"id":1}],[{"id":1},{"id":2.50}]]}',
    ],
    ['names with a meaning of their own', ['__proto__'], '{"__proto__":1}', '{}', '{"__proto__":[1,null]}'],
    [
      'nothing inherited',
      ['toString', 'constructor'],
      '{}',
      '{"toString":1}',
      '{"toString":[null,1],"constructor":[null,null]}',
    ],
  ])('tell %s', (_name, names, before, after, fields) => {
    expect(fieldChanges(names, object(before), object(after))).toBe(fields);
  });

  test('can be read again: each field with exactly its two values', () => {
    fc.assert(
      fc.property(records, records, (first, second) => {
        const before = object(spell(first));
        const after = object(spell(second));
        const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
        const read = object(fieldChanges(names, before, after));
        expect(Object.keys(read).sort()).toEqual(names.sort());
        for (const name of names) {
          const pair = Object.hasOwn(read, name) ? read[name] : null;
          const texts = isArray(pair ?? null) ? (pair as readonly never[]).map(compactJson) : [];
          expect(texts).toEqual(
            [before, after].map((side) =>
              Object.hasOwn(side, name) ? compactJson(side[name] ?? null) : 'null',
            ),
          );
        }
      }),
    );
  });
});

const PURCHASES = named('purchase_products');

/** The fields in which one value of a purchase line, or of another kind, differs from another. */
function changed(
  field: string,
  [before, after]: readonly [string, string],
  kind = PURCHASES,
): readonly string[] {
  return listChangedFields(
    kind,
    object(`{"id":7,"${field}":${before}}`),
    object(`{"id":7,"${field}":${after}}`),
  );
}

test.each([
  ['a text, however like a float', named('clients'), 'phone', '"15145551234.10001"', '"15145551234.10002"', true],
  ['40 cents of a large amount', named('clients'), 'credit', '"123456789012.40001"', '"123456789012.00001"', true],
  ['a nested text', named('bookings'), 'items', '[{"details":"1234567890.12345678"}]', '[{"details":"1234567890.12345679"}]', true],
  ['the spelling of a nested amount', named('bookings'), 'items', '[{"total":"10.00"}]', '[{"total":10}]', false],
  ['the noise of a nested amount', named('bookings'), 'items', '[{"total":"10.1"}]', '[{"total":"10.100000000000001"}]', false],
])('the change of %s', (_what, kind, field, before, after, isOne) => {
  expect(changed(field, [before, after], kind)).toEqual(isOne ? [field] : []);
}); // prettier-ignore

/** Purchase lines with any value in known fields, hinted fields and others. */
const lines = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(
        'id',
        'product_price',
        'product_name',
        'produit_projet',
        'sale_id',
        'extra',
        '__proto__',
      ),
      fc.oneof(
        models,
        fc.constantFrom('10', '10.0', '10.00', '7', '').map((string) => ({ string })),
        fc.constantFrom('10', '10.0', '1e1', '7').map((number) => ({ number })),
      ),
    ),
    { selector: ([name]: Member) => name },
  )
  .map((object) => ({ object }));

describe('no change', () => {
  test('C17: the order of members and the spelling of numbers outside text are nothing', () => {
    fc.assert(
      fc.property(records, (model) => {
        const kind: Kind = { ...PURCHASES, fields: [], hints: [] };
        expect(listChangedFields(kind, object(spell(model)), object(spell(respelled(model))))).toEqual([]);
      }),
    );
  });

  test.each([
    ['product_price', '"10.00"', '"10"'],
    ['product_price', '"10.00"', '10'],
    ['product_price', '10.0000', '1e1'],
    ['product_price', '"010.00"', '"10.0000"'],
    ['product_price', '"0.00"', '"-0"'],
    ['product_price', '"1.23456"', '"1.234560"'],
    ['product_price', '""', 'null'],
    ['product_quantity', '"0000-00-00"', '""'],
    ['province_id', '7', '"7"'],
    ['province_id', '9007199254740993', '"9007199254740993"'],
    ['product_id', '7', '"7"'],
    ['product_name', '"\\u00e9"', '"é"'],
    ['produit_projet', '{"a":1,"b":[1.50]}', '{"b":[1.5],"a":1.0}'],
    ['sale_id', '7', '"7"'],
    ['extra', '10.00', '10'],
    ['product_price', '"0.1"', '"0.10000000000000001"'],
    ['product_name', '"\\u00e9"', '"e\\u0301"'],
    ['extra', '{"a":1,"b":2}', '{"b":2,"a":1}'],
  ])('C06: of %s, %s is %s', (field, before, after) => {
    expect(changed(field, [before, after])).toEqual([]);
    expect(changed(field, [after, before])).toEqual([]);
  });

  test.each([
    ['products', 'price', '"10.00"', '10'],
    ['products', 'price', '"10.00"', '"10.0000"'],
    ['products', 'created_at', '"2026-01-01 10:00:00"', '"2026-01-01T10:00:00"'],
    ['products', 'updated_at', '"0000-00-00 00:00:00"', 'null'],
    ['categories', 'status', '1', '"1"'],
    ['categories', 'sync_web', 'true', '1'],
    ['bookings', 'distance', '"12.50"', '12.5'],
    ['bookings', 'pickup_date', '""', '"0000-00-00"'],
    ['sales_products', 'product_price', '"10.0000"', '"10"'],
    ['punches', 'start_time', '"08:30"', '"08:30:00"'],
  ])('C06: of %s.%s, %s is %s', (kind, field, ...pair) => {
    expect(changed(field, pair, named(kind))).toEqual([]);
  });
});

describe('a change', () => {
  test.each([
    ['product_price', '"10.00"', '"10.01"'],
    ['product_price', '"0.1"', '"0.10000000001"'],
    ['product_price', '"12345678901234567.01"', '"12345678901234567.02"'],
    ['product_price', '"10"', '"1e2"'],
    ['product_price', '"0"', '""'],
    ['province_id', '9007199254740992', '9007199254740993'],
    ['province_id', '7', '"07"'],
    ['province_id', '0', 'null'],
    ['product_id', '"7"', '"07"'],
    ['product_id', '1.50', '1.5'],
    ['product_name', '"a"', '"A"'],
    ['product_name', '""', 'null'],
    ['product_name', '"null"', 'null'],
    ['product_name', '"a\\u0000"', '"a"'],
    ['product_name', '"\\ud800"', '"\\ufffd"'],
    ['gestion_taxes', '"[1,2]"', '"[1, 2]"'],
    ['produit_projet', '[1,2]', '[2,1]'],
    ['produit_projet', 'null', '"null"'],
    ['produit_projet', '{"a":null}', '{}'],
    ['extra', '1', '2'],
    ['extra', 'true', '"true"'],
    ['__proto__', '{"a":1}', '{"a":2}'],
  ])('of %s: %s is not %s', (field, before, after) => {
    expect(changed(field, [before, after])).toEqual([field]);
    expect(changed(field, [after, before])).toEqual([field]);
  });

  test.each(['""', '"absent"', '"null"', '0', '[]'])('C13: a field that goes is not %s', (value) => {
    for (const field of ['product_name', 'produit_projet', 'extra', '__proto__', 'constructor'])
      expect(listChangedFields(PURCHASES, {}, object(`{"${field}":${value}}`))).toEqual([field]);
  });

  test.each(['product_name', 'produit_projet', 'extra'])(
    'two different texts in %s are a change',
    (field) => {
      const texts = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('null', 'undefined', '', 'value', 'absent'),
      );
      fc.assert(
        fc.property(texts, texts, (before, after) => {
          const pair = [JSON.stringify(before), JSON.stringify(after)] as const;
          expect(changed(field, pair)).toEqual(before === after ? [] : [field]);
        }),
        { numRuns: tries(1000) },
      );
    },
  );

  test('every changed field is named, once', () => {
    const before = object('{"id":7,"product_price":"1","product_name":"a","extra":1,"gone":1}');
    const after = object('{"id":7,"product_price":"2","product_name":"b","extra":2,"come":1}');
    expect([...listChangedFields(PURCHASES, before, after)].sort()).toEqual(
      ['come', 'extra', 'gone', 'product_name', 'product_price'].sort(),
    );
  });
});

test('to be unchanged goes on from one reading to the next', () => {
  fc.assert(
    fc.property(lines, lines, lines, (...three) => {
      const [a, b, c] = three.map((line) => object(spell(line))) as [JsonObject, JsonObject, JsonObject];
      const same = (x: JsonObject, y: JsonObject) => listChangedFields(PURCHASES, x, y).length === 0;
      expect(same(a, b) && same(b, c) && !same(a, c)).toBe(false);
    }),
  );
});
