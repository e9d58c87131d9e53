import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KINDS, kindNamed } from '../../src/catalog/catalog.ts';
import { decimal, text } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { decodeRecord, ownValue } from '../../src/diff/decode-record.ts';
import { compactJson, parseJson } from '../../src/lib/json.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { models, spell } from '../support/json-models.ts';
import type { Member } from '../support/json-models.ts';

const named = (name: string): Kind => kindNamed(name) ?? expect.fail(`no kind ${name}`);
const BY_NAME = KINDS.map((kind) => [kind.name, kind] as const);
const parse = (text: string) => parseJson(text) as JsonObject;

/** Decodes a text into named columns. */
function columnsOf(kind: string, text: string) {
  const { values, misfits } = decodeRecord(named(kind), parse(text));
  return { row: Object.fromEntries(named(kind).fields.map(({ name }, at) => [name, values[at]])), misfits };
}

test('a column of texts keeps what its field’s column cannot, as it came, and is null beside all that fits', () => {
  const fields = [decimal('rate', 2), text('rate_text')].map((field, at) =>
    at === 0 ? field : { ...field, textOf: 'rate' },
  );
  const kind: Kind = { ...named('punches'), fields };
  const kept = (value: string) =>
    decodeRecord(kind, parse(`{"rate":${value},"rate_text":"the service’s own"}`)).values;
  expect(kept('1.5')).toEqual(['1.50', null]);
  expect(kept('1.505')).toEqual(['1.505', null]);
  expect(kept('"1,5"')).toEqual([null, '1,5']);
  expect(kept('1e999999')).toEqual([null, '1e999999']);
  expect(kept('[1.50,"é"]')).toEqual([null, '[1.50,"é"]']);
  expect(kept('true')).toEqual([null, 'true']);
  expect(kept('"a\\u0000"')).toEqual([null, null]);
  for (const none of ['null', '""', '"0000-00-00"']) expect(kept(none)).toEqual([null, null]);
});

test.each([
  ['"7"', '7', false],
  ['7', 7, false],
  ['"0"', '0', false],
  ['"9223372036854775807"', '9223372036854775807', false],
  ['""', null, false],
  ['"007"', null, true],
  ['"ABC"', null, true],
  ['7.0', null, true],
  ['"9223372036854775808"', null, true],
])('the reference %s is the id %s', (wire, id, isMisfit) => {
  const { row, misfits } = columnsOf('purchase_products', `{"product_id":${wire}}`);
  expect([row['product_id'], misfits.length > 0]).toEqual([id, isMisfit]);
});

/** Records of a kind: its own fields with any value at all, beside fields of no kind. */
const recordsOf = ({ fields }: Kind) =>
  fc
    .uniqueArray(
      fc.tuple(
        fc.constantFrom(...fields.map(({ name }) => name), 'extra', '__proto__', 'constructor'),
        models,
      ),
      { selector: ([name]: Member) => name },
    )
    .map((object) => spell({ object }));

test('a record becomes one value for each documented field', () => {
  const text = `{"id":7,"appointment_id":"0","user_id":12,"date":"2026-03-29","start_time":"08:30","end_time":null,
    "ptotal":7.5,"note":"Pose d’érable 🍁","system_id":3,"unknown":true}`;
  expect(columnsOf('punches', text)).toEqual({
    row: {
      id: 7,
      appointment_id: '0',
      user_id: 12,
      date: '2026-03-29',
      start_time: '08:30:00',
      end_time: null,
      ptotal: '7.50',
      note: 'Pose d’érable 🍁',
      system_id: 3,
    },
    misfits: [],
  });
});

test('C11: a value that fits no rule costs a null and a misfit, never the row', () => {
  const text = `{"id":7,"user_id":"twelve","date":"2025-02-30","start_time":"24:00:00","ptotal":"1e3x",
    "note":"a\\u0000b","system_id":3}`;
  expect(columnsOf('punches', text)).toEqual({
    row: {
      id: 7,
      appointment_id: null,
      user_id: null,
      date: null,
      start_time: null,
      end_time: null,
      ptotal: null,
      note: null,
      system_id: 3,
    },
    misfits: [
      { field: 'user_id', code: 'not_an_integer', detail: '"twelve"' },
      { field: 'date', code: 'not_a_date', detail: '"2025-02-30"' },
      { field: 'start_time', code: 'not_a_time', detail: '"24:00:00"' },
      { field: 'ptotal', code: 'not_a_decimal', detail: '"1e3x"' },
      { field: 'note', code: 'unstorable_text', detail: '"a\\u0000b"' },
    ],
  });
});

test('more places than documented are kept, with a misfit', () => {
  const { row, misfits } = columnsOf('clients', '{"id":7,"credit":"10.005"}');
  expect(row['credit']).toBe('10.005');
  expect(misfits).toEqual([{ field: 'credit', code: 'more_places', detail: '"10.005"' }]);
});

test.each(BY_NAME)('of %s an absent field and a null are null, silently', (_name, kind) => {
  const nulls = `{${kind.fields.map(({ name }) => `"${name}":null`).join(',')}}`;
  const expected = { values: kind.fields.map(() => null), misfits: [] };
  expect(decodeRecord(kind, {})).toEqual(expected);
  expect(decodeRecord(kind, parse(nulls))).toEqual(expected);
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
  'C12: %s is a value only where the record has it',
  (name) => {
    const kind: Kind = { ...named('categories'), fields: [{ name, type: 'json' }] };
    expect(ownValue({}, name)).toBeUndefined();
    expect(decodeRecord(kind, {})).toEqual({ values: [null], misfits: [] });
    expect(decodeRecord(kind, parse(`{"${name}":1.50}`))).toEqual({ values: ['1.5'], misfits: [] });
  },
);

test.each(BY_NAME)('a %s decodes to the same from its own _raw', (_name, kind) => {
  fc.assert(
    fc.property(recordsOf(kind), (text) => {
      const record = parse(text);
      const raw = compactJson(record);
      expect(decodeRecord(kind, parse(raw))).toEqual(decodeRecord(kind, record));
      expect(compactJson(parse(raw))).toBe(raw);
    }),
  );
});

test.each(BY_NAME)('C10: nothing of a %s is text that a database refuses', (_name, kind) => {
  fc.assert(
    fc.property(recordsOf(kind), (text) => {
      const texts = decodeRecord(kind, parse(text)).values.map(String);
      expect(texts.filter((value) => /[\0\p{Surrogate}]/u.test(value))).toEqual([]);
    }),
  );
});

test.each([0, 1])('C10: a detail that is cut is cut between characters (shift %i)', (shift) => {
  const long = `\u0000${'x'.repeat(shift)}${'🍁'.repeat(300)}`;
  const [misfit] = columnsOf('clients', JSON.stringify({ id: 7, name: long })).misfits;
  expect(misfit?.detail.length).toBeLessThanOrEqual(200);
  expect(misfit?.detail).toMatch(/^"\\u0000x?(?:🍁)+$/u);
});
