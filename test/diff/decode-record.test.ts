import fc from 'fast-check';
import { expect, test, describe } from 'vitest';
import { KINDS, documentedKind } from '../../src/catalog/kinds/catalog.ts';
import {
  decimalField,
  textField,
  dateField,
  flagField,
  integerField,
  jsonField,
  timeField,
  timestampField,
} from '../../src/catalog/field.ts';
import type { Kind, Field } from '../../src/catalog/kind.ts';
import {
  createRecordDecoder,
  ownValue,
  decodeField,
  type MisfitCode,
  type ColumnValue,
} from '../../src/diff/decode-record.ts';
import { compactJson, parseJson, canonicalJson, type JsonObject } from '../../src/lib/json/json.ts';
import { models, spell, numberTokens, type Member, type Model } from '../support/json-models.ts';
import { exactValue } from '../support/exact.ts';
import { tries } from '../support/tiers.ts';

const named = (name: string): Kind => documentedKind(name) ?? expect.fail(`no kind ${name}`);
const BY_NAME = KINDS.map((kind) => [kind.name, kind] as const);
const parse = (text: string) => parseJson(text) as JsonObject;

/** Decodes a text into named columns. */
function columnsOf(kind: string, text: string) {
  const { values, misfits } = createRecordDecoder(named(kind))(parse(text));
  return { row: Object.fromEntries(named(kind).fields.map(({ name }, at) => [name, values[at]])), misfits };
}

test('a column of texts keeps what its field’s column cannot, as it came, and is null beside all that fits', () => {
  const fields: Field[] = [decimalField('rate', 2), { name: 'rate_text', type: 'text', textOf: 'rate' }];
  const kind: Kind = { ...named('punches'), fields };
  const kept = (value: string) =>
    createRecordDecoder(kind)(parse(`{"rate":${value},"rate_text":"the service’s own"}`)).values;
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
  const text = `{"id":7,"user_id":"twelve","date":"2025-02-30","start_time":"24:30:00","ptotal":"1e3x",
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
      { field: 'start_time', code: 'not_a_time', detail: '"24:30:00"' },
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
  expect(createRecordDecoder(kind)({})).toEqual(expected);
  expect(createRecordDecoder(kind)(parse(nulls))).toEqual(expected);
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
  'C12: %s is a value only where the record has it',
  (name) => {
    const kind: Kind = { ...named('categories'), fields: [{ name, type: 'json' }] };
    expect(ownValue({}, name)).toBeUndefined();
    expect(createRecordDecoder(kind)({})).toEqual({ values: [null], misfits: [] });
    expect(createRecordDecoder(kind)(parse(`{"${name}":1.50}`))).toEqual({ values: ['1.5'], misfits: [] });
  },
);

test.each(BY_NAME)('a %s decodes to the same from its own _raw', (_name, kind) => {
  fc.assert(
    fc.property(recordsOf(kind), (text) => {
      const record = parse(text);
      const raw = compactJson(record);
      expect(createRecordDecoder(kind)(parse(raw))).toEqual(createRecordDecoder(kind)(record));
      expect(compactJson(parse(raw))).toBe(raw);
    }),
  );
});

test.each(BY_NAME)('C10: nothing of a %s is text that a database refuses', (_name, kind) => {
  fc.assert(
    fc.property(recordsOf(kind), (text) => {
      const texts = createRecordDecoder(kind)(parse(text)).values.map(String);
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

interface Decoded {
  readonly value: ColumnValue;
  readonly misfit: MisfitCode | null;
}

/** Decodes a JSON text; `misfit` is null where the value fits its field. */
function decode(field: Field, token: string): Decoded {
  const wrapped = parseJson(`{"value":${token}}`) as { value: never };
  let misfit: MisfitCode | null = null;
  const value = decodeField(field, wrapped.value, (_field, code) => {
    misfit = code;
  });
  return { value, misfit };
}

const fit = (value: ColumnValue): Decoded => ({ value, misfit: null });
const none = (misfit: MisfitCode): Decoded => ({ value: null, misfit });
const quoted = (value: string) => JSON.stringify(value);
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const NESTED = ['[]', '{}', '["1"]', '{"value":1}'];

describe('C04: decimals with 2 places', () => {
  const money = decimalField('money', 2);

  test.each([
    ['0', '0.00'],
    ['-0', '0.00'],
    ['000.000', '0.00'],
    ['-1', '-1.00'],
    ['10.00', '10.00'],
    ['10.0000000000', '10.00'],
    ['0.1', '0.10'],
    ['-0.1', '-0.10'],
    ['0.01', '0.01'],
    ['007', '7.00'],
    ['-007.5', '-7.50'],
    ['1234.50', '1234.50'],
    ['0.29', '0.29'],
    ['1.15', '1.15'],
    ['9007199254740993.01', '9007199254740993.01'],
    ['-9007199254740993.01', '-9007199254740993.01'],
    ['123456789012345678901234567890.12', '123456789012345678901234567890.12'],
  ])('the text %j is %s', (input, expected) => {
    expect(decode(money, quoted(input))).toEqual(fit(expected));
  });

  test.each([
    ['0', '0.00'],
    ['-0', '0.00'],
    ['-7', '-7.00'],
    ['0.1', '0.10'],
    ['1e2', '100.00'],
    ['1e+2', '100.00'],
    ['1.5e1', '15.00'],
    ['1.50e-1', '0.15'],
    ['123e-2', '1.23'],
    ['-2.5E0', '-2.50'],
    ['0e9', '0.00'],
    ['9007199254740993', '9007199254740993.00'],
    ['1e20', '100000000000000000000.00'],
  ])('the number %s is %s', (input, expected) => {
    expect(decode(money, input)).toEqual(fit(expected));
  });

  test.each(['null', '""', '"0000-00-00"'])('%s is none, silently', (input) => {
    expect(decode(money, input)).toEqual(fit(null));
  });

  test.each([
    ['"1.005"', '1.005'],
    ['"0.001"', '0.001'],
    ['"-10.12345"', '-10.12345'],
    ['"1.0050"', '1.005'],
    ['1.005', '1.005'],
    ['1e-3', '0.001'],
    ['"-1.5e-2"', '-0.015'],
    ['"0.100000000000000000000000000001"', '0.100000000000000000000000000001'],
  ])('more places than documented are kept, with a misfit: %s', (input, expected) => {
    expect(decode(money, input)).toEqual({ value: expected, misfit: 'more_places' });
  });

  test.each(
    // prettier-ignore
    [
      '1e999999', '1e3.5', '1e', '1,234.50', '1234,50', '1\u00a0234', "1'234", ' 12 ', '12\n', '\u00a012',
      ' ', '0x10', '010x', '.5', '.', '-', '--1', '+1', '1-', '1.2.3', '(1.00)', '١٢', '½', '−1', 'NaN',
      'Infinity', 'null', 'true', 'abc', '12abc', '$12.00', '12%', '1_000', '1n', '1:00', '2024-01-01',
      '[]', '"1"', '1\u00000', '1\u200b', '\ufeff1',
    ],
  )('the text %j is no decimal', (input) => {
    expect(decode(money, quoted(input))).toEqual(none('not_a_decimal'));
  });

  test.each(['true', 'false', '1e401', '1e-401', '1e99999', ...NESTED])('%s is no decimal', (input) => {
    expect(decode(money, input)).toEqual(none('not_a_decimal'));
  });

  test('C03: any JSON number keeps its value at any scale', () => {
    fc.assert(
      fc.property(numberTokens, fc.nat(6), (token, scale) => {
        const { value, misfit } = decode(decimalField('money', scale), token);
        expect(exactValue(String(value))).toBe(exactValue(token));
        const places = String(value).split('.')[1]?.length ?? 0;
        expect(misfit === null ? places === scale : places > scale).toBe(true);
      }),
      { numRuns: tries(1000) },
    );
  });

  test('without a scale every place fits', () => {
    expect(decode({ name: 'a', type: 'decimal' }, '"1.23450"')).toEqual(fit('1.2345'));
  });
});

describe('C07: dates', () => {
  // prettier-ignore
  const days = [
    '2024-02-29', '2000-02-29', '1900-02-28', '0001-01-01', '9999-12-31', '1969-12-31', '2568-05-05',
    '2025-04-30', '2025-06-30', '2025-12-31', '2011-12-30', '2026-03-29',
  ];

  test.each(days)('%s is a date', (day) => {
    expect(decode(dateField('day'), quoted(day))).toEqual(fit(day));
  });

  test.each(['2025-01-01 00:00:00', '2025-01-01T23:59:59', '2025-01-01 9:05', '2025-01-01 00:00:00.000000'])(
    '%s is the date 2025-01-01',
    (input) => {
      expect(decode(dateField('day'), quoted(input))).toEqual(fit('2025-01-01'));
    },
  );

  test.each(['null', '""', '"0000-00-00"', '"0000-00-00 00:00:00"'])('%s is none, silently', (input) => {
    expect(decode(dateField('day'), input)).toEqual(fit(null));
  });

  test.each(
    // prettier-ignore
    [
      '2025-02-29', '2025-02-30', '1900-02-29', '2025-04-31', '2025-11-31', '2025-01-32', '2025-00-10',
      '2025-01-00', '2025-13-01', '0000-01-01', '2025-00-00', '-2025-01-01', '10000-01-01', '2025-1-1',
      '2025/01/01', '01/02/2025', '20250101', '2025-W01-1', '2025-01', ' 2025-01-01', '2025-01-01 ',
      '2025-01-01\n', '2025-01-01T00:00:00Z', '2025-01-01 00:00:00+02:00', '2025-01-01 00:00:00.000Z', '2025-01-01Z',
      '2025-02-29 00:00:00', '2025-01-01  00:00:00', '2025-01-01 noon', '1735689600', 'today',
      '٢٠٢٥-٠١-٠١', '２０２５-01-01', '2025‐01‐01', '2025-01-01\u0000', 'null', '0000-00-0',
    ],
  )('the text %j is no date', (input) => {
    expect(decode(dateField('day'), quoted(input))).toEqual(none('not_a_date'));
  });

  test.each(['0', '20250101', '1735689600', '1.5', 'true', 'false', ...NESTED])('%s is no date', (input) => {
    expect(decode(dateField('day'), input)).toEqual(none('not_a_date'));
  });
});

describe('C07: times', () => {
  test.each([
    ['00:00:00', '00:00:00'],
    ['23:59:59', '23:59:59'],
    ['08:30:00', '08:30:00'],
    ['12:00:01', '12:00:01'],
    ['02:30:00', '02:30:00'],
    ['08:30', '08:30:00'],
    ['00:00', '00:00:00'],
    ['23:59', '23:59:00'],
    ['9:05', '09:05:00'],
    ['9:05:00', '09:05:00'],
    ['08:30:00.000', '08:30:00'],
    ['08:30:15,250000', '08:30:15'],
    ['24:00', '00:00:00'],
    ['24:00:00', '00:00:00'],
    ['24:00:00.000', '00:00:00'],
    ['23:59:60', '00:00:00'],
  ])('%s is the time %s', (input, expected) => {
    expect(decode(timeField('at'), quoted(input))).toEqual(fit(expected));
  });

  test.each(['null', '""', '"0000-00-00"'])('%s is none, silently', (input) => {
    expect(decode(timeField('at'), input)).toEqual(fit(null));
  });

  test.each(
    // prettier-ignore
    [
      '24:00:01', '24:01', '25:00', '22:59:60', '23:60:00', '-01:00:00', '008:30', '08:3', '0830', '08h30', '08:30 AM',
      '08:30:00.', '08:30.5', '08:30:00.000Z', '08:30:00Z', ' 08:30', '08:30\n', '08.30', '08:30:00:00', 'noon',
      '2025-01-01 08:30:00', '٠٨:٣٠', '838:59:59', '00:00:00\u0000', ':',
    ],
  )('the text %j is no time', (input) => {
    expect(decode(timeField('at'), quoted(input))).toEqual(none('not_a_time'));
  });

  test.each(['0', '8.5', '830', 'true', 'false', ...NESTED])('%s is no time', (input) => {
    expect(decode(timeField('at'), input)).toEqual(none('not_a_time'));
  });
});

describe('C08: date-times without a zone stay as the wall shows them', () => {
  test.each([
    ['2026-03-29 02:30:00', '2026-03-29 02:30:00'],
    ['2026-10-25 02:30:00', '2026-10-25 02:30:00'],
    ['2011-12-30 12:00:00', '2011-12-30 12:00:00'],
    ['2024-02-29 23:59:59', '2024-02-29 23:59:59'],
    ['2026-03-29T02:30:00', '2026-03-29 02:30:00'],
    ['2026-03-29 02:30', '2026-03-29 02:30:00'],
    ['2026-03-29 2:30:00.000', '2026-03-29 02:30:00'],
  ])('%s', (input, expected) => {
    expect(decode(timestampField('at'), quoted(input))).toEqual(fit(expected));
  });

  test.each(['null', '""', '"0000-00-00"', '"0000-00-00 00:00:00"'])('%s is none, silently', (input) => {
    expect(decode(timestampField('at'), input)).toEqual(fit(null));
  });

  test.each(
    // prettier-ignore
    [
      '2025-02-30 10:00:00', '2025-01-01 24:00:00', '2025-01-01 23:59:60', '2025-01-01',
      '2025-01-01T10:00:00Z', '2025-01-01T10:00:00+01:00', '2025-01-01 10:00:00.000Z',
      '2025-01-01  10:00:00', '2025-01-01_10:00:00', '2025-01-01t10:00:00', ' 2025-01-01 10:00:00',
      '1735689600', 'now',
    ],
  )('%j is no timestamp', (input) => {
    expect(decode(timestampField('at'), quoted(input))).toEqual(none('not_a_timestamp'));
  });

  test.each(['1735689600', '1735689600000', 'true', ...NESTED])('%s is no timestamp', (input) => {
    expect(decode(timestampField('at'), input)).toEqual(none('not_a_timestamp'));
  });
});

describe('C09: flags', () => {
  test.each([
    ['1', 1],
    ['"1"', 1],
    ['true', 1],
    ['0', 0],
    ['"0"', 0],
    ['false', 0],
    ['null', null],
  ])('%s is %j', (input, expected) => {
    expect(decode(flagField('active'), input)).toEqual(fit(expected));
  });

  test.each([
    '"true"',
    '"yes"',
    '"on"',
    '""',
    '" "',
    '"00"',
    '"1.0"',
    '" 1"',
    '2',
    '-1',
    '1.0',
    '1e0',
    '0.0',
    ...NESTED,
  ])('%s is no flag', (input) => {
    expect(decode(flagField('active'), input)).toEqual(none('not_a_flag'));
  });
});

describe('integers', () => {
  test('C03: every 64-bit integer is itself, as number and as text', () => {
    const all = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    const ends = fc.constantFrom(0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n));
    fc.assert(
      fc.property(fc.oneof(all, ends), (integral) => {
        for (const token of [String(integral), quoted(String(integral))]) {
          const { value, misfit } = decode(integerField('n'), token);
          expect([String(value), misfit]).toEqual([String(integral), null]);
        }
      }),
    );
  });

  test.each([
    '""',
    '" "',
    '"007"',
    '"+7"',
    '" 7"',
    '"7 "',
    '"7.0"',
    '"1e2"',
    '"abc"',
    '"-0"',
    '"٧"',
    '"0x7"',
    '"7\\n"',
    '7.0',
    '7.5',
    '1e2',
    '-0',
    '-0.0',
    'true',
    'false',
    ...NESTED,
    '9223372036854775808',
    '-9223372036854775809',
    '"9223372036854775808"',
    '99999999999999999999',
  ])('%s is no integer', (input) => {
    expect(decode(integerField('n'), input)).toEqual(none('not_an_integer'));
  });
});

describe('text', () => {
  test('C14: any text is stored as it came', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const stored = value.includes('\0') ? none('unstorable_text') : fit(value);
        expect(decode(textField('t'), quoted(value))).toEqual(stored);
      }),
      { numRuns: tries(5000) },
    );
  });

  test.each([
    ['', ''],
    [' padded ', ' padded '],
    ['0042', '0042'],
    ['1.50', '1.50'],
    ['null', 'null'],
    ['e\u0301 is not \u00e9', 'e\u0301 is not \u00e9'],
    ['שלום مرحبا', 'שלום مرحبا'],
    ['a\u200b\u202eb', 'a\u200b\u202eb'],
    ['👩‍👩‍👧 🍁', '👩‍👩‍👧 🍁'],
    ['line\r\nline\ttab', 'line\r\nline\ttab'],
    ['\ufffe\uffff\ufffd', '\ufffe\uffff\ufffd'],
    ['<b>&amp;', '<b>&amp;'],
  ])('C14: %j is itself', (input, expected) => {
    expect(decode(textField('t'), quoted(input))).toEqual(fit(expected));
  });

  test('C14: a text of 10 MB is itself', () => {
    const long = 'é🍁'.repeat(2_000_000);
    expect(decode(textField('t'), quoted(long)).value === long).toBe(true);
  });

  test.each(['\0', 'a\0', '\0b', 'a\0b', '\ud800', '\udc00', 'a\ud83d', '\udf41b', '\ud83d\ud83d\udf41'])(
    'C10: %j is kept out of the column',
    (input) => {
      expect(decode(textField('t'), quoted(input))).toEqual(none('unstorable_text'));
    },
  );

  test.each(['7', '-0', '1.50', '1e2', '9007199254740993', '12345678901234567890.10'])(
    'C03: the number %s is its own token',
    (input) => {
      expect(decode(textField('t'), input)).toEqual(fit(input));
    },
  );

  test.each(NESTED)('%s is no text', (input) => {
    expect(decode(textField('t'), input)).toEqual(none('not_text'));
  });
});

test('a json field takes any value that databases can take apart again, as canonical JSON', () => {
  const isUnstorable = (model: Model): boolean => {
    if ('string' in model) return UNSTORABLE.test(model.string);
    if ('array' in model) return model.array.some(isUnstorable);
    if ('object' in model)
      return model.object.some(([name, value]) => UNSTORABLE.test(name) || isUnstorable(value));
    return false;
  };
  fc.assert(
    fc.property(models, (model) => {
      // An object whose keys are numbers is an array of PHP's: see below.
      fc.pre(
        !('object' in model && model.object.every(([name]) => /^\d+$/.test(name)) && model.object.length > 0),
      );
      const token = spell(model);
      const value = token === 'null' ? null : canonicalJson(parseJson(`[${token}]`)).slice(1, -1);
      expect(decode(jsonField('j'), token)).toEqual(
        isUnstorable(model) ? none('unstorable_text') : fit(value),
      );
    }),
  );
});

test.each([
  ['{"0":{"id":1},"2":{"id":2}}', '[{"id":1},{"id":2}]'],
  ['{"7":["a"]}', '[["a"]]'],
  ['{"7":"a"}', '{"7":"a"}'],
  ['{"a":{},"1":{}}', '{"1":{},"a":{}}'],
  ['{}', '{}'],
])('a json field takes %s as %s', (token, kept) => {
  expect(decode(jsonField('j'), token)).toEqual(fit(kept));
});

test.each([
  ['["a\\u0000b"]', null],
  ['{"a\\u0000":1}', null],
  ['"\\ud83d"', null],
  ['["\\ude00\\ud83d"]', null],
  ['["\\\\\\u0000"]', null],
  ['["\\\\u0000"]', '["\\\\u0000"]'],
  ['["\\\\ud83d"]', '["\\\\ud83d"]'],
  ['["\\ud83d\\ude00"]', '["😀"]'],
  ['["\\u0001"]', '["\\u0001"]'],
])(
  'C05: json with NUL or half a character in it is a misfit, an escaped backslash is not: %s',
  (token, kept) => {
    expect(decode(jsonField('j'), token)).toEqual(kept === null ? none('unstorable_text') : fit(kept));
  },
);

test('a decimal of more than a thousand characters is a misfit', () => {
  for (const token of ['9'.repeat(1000), quoted('9'.repeat(1000)), `0.${'3'.repeat(998)}`])
    expect(decode({ name: 'd', type: 'decimal' }, token)).toEqual(fit(token.replaceAll('"', '')));
  for (const token of ['9'.repeat(1001), quoted('9'.repeat(1001)), `-0.${'3'.repeat(998)}`, '1e1000'])
    expect(decode({ name: 'd', type: 'decimal' }, token)).toEqual(none('not_a_decimal'));
});

test('C11: no value of any field throws, and a misfit is told once with the value', () => {
  const fields = [
    integerField('a'),
    flagField('a'),
    decimalField('a', 2),
    dateField('a'),
    timeField('a'),
    timestampField('a'),
    textField('a'),
    jsonField('a'),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...fields), models, (field, model) => {
      const { value } = parseJson(`{"value":${spell(model)}}`) as { value: never };
      const misfits: unknown[] = [];
      const decoded = decodeField(field, value, (...misfit) => misfits.push(misfit));
      expect(
        misfits.length <= 1 && (misfits.length === 0 || decoded === null || field.type === 'decimal'),
      ).toBe(true);
      for (const misfit of misfits) expect(misfit).toEqual([field, expect.any(String), value]);
    }),
    { numRuns: tries(2000) },
  );
});
