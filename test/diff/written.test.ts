import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { holdsWritten, readNameOf, shownValue, writeNameOf } from '../../src/diff/written.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { records, respelled, spell } from '../support/json-models.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';

const named = (name: string): Kind => kindNamed(name) ?? expect.fail(`no kind ${name}`);
const parse = (text: string) => parseJson(text) as JsonObject;

/** Whether JSON text sent to a field holds where the service shows other JSON text, or nothing at all. */
function holds(path: string, sent: string, remote: string | null): boolean {
  const [kind = '', field = ''] = path.split('.');
  const there = remote === null ? undefined : parseJson(remote);
  return holdsWritten(named(kind), field, { sent: parseJson(sent), remote: there });
}

describe('names', () => {
  test.each([
    ['projects', 'name', 'nom'],
    ['projects', 'nom', 'nom'],
    ['clients', 'address2', 'adresse2'],
    ['providers', 'address2', 'address2'],
    ['clients', 'unheard_of', 'unheard_of'],
    ['clients', '__proto__', '__proto__'],
    ['products', 'price', 'price'],
  ])('%s: what is written as %s is read as %s', (kind, write, read) => {
    expect(readNameOf(named(kind), write)).toBe(read);
  });

  test('every documented field is found again by the name by which it is written', () => {
    for (const kind of ['projects', 'clients', 'providers', 'punches', 'purchase_products'].map(named))
      expect(kind.fields.map((field) => readNameOf(kind, writeNameOf(field)))).toEqual(
        kind.fields.map((field) => field.name),
      );
  });

  test('a copy that shows a field by the name by which it is written is understood', () => {
    expect(shownValue(named('clients'), { address2: 'b' }, 'adresse2')).toBe('b');
    expect(shownValue(named('clients'), { adresse2: 'a', address2: 'b' }, 'adresse2')).toBe('a');
    expect(shownValue(named('clients'), { name: 'a' }, 'adresse2')).toBeUndefined();
    expect(shownValue(named('clients'), {}, 'constructor')).toBeUndefined();
  });
});

describe('what was sent holds', () => {
  test.each([
    ['punches.start_time', '"08:00"', '"08:00:00"'],
    ['punches.end_time', '""', 'null'],
    ['punches.date', '"2026-01-05"', '"2026-01-05"'],
    ['punches.user_id', '5', '"5"'],
    ['punches.user_id', '9007199254740993', '"9007199254740993"'],
    ['punches.ptotal', '"10"', '"10.00"'],
    ['punches.ptotal', '10', '"10.00"'],
    ['punches.note', '""', 'null'],
    ['punches.note', 'null', '""'],
    ['punches.note', 'null', null],
    ['punches.note', '5', '"5"'],
    ['purchase_products.purchase_id', '"7"', '7'],
    ['purchase_products.purchase_id', '"007"', '7'],
    ['purchase_products.product_price', '12345678901234567.01', '"12345678901234567.0100"'],
    ['clients.creation_date', 'null', '"0000-00-00"'],
    ['clients.creation_date', '"0000-00-00"', '""'],
    ['clients.inactive', 'true', '1'],
    ['clients.inactive', '"0"', '0'],
    ['clients.term', '"30"', '30'],
    ['clients.credit', '"0000-00-00"', 'null'],
    ['clients.credit', '0', '"0.00"'],
    ['clients.contacts', '[{"nom":"A"}]', '[{"id":7,"nom":"A","fax":""}]'],
    ['clients.contacts', '[{"nom":"A","fax":""}]', '[{"id":7,"nom":"A","fax":null}]'],
    ['clients.contacts', '[]', '[]'],
    ['projects.tasks', '[{"time_spent":"1","title":"a"}]', '[{"title":"a","time_spent":"1.00","id":1}]'],
    ['products.price', '"10"', '"10.0000"'],
    ['products.updated_at', '"2026-01-05T08:00:00"', '"2026-01-05 08:00:00"'],
    ['products.updated_at', 'null', '"0000-00-00 00:00:00"'],
    ['products.medias', '{"a":1,"b":2}', '{"b":2,"a":1.0}'],
    ['vehicle_brands.name', '"Volvo"', '"Volvo"'],
    ['vehicle_brands.rank', '1.50', '"1.50"'],
    ['vehicle_brands.rank', '1.50', '1.5'],
    ['vehicle_brands.rank', '1.50', '"1.5"'],
    ['vehicle_brands.rank', '"5"', '5'],
    ['vehicle_brands.models', '[{"name":"V70"},"x"]', '[{"id":1,"name":"V70"},"x"]'],
    ['vehicle_brands.note', '""', 'null'],
    ['vehicle_brands.ratio', '"abc"', '"abc"'],
  ])('%s: %s as %s', (path, sent, remote) => {
    expect(holds(path, sent, remote)).toBe(true);
  });
});

describe('what was sent does not hold', () => {
  test.each([
    ['punches.start_time', '"08:00"', '"08:00:01"'],
    ['punches.start_time', '"8 o\'clock"', '"08:00:00"'],
    ['punches.user_id', '9007199254740993', '9007199254740992'],
    ['punches.user_id', '0', 'null'],
    ['punches.user_id', '0', null],
    ['punches.user_id', '5', '"5 "'],
    ['punches.ptotal', '"10.005"', '"10.00"'],
    ['punches.ptotal', '0', 'null'],
    ['punches.date', '20260105', '"20260105"'],
    ['punches.note', 'null', '"null"'],
    ['punches.note', '"a"', '"a "'],
    ['punches.note', '"a"', '"A"'],
    ['punches.note', '"\\u00e9"', '"e\\u0301"'],
    ['punches.note', '"0000-00-00"', 'null'],
    ['punches.note', '"a"', null],
    ['clients.code', '"007"', '"7"'],
    ['clients.code', '"007"', '7'],
    ['clients.term', '0', '""'],
    ['clients.contacts', '[{"nom":"A"}]', '[{"nom":"A"},{"nom":"B"}]'],
    ['clients.contacts', '[{"nom":"A"},{"nom":"B"}]', '[{"nom":"B"},{"nom":"A"}]'],
    ['clients.contacts', '[{"id":7,"nom":"A"}]', '[{"nom":"A"}]'],
    ['clients.contacts', '[]', 'null'],
    ['clients.contacts', '[null]', '[]'],
    ['clients.contacts', '[{"__proto__":"a"}]', '[{}]'],
    ['purchase_products.gestion_taxes', '"[1,2]"', '"[1, 2]"'],
    ['purchase_products.produit_projet', '{"id":1}', '{"id":1,"nom":"a"}'],
    ['vehicle_brands.name', '"Volvo"', '" Volvo"'],
    ['vehicle_brands.rank', '"1.50"', '"1.5"'],
    ['vehicle_brands.flag', 'true', '1'],
    ['vehicle_brands.toString', '"a"', null],
  ])('%s: %s as %s', (path, sent, remote) => {
    expect(holds(path, sent, remote)).toBe(false);
  });
});

test('whatever is sent to whatever field holds as itself', () => {
  for (const kind of ['clients', 'projects', 'punches', 'products', 'vehicle_brands'].map(named))
    for (const { name } of [...kind.fields, ...kind.hints, { name: 'unheard_of' }])
      for (const value of NASTY_VALUES)
        expect(holdsWritten(kind, name, { sent: value, remote: value }), name).toBe(true);
});

test('where no type is known, JSON holds however it is spelled', () => {
  fc.assert(
    fc.property(records, (model) => {
      const [sent, remote] = [parse(spell(model)), parse(spell(respelled(model)))];
      expect(holdsWritten(named('vehicle_brands'), 'any', { sent, remote })).toBe(true);
      expect(holdsWritten(named('vehicle_brands'), 'any', { sent: [sent], remote: [remote] })).toBe(true);
    }),
  );
});

test('two different integers of any length never hold as each other', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 1000n }), (number, step) => {
      expect(holds('punches.user_id', String(number), `"${number}"`)).toBe(true);
      expect(holds('punches.user_id', String(number), String(number + step))).toBe(false);
      expect(holds('vehicle_brands.rank', String(number), `"${number + step}"`)).toBe(false);
    }),
  );
});
