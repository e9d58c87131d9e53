import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/catalog/kind.ts';
import {
  isShownAsWritten,
  readNameOf,
  merge,
  compareReadBack,
  type Merge,
} from '../../src/diff/merge-update.ts';
import { shownValue, writeNameOf } from '../../src/diff/shown-value.ts';
import { parseJson, type JsonObject } from '../../src/lib/json/json.ts';
import { records, respelled, spell } from '../support/json-models.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';
import { asShown, namedKind, payloadsOf, WRITTEN_KINDS } from '../support/written-payloads.ts';

const parse = (text: string) => parseJson(text) as JsonObject;

/** Whether JSON text sent to a field holds where the service shows other JSON text, or nothing at all. */
function holds(path: string, sent: string, remote: string | null): boolean {
  const [kind = '', field = ''] = path.split('.');
  const there = remote === null ? undefined : parseJson(remote);
  return isShownAsWritten(namedKind(kind), field, parseJson(sent), there);
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
    expect(readNameOf(namedKind(kind), write)).toBe(read);
  });

  test('every documented field is found again by the name by which it is written', () => {
    for (const kind of ['projects', 'clients', 'providers', 'punches', 'purchase_products'].map(namedKind))
      expect(kind.fields.map((field) => readNameOf(kind, writeNameOf(field)))).toEqual(
        kind.fields.map((field) => field.name),
      );
  });

  test('a copy that shows a field by the name by which it is written is understood', () => {
    expect(shownValue(namedKind('clients'), { address2: 'b' }, 'adresse2')).toBe('b');
    expect(shownValue(namedKind('clients'), { adresse2: 'a', address2: 'b' }, 'adresse2')).toBe('a');
    expect(shownValue(namedKind('clients'), { name: 'a' }, 'adresse2')).toBeUndefined();
    expect(shownValue(namedKind('clients'), {}, 'constructor')).toBeUndefined();
  });
});

describe('what was sent holds', () => {
  test.each([
    ['punches.start_time', '"08:00"', '"08:00:00"'],
    ['punches.start_time', '"08:00"', '"8:00:00.000"'],
    ['punches.end_time', '"24:00"', '"00:00:00"'],
    ['punches.date', '"2026-03-01"', '"2026-03-01 00:00:00"'],
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
    ['clients.contacts', '[]', 'null'],
    ['clients.contacts', 'null', '[]'],
    ['clients.contacts', '[]', null],
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
  for (const kind of ['clients', 'projects', 'punches', 'products', 'vehicle_brands'].map(namedKind))
    for (const { name } of [...kind.fields, ...kind.hints, { name: 'unheard_of' }])
      for (const value of NASTY_VALUES) expect(isShownAsWritten(kind, name, value, value), name).toBe(true);
});

test('where no type is known, JSON holds however it is spelled', () => {
  fc.assert(
    fc.property(records, (model) => {
      const sent = parse(spell(model));
      const remote = parse(spell(respelled(model)));
      expect(isShownAsWritten(namedKind('vehicle_brands'), 'any', sent, remote)).toBe(true);
      expect(isShownAsWritten(namedKind('vehicle_brands'), 'any', [sent], [remote])).toBe(true);
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

const CLIENTS = namedKind('clients');
const merged = (wanted: JsonObject, base: JsonObject | null, remote: JsonObject): Merge =>
  merge({ kind: CLIENTS, wanted, base, remote });

describe('one field', () => {
  test('is set where the service still shows what the author saw', () => {
    expect(merged({ name: 'B' }, { name: 'A' }, { name: 'A', city: 'X' })).toEqual({
      is: 'set',
      body: { name: 'B' },
    });
  });

  test('needs nothing where the service shows it already, whoever set it', () => {
    expect(merged({ name: 'B' }, { name: 'A' }, { name: 'B' })).toEqual({ is: 'nothing' });
    expect(merged({ name: 'B' }, null, { name: 'B' })).toEqual({ is: 'nothing' });
  });

  test('E01: conflicts where somebody changed it to something else', () => {
    expect(merged({ name: 'B' }, { name: 'A' }, { name: 'C' })).toEqual({
      is: 'conflict',
      conflicts: [{ field: 'name', base: 'A', remote: 'C', wanted: 'B' }],
    });
  });

  test('conflicts where somebody cleared it', () => {
    expect(merged({ name: 'B' }, { name: 'A' }, { name: null })).toMatchObject({
      conflicts: [{ field: 'name', base: 'A', remote: null, wanted: 'B' }],
    });
  });

  test('is named as it is read in a conflict, and as it is written in a body', () => {
    const wanted = { address2: 'new' };
    expect(merged(wanted, { adresse2: 'old' }, { adresse2: 'other' })).toMatchObject({
      conflicts: [{ field: 'adresse2' }],
    });
    expect(merged(wanted, { adresse2: 'old' }, { adresse2: 'old' })).toEqual({ is: 'set', body: wanted });
  });

  test.each([
    ['no base', null],
    ['a base that lacks it', { city: 'X' }],
  ])('with %s nobody can be said to have changed it', (_what, base) => {
    expect(merged({ name: 'B' }, base, { name: 'C' })).toEqual({ is: 'set', body: { name: 'B' } });
  });

  test('that the service does not show was not changed by anybody', () => {
    expect(merged({ name: 'B' }, { name: 'A' }, {})).toEqual({ is: 'set', body: { name: 'B' } });
  });

  test('that the service spells otherwise than the author saw it is no conflict', () => {
    const base = '{"credit":"10","fax":"","term":"5"}';
    const remote = '{"credit":10.00,"fax":null,"term":5}';
    const wanted = { credit: '20', fax: '1', term: 6 };
    expect(merged(wanted, parseJson(base) as JsonObject, parseJson(remote) as JsonObject)).toEqual({
      is: 'set',
      body: wanted,
    });
  });

  test('of many elements conflicts where somebody else gave one of them more', () => {
    const base = { contacts: [{ id: 1, nom: 'A' }] };
    const remote = { contacts: [{ id: 1, nom: 'A', email: 'a@example.org' }] };
    expect(merged({ contacts: [] }, base, remote)).toMatchObject({ is: 'conflict' });
    expect(merged({ contacts: [{ nom: 'A' }] }, base, remote)).toEqual({ is: 'nothing' });
  });
});

test('one conflict keeps the other fields from being set', () => {
  expect(merged({ name: 'B', city: 'Y' }, { name: 'A', city: 'X' }, { name: 'C', city: 'X' })).toMatchObject({
    is: 'conflict',
    conflicts: [{ field: 'name' }],
  });
});

test('E03: only what differs is set', () => {
  const remote = { name: 'A', credit: '10.00', city: 'X' };
  expect(merged({ name: 'A', credit: 10, city: 'Y' }, remote, remote)).toEqual({
    is: 'set',
    body: { city: 'Y' },
  });
});

test('a field by the name of a prototype is a field like others', () => {
  const wanted = parseJson('{"__proto__":"B","constructor":"B"}') as JsonObject;
  const result = merged(wanted, {}, {});
  expect(result).toMatchObject({ is: 'set' });
  expect('body' in result && Object.keys(result.body)).toEqual(['__proto__', 'constructor']);
});

/** A kind with three payloads for it: wanted, and what base and remote were made of. */
const three = fc
  .constantFrom(...WRITTEN_KINDS)
  .chain((kind) => fc.tuple(fc.constant(kind), payloadsOf(kind), payloadsOf(kind), payloadsOf(kind)))
  .map(([kind, wanted, base, remote]) => ({ kind, wanted, base, remote }));

/** Sets what a merge says, as the service does. */
function applied(kind: Kind, remote: JsonObject, result: Merge): JsonObject {
  return result.is === 'set' ? { ...remote, ...asShown(kind, result.body) } : remote;
}

describe('whatever the three states', () => {
  test('E04: once set, there is nothing more to set', () => {
    fc.assert(
      fc.property(three, fc.boolean(), ({ kind, wanted, base, remote }, hasBase) => {
        const input = {
          kind,
          wanted: onlyWriteNames(kind, wanted),
          base: hasBase ? asShown(kind, base) : null,
        };
        const shown = asShown(kind, remote);
        const first = merge({ ...input, remote: shown });
        const second = merge({ ...input, remote: applied(kind, shown, first) });
        expect(second.is).toBe(first.is === 'conflict' ? 'conflict' : 'nothing');
      }),
    );
  });

  test('an unchanged remote never conflicts', () => {
    fc.assert(
      fc.property(three, ({ kind, wanted, base }) => {
        const input = { kind, wanted, base: asShown(kind, base) };
        expect(merge({ ...input, remote: input.base }).is).not.toBe('conflict');
        expect(merge({ kind, wanted, base: null, remote: input.base }).is).not.toBe('conflict');
      }),
    );
  });

  test('what is wanted and shown already is never set', () => {
    fc.assert(
      fc.property(three, ({ kind, wanted: all, base }) => {
        const wanted = onlyWriteNames(kind, all);
        const remote = { ...asShown(kind, base), ...asShown(kind, wanted) };
        expect(merge({ kind, wanted, base: asShown(kind, base), remote })).toEqual({ is: 'nothing' });
      }),
    );
  });

  test('no field is mentioned that was not wanted, and no conflict is one that a set would hide', () => {
    fc.assert(
      fc.property(three, ({ kind, wanted, base, remote }) => {
        const result = merge({ kind, wanted, base: asShown(kind, base), remote: asShown(kind, remote) });
        if (result.is === 'set')
          for (const [name, value] of Object.entries(result.body)) expect(value).toBe(wanted[name]);
        const readNames = Object.keys(wanted).map((name) => readNameOf(kind, name));
        if (result.is === 'conflict')
          for (const { field } of result.conflicts) expect(readNames).toContain(field);
      }),
    );
  });
});

/** Without fields that are sent by the name of a read beside the one of a write: one value would undo the other. */
function onlyWriteNames(kind: Kind, payload: JsonObject): JsonObject {
  const names = Object.keys(payload).filter(
    (name) => readNameOf(kind, name) === name || !(readNameOf(kind, name) in payload),
  );
  return Object.fromEntries(names.map((name) => [name, payload[name] ?? null]));
}

describe('a reading after the write', () => {
  const before = { id: 7, nom: 'A', code: 'P1', description: 'x' };

  test('says what the service took over, spelled as it likes', () => {
    expect(
      compareReadBack({
        kind: namedKind('punches'),
        body: { start_time: '08:00', ptotal: 5 },
        before: { start_time: '07:00:00', ptotal: '1.00', note: null },
        after: { start_time: '08:00:00', ptotal: '5.00', note: null },
      }),
    ).toEqual({ missed: [], alsoChanged: [] });
  });

  test('E05: says what it did not', () => {
    expect(
      compareReadBack({
        kind: namedKind('projects'),
        body: { name: 'B', code: 'P1' },
        before,
        after: before,
      }),
    ).toEqual({ missed: [{ field: 'nom', base: 'A', remote: 'A', wanted: 'B' }], alsoChanged: [] });
  });

  test('counts a written field that is no longer shown as not taken over', () => {
    const after = { id: 7, code: 'P1', description: 'x' };
    expect(compareReadBack({ kind: namedKind('projects'), body: { name: 'B' }, before, after })).toEqual({
      missed: [{ field: 'nom', base: 'A', remote: null, wanted: 'B' }],
      alsoChanged: [],
    });
  });

  test('E02, E03: says what else changed, came or went', () => {
    const after = { id: 7, nom: 'B', code: 'P2', active: 1 };
    const { missed, alsoChanged } = compareReadBack({
      kind: namedKind('projects'),
      body: { name: 'B' },
      before,
      after,
    });
    expect(missed).toEqual([]);
    expect([...alsoChanged].sort()).toEqual(['active', 'code', 'description']);
  });
});
