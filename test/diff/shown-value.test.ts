import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clients } from '../../src/catalog/kinds/clients.ts';
import { merge } from '../../src/diff/merge-update.ts';
import { isBlank, listViewOf, valueIn, withBlanks } from '../../src/diff/shown-value.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';

const NAMES = ['phone', 'city', 'term', 'adresse2', 'contacts'] as const;
const WRITTEN = ['phone', 'city', 'term', 'address2', 'contacts'] as const;
const ALL: ReadonlySet<string> = new Set(NAMES);

const text = fc.constantFrom('', 'a', 'b');
const rows = fc.constantFrom([], [{ id: 1, nom: 'a' }], [{ id: 1, nom: 'b' }]);
const valuesOf = ([phone, city, term, second, contacts]: readonly string[]) =>
  fc.record({
    [phone as string]: text,
    [city as string]: text,
    [term as string]: fc.constantFrom(null, 30, 60),
    [second as string]: text,
    [contacts as string]: rows,
  }) as fc.Arbitrary<JsonObject>;
const records = valuesOf(NAMES);
const wishes = valuesOf(WRITTEN);

const withoutBlanks = (record: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => !isBlank(undefined, value)));

describe('a service that leaves out what is blank', () => {
  test('gives the same merge as one that shows it', () => {
    fc.assert(
      fc.property(wishes, records, records, (wanted, base, remote) => {
        const completed = (record: JsonObject): JsonObject =>
          withBlanks(clients, withoutBlanks(record), NAMES, ALL);
        const shown = merge({ kind: clients, wanted, base, remote });
        const leftOut = merge({ kind: clients, wanted, base: completed(base), remote: completed(remote) });
        expect(leftOut.is).toBe(shown.is);
        if (shown.is === 'set') expect(leftOut).toEqual(shown);
      }),
    );
  });

  test('never lets a value be overwritten that the author of an update has not seen', () => {
    fc.assert(
      fc.property(text, text, (phone, other) => {
        const base = withBlanks(clients, withoutBlanks({ phone }), NAMES, ALL);
        const merged = merge({ kind: clients, wanted: { phone: 'ours' }, base, remote: { phone: other } });
        expect(merged.is).toBe(phone === other ? 'set' : 'conflict');
      }),
    );
  });
});

describe('a field that a record leaves out', () => {
  const list = listViewOf(
    new Map([
      ['phone', { vanishedAt: null }],
      ['fax', { vanishedAt: '2026-03-01 12:00:00.000' }],
      ['address2', {}],
    ]),
  );

  test.each([
    ['is blank where its view shows it in others', 'phone', null],
    ['is unknown where no record of the view has it any more', 'fax', undefined],
    ['is unknown where the view has never shown it', 'email', undefined],
  ])('%s', (_what, name, value) => {
    expect(valueIn(clients, { id: 7 }, name, list)).toBe(value);
  });

  test('is none where the record shows it by its name of a write', () => {
    expect(valueIn(clients, { address2: 'b' }, 'adresse2', new Set(['adresse2']))).toBe('b');
    expect(withBlanks(clients, { address2: 'b' }, ['adresse2'], new Set(['adresse2']))).toEqual({
      address2: 'b',
    });
  });
});
