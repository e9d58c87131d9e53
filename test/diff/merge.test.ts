import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/catalog/kind.ts';
import { merge, readBack } from '../../src/diff/merge.ts';
import type { Merge } from '../../src/diff/merge.ts';
import { readNameOf } from '../../src/diff/written.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { asShown, namedKind, payloadsOf, WRITTEN_KINDS } from '../support/written-payloads.ts';

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
    const [base, remote] = ['{"credit":"10","fax":"","term":"5"}', '{"credit":10.00,"fax":null,"term":5}'];
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
      readBack({
        kind: namedKind('punches'),
        body: { start_time: '08:00', ptotal: 5 },
        before: { start_time: '07:00:00', ptotal: '1.00', note: null },
        after: { start_time: '08:00:00', ptotal: '5.00', note: null },
      }),
    ).toEqual({ missed: [], others: [] });
  });

  test('E05: says what it did not', () => {
    expect(
      readBack({ kind: namedKind('projects'), body: { name: 'B', code: 'P1' }, before, after: before }),
    ).toEqual({ missed: [{ field: 'nom', base: 'A', remote: 'A', wanted: 'B' }], others: [] });
  });

  test('counts a written field that is no longer shown as not taken over', () => {
    const after = { id: 7, code: 'P1', description: 'x' };
    expect(readBack({ kind: namedKind('projects'), body: { name: 'B' }, before, after })).toEqual({
      missed: [{ field: 'nom', base: 'A', remote: null, wanted: 'B' }],
      others: [],
    });
  });

  test('E02, E03: says what else changed, came or went', () => {
    const after = { id: 7, nom: 'B', code: 'P2', active: 1 };
    const { missed, others } = readBack({ kind: namedKind('projects'), body: { name: 'B' }, before, after });
    expect(missed).toEqual([]);
    expect([...others].sort()).toEqual(['active', 'code', 'description']);
  });
});
