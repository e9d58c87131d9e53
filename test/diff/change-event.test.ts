import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldChanges, changedFields } from '../../src/diff/change-event.ts';
import { compactJson, isArray, isObject, parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { records, spell, models, respelled } from '../support/json-models.ts';
import type { Member } from '../support/json-models.ts';
import { kindNamed } from '../../src/catalog/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';

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
        const [before, after] = [object(spell(first)), object(spell(second))];
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

const named = (name: string): Kind => kindNamed(name) ?? expect.fail(`no kind ${name}`);
const parse = (text: string) => parseJson(text) as JsonObject;
const PURCHASES = named('purchase_products');

/** The fields in which one value of a purchase line, or of another kind, differs from another. */
function changed(
  field: string,
  [before, after]: readonly [string, string],
  kind = PURCHASES,
): readonly string[] {
  return changedFields(kind, parse(`{"id":7,"${field}":${before}}`), parse(`{"id":7,"${field}":${after}}`));
}

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
        expect(changedFields(kind, parse(spell(model)), parse(spell(respelled(model))))).toEqual([]);
      }),
    );
  });

  test('C17: turned around, a record is the same', () => {
    fc.assert(
      fc.property(lines, ({ object }) => {
        const turned = { object: [...object].reverse() };
        expect(changedFields(PURCHASES, parse(spell({ object })), parse(spell(turned)))).toEqual([]);
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
    ['product_price', '"0.1"', '"0.10000000000000001"'],
    ['product_price', '"12345678901234567.01"', '"12345678901234567.02"'],
    ['product_price', '"10"', '"1e2"'],
    ['product_price', '"0"', '""'],
    ['product_price', '"0"', 'null'],
    ['product_price', '"abc"', '"abd"'],
    ['province_id', '7', '8'],
    ['province_id', '9007199254740992', '9007199254740993'],
    ['province_id', '7', '"07"'],
    ['province_id', '0', 'null'],
    ['product_id', '"7"', '"07"'],
    ['product_id', '1.50', '1.5'],
    ['product_name', '"a"', '"A"'],
    ['product_name', '"a"', '"a "'],
    ['product_name', '"\\u00e9"', '"e\\u0301"'],
    ['product_name', '""', 'null'],
    ['product_name', '"null"', 'null'],
    ['product_name', '"null"', '"undefined"'],
    ['product_name', '"a\\u0000"', '"a"'],
    ['product_name', '"a\\u0000"', '"b\\u0000"'],
    ['product_name', '"\\ud800"', '"\\ufffd"'],
    ['gestion_taxes', '"[1,2]"', '"[1, 2]"'],
    ['produit_projet', '[1,2]', '[2,1]'],
    ['produit_projet', 'null', '"null"'],
    ['produit_projet', '{"a":null}', '{}'],
    ['sale_id', '7', '8'],
    ['extra', '1', '2'],
    ['extra', '"null"', 'null'],
    ['extra', 'true', '"true"'],
    ['extra', '"10.00"', '"10.01"'],
    ['__proto__', '{"a":1}', '{"a":2}'],
    ['constructor', '1', '2'],
  ])('of %s: %s is not %s', (field, before, after) => {
    expect(changed(field, [before, after])).toEqual([field]);
    expect(changed(field, [after, before])).toEqual([field]);
  });

  test.each(['null', '""', '"absent"', '0', '[]'])('C13: a field that goes is not %s', (value) => {
    for (const field of ['product_name', 'produit_projet', 'extra', '__proto__', 'constructor'])
      expect(changedFields(PURCHASES, {}, parse(`{"${field}":${value}}`))).toEqual([field]);
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
        { numRuns: 1000 },
      );
    },
  );

  test('every changed field is named, once', () => {
    const before = parse('{"id":7,"product_price":"1","product_name":"a","extra":1,"gone":1}');
    const after = parse('{"id":7,"product_price":"2","product_name":"b","extra":2,"come":1}');
    expect([...changedFields(PURCHASES, before, after)].sort()).toEqual(
      ['come', 'extra', 'gone', 'product_name', 'product_price'].sort(),
    );
  });
});

test('the same fields differ from either side', () => {
  fc.assert(
    fc.property(lines, lines, (one, other) => {
      const [before, after] = [parse(spell(one)), parse(spell(other))];
      expect([...changedFields(PURCHASES, before, after)].sort()).toEqual(
        [...changedFields(PURCHASES, after, before)].sort(),
      );
    }),
  );
});

test('to be unchanged goes on from one reading to the next', () => {
  fc.assert(
    fc.property(lines, lines, lines, (...three) => {
      const [a, b, c] = three.map((line) => parse(spell(line))) as [JsonObject, JsonObject, JsonObject];
      const same = (x: JsonObject, y: JsonObject) => changedFields(PURCHASES, x, y).length === 0;
      expect(same(a, b) && same(b, c) && !same(a, c)).toBe(false);
    }),
  );
});
