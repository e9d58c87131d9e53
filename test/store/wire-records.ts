import fc from 'fast-check';
import { columnType, type Field, type FieldType, type Kind } from '../../src/catalog/kind.ts';

/** A value as JSON text, and what its column must hold: text to the digit, null, or JSON of the same meaning. */
export interface Sent {
  readonly wire: string;
  readonly column: string | null | { readonly json: string };
}

export interface SentRecord {
  readonly id: string;
  /** The record as compact JSON text. */
  readonly raw: string;
  /** What each documented field's column must hold. */
  readonly columns: Readonly<Record<string, Sent['column']>>;
}

const LARGEST = 2n ** 63n - 1n;

export const idText: fc.Arbitrary<string> = fc
  .oneof(fc.bigInt(1n, LARGEST), fc.bigInt(1n, 1000n), fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, LARGEST))
  .map(String);

const quoted = (text: string): string => JSON.stringify(text);
const kept = (text: string): Sent => ({ wire: quoted(text), column: text });
const lost = (...wires: readonly string[]): fc.Arbitrary<Sent> =>
  fc.constantFrom(...wires.map((wire) => ({ wire, column: null })));

/** Text with quotes, controls, emoji and scripts, which all a column can hold. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    'null',
    '00012',
    '1e5',
    `it's "so"; drop table x; --`,
    '\u2028\u202e\ufeff',
    'x'.repeat(5000),
  ),
);
const storableText = anyText.filter((text) => !text.includes('\0'));

/** Digits with a point somewhere or nowhere, and the shortest text of the same value at a scale, found with BigInt. */
export const decimalDigits: fc.Arbitrary<{ sign: '' | '-'; whole: string; fraction: string }> = fc.record({
  sign: fc.constantFrom('' as const, '-' as const),
  whole: fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 22 })
    .map((digits) => digits.join('')),
  fraction: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }).map((digits) => digits.join('')),
});

export function canonicalDecimal(
  { sign, whole, fraction }: { sign: string; whole: string; fraction: string },
  scale: number,
): string {
  const significant = fraction.replace(/0+$/, '');
  const places = Math.max(scale, significant.length);
  const units = BigInt(whole + significant.padEnd(places, '0'));
  const digits = String(units).padStart(places + 1, '0');
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return units === 0n ? text : sign + text;
}

function decimalSent(scale: number): fc.Arbitrary<Sent> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(decimalDigits, fc.boolean()).map(([digits, asNumber]) => {
        const column = canonicalDecimal(digits, scale);
        const point = digits.fraction === '' ? '' : `.${digits.fraction}`;
        // A JSON number has no leading zeros; text may have them.
        const token = `${digits.sign}${asNumber ? String(BigInt(digits.whole)) : digits.whole}${point}`;
        return { wire: asNumber ? token : quoted(token), column };
      }),
    },
    fc.constantFrom(
      { wire: '15e2', column: canonicalDecimal({ sign: '', whole: '1500', fraction: '' }, scale) },
      { wire: '"1E+3"', column: canonicalDecimal({ sign: '', whole: '1000', fraction: '' }, scale) },
      { wire: '1.5E-3', column: canonicalDecimal({ sign: '', whole: '0', fraction: '0015' }, scale) },
    ),
    lost(
      '""',
      '"0000-00-00"',
      '"1,234.50"',
      '" 12 "',
      '"0x10"',
      '".5"',
      '"5."',
      '"١٢"',
      '"1e999999"',
      '"+1"',
      '"12.5 $"',
      '"NaN"',
      '1e999',
      'true',
      '[]',
      '{"a":1}',
      '"--1"',
      '"1.2.3"',
    ),
  );
}

const two = (value: number): string => String(value).padStart(2, '0');
const day = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const minute = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map(two).join(':'));
const clock = fc
  .tuple(minute, fc.integer({ min: 0, max: 59 }))
  .map(([time, second]) => `${time}:${two(second)}`);

const SENT: Record<Exclude<FieldType, 'decimal'>, fc.Arbitrary<Sent>> = {
  integer: fc.oneof(
    fc.tuple(fc.bigInt(-LARGEST - 1n, LARGEST), fc.boolean()).map(([integer, asText]) => ({
      wire: asText ? `"${integer}"` : String(integer),
      column: String(integer),
    })),
    lost('""', '-0', '1.0', '1e2', '"07"', '" 7"', 'true', '"abc"', '[7]', '{}', '9223372036854775808'),
  ),
  flag: fc.oneof(
    fc.constantFrom(...['1', '"1"', 'true'].map((wire) => ({ wire, column: '1' }))),
    fc.constantFrom(...['0', '"0"', 'false'].map((wire) => ({ wire, column: '0' }))),
    lost('2', '"false"', '"yes"', '""', '1.0', '[]', '-0'),
  ),
  date: fc.oneof(
    day.map(kept),
    lost(
      '""',
      '"0000-00-00"',
      '"2025-02-30"',
      '"2025-2-3"',
      '"03/04/2025"',
      '"10000-01-01"',
      '20250101',
      '[]',
    ),
  ),
  time: fc.oneof(
    clock.map(kept),
    minute.map((time) => ({ wire: quoted(time), column: `${time}:00` })),
    fc
      .constantFrom(
        ['24:00:00', '00:00:00'],
        ['23:59:60', '00:00:00'],
        ['7:00', '07:00:00'],
        ['7:00:09.5', '07:00:09'],
      )
      .map(([text = '', column = '']) => ({ wire: quoted(text), column })),
    lost('""', '"24:00:01"', '"07:00 PM"', '700', '{}'),
  ),
  timestamp: fc.oneof(
    fc.tuple(day, clock).map(([date, time]) => kept(`${date} ${time}`)),
    fc
      .tuple(day, clock)
      .map(([date, time]) => ({ wire: quoted(`${date}T${time}`), column: `${date} ${time}` })),
    lost('""', '"0000-00-00 00:00:00"', '"2025-02-30 00:00:00"', '"2025-01-01 24:00:00"', '1735689600'),
  ),
  text: fc.oneof(
    storableText.map(kept),
    fc
      .constantFrom('12', '12.50', '1e5', '-0', '123456789012345678901234567890', 'true', 'false')
      .map((wire) => ({
        wire,
        column: wire,
      })),
    lost('"a\\u0000b"', '"\\ud800"', '"x\\udfff"', '[]', '{"a":[1]}'),
  ),
  json: fc.oneof(
    fc.json({ maxDepth: 3 }).map((text) => {
      const wire = JSON.stringify(JSON.parse(text));
      return { wire, column: wire === 'null' ? null : { json: wire } };
    }),
    fc.constantFrom(
      ...['[]', '{}', '""', '[{"id":1,"nom":"é\\\\u0000"}]', '{"__proto__":1}'].map((wire) => ({
        wire,
        column: { json: wire },
      })),
    ),
    lost('[{"id":1,"nom":"é\\u0000"}]', '{"\\ud83d":1}', '"\\udc00"', '["\\\\\\u0000"]'),
  ),
};

/** A documented field of a record: absent, null, right, or as wrong as the service can make it. */
function member(field: Field): fc.Arbitrary<Sent | null> {
  const type = columnType(field);
  const sent = type === 'decimal' ? decimalSent(field.scale ?? 0) : SENT[type];
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant({ wire: 'null', column: null }) },
    { weight: 8, arbitrary: sent },
  );
}

/** Fields that nobody documented, some with names that JavaScript or SQL might trip over. */
const extras = fc.dictionary(
  fc.constantFrom('constructor', 'toString', 'a "quoted" name', '_raw', 'Id', 'é', 'new_field', ''),
  fc.constantFrom('1', '12.50', '1e400', '-0', '"x"', 'null', '[1.10,{"a":1e2}]', '9007199254740993'),
);

/** A record as the service might send it, and what the mirror must make of it. */
export function sentRecord(kind: Kind): fc.Arbitrary<SentRecord> {
  const others = kind.fields.filter(({ name }) => name !== 'id');
  const members = fc.tuple(...others.map(member));
  return fc.tuple(idText, members, extras, fc.boolean()).map(([id, sent, more, idAsText]) => {
    const texts = [`"id":${idAsText ? `"${id}"` : id}`];
    const columns: Record<string, Sent['column']> = { id };
    others.forEach(({ name }, index) => {
      const value = sent[index];
      columns[name] = value?.column ?? null;
      if (value) texts.push(`${quoted(name)}:${value.wire}`);
    });
    for (const [name, wire] of Object.entries(more)) texts.push(`${quoted(name)}:${wire}`);
    return { id, raw: `{${texts.join(',')}}`, columns };
  });
}
