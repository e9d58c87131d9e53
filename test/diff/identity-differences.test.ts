import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clients as CLIENTS } from '../../src/catalog/kinds/clients.ts';
import { findIdentityDifferences } from '../../src/diff/identity-differences.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';

const WITNESSES = ['phone', 'email', 'address'] as const;
const NAMES = ['code', 'name', 'creation_date', 'city', 'website', ...WITNESSES] as const;
const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'];

const text = fc.constantFrom('', 'Ada Hull', 'Bob Hull', 'Zoé Hull');
const client: fc.Arbitrary<JsonObject> = fc.record(
  Object.fromEntries(NAMES.map((name) => [name, name === 'creation_date' ? fc.constantFrom(...DAYS) : text])),
);
const rareNames = fc.subarray(['name', 'city', 'website', ...WITNESSES]).map((names) => new Set(names));

const fieldsOf = (
  base: JsonObject,
  remote: JsonObject,
  { rare = new Set<string>(), ours = [] }: { rare?: ReadonlySet<string>; ours?: readonly JsonObject[] } = {},
): readonly string[] =>
  findIdentityDifferences(CLIENTS, { base, remote, ourPayloads: ours, rare }).map(({ field }) => field);

describe('a record', () => {
  test('is the same while its key is', () => {
    fc.assert(
      fc.property(client, client, rareNames, (base, other, rare) => {
        expect(fieldsOf({ ...base, code: 'A' }, { ...other, code: 'A' }, { rare })).toEqual([]);
      }),
    );
  });

  test('is the same while a witness of its own stays and one other field differs, not two', () => {
    const base = { code: 'A', name: 'Ada', phone: '1', email: 'a' };
    const own = new Set(['phone']);
    expect(fieldsOf(base, { ...base, code: 'B', name: 'Bob' }, { rare: own })).toEqual([]);
    expect(fieldsOf(base, { ...base, code: 'B', name: 'Bob' })).toEqual(['code', 'name']);
    const remote = { ...base, code: 'B', name: 'Bob', email: 'b' };
    expect(fieldsOf(base, remote, { rare: own })).toEqual(['code', 'name', 'email']);
  });

  test('is another one where key, name and every witness differ and no other rare text stands against that', () => {
    fc.assert(
      fc.property(client, (one) => {
        const base = { ...one, code: 'A', name: 'Ada', phone: '1', email: 'a' };
        const remote = { ...one, code: 'B', name: 'Bob', phone: '2', email: 'b', address: '' };
        expect(fieldsOf(base, remote)).toEqual(['code', 'name', 'phone', 'email']);
        expect(fieldsOf(base, remote, { rare: new Set(['city', 'website']) })).toHaveLength(4);
      }),
    );
  });

  test('is the same where all that differs is what we wanted', () => {
    fc.assert(
      fc.property(client, client, rareNames, (base, remote, rare) => {
        expect(fieldsOf(base, remote, { rare, ours: [remote] })).toEqual([]);
      }),
    );
  });

  test('is the same where nothing but its key is known, and where a field is blank in one of the readings', () => {
    expect(fieldsOf({ code: 'A' }, { code: 'B' })).toEqual([]);
    expect(fieldsOf({ code: 'A', phone: '1', name: 'Ada' }, { code: 'B', phone: '', city: 'Hull' })).toEqual(
      [],
    );
  });

  test('is the same where more rare texts stay than anything else differs', () => {
    const base = { code: 'A', name: 'Garage Ada', website: 'ada.example', city: 'Hull' };
    const remote = { ...base, code: 'B', name: 'Ada inc.' };
    expect(fieldsOf(base, remote, { rare: new Set(['website', 'city']) })).toEqual([]);
    expect(fieldsOf(base, remote, { rare: new Set(['city']) })).toEqual(['code', 'name']);
  });

  test('is known by the ids of its nested rows', () => {
    const base = { code: 'A', name: 'Ada', contacts: [{ id: 1, nom: 'X' }] };
    const kept = { code: 'B', name: 'Bob', contacts: [{ id: '1', nom: 'Y' }, { id: 2 }] };
    expect(fieldsOf(base, kept, { rare: new Set(['contacts']) })).toEqual([]);
    expect(fieldsOf(base, kept)).toEqual(['code', 'name']);
    expect(fieldsOf(base, { ...kept, contacts: [{ id: 3 }] })).toEqual(['code', 'name', 'contacts']);
  });
});
