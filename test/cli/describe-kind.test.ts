import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import type { KnownField } from '../../src/store/kinds/field-store.ts';
import { describeKind } from '../../src/cli/describe-kind.ts';
import { kindNamed } from '../store/temp-mirror.ts';

const described = (kind: Kind, seen: ReadonlyMap<string, KnownField> | null = null) =>
  describeKind(kind, true, seen);

const field = (kind: Kind, name: string) => described(kind).fields.find((one) => one.name === name);

describe('a field is described', () => {
  test.each([
    ['clients', 'credit', 'amount with 2 places', 'credit', 'number, or text such as "10.50"'],
    ['clients', 'creation_date', 'date', 'creation_date', '"YYYY-MM-DD"'],
    ['clients', 'adresse2', 'text', 'address2', 'text'],
    ['clients', 'inactive', 'flag, 0 or 1', 'inactive', '0 or 1'],
    ['projects', 'nom', 'text', 'name', 'text'],
    ['projects', 'client_id', 'id of clients', 'client_id', 'whole number'],
    ['punches', 'start_time', 'time of day', 'start_time', '"HH:MM", without seconds'],
    ['purchase_products', 'purchase_id', 'whole number', 'purchase_id', 'whole number, sent as text'],
    ['purchase_products', 'product_id', 'id of products', 'product_id', 'text'],
    ['products', 'created_at', 'date and time', 'created_at', '"YYYY-MM-DD HH:MM:SS"'],
  ])('%s.%s is %s, written as %s', (kind, name, meaning, writeName, form) => {
    expect(field(kindNamed(kind), name)).toMatchObject({ meaning, write: { name: writeName, form } });
  });

  test('with the fields of its entries', () => {
    const contacts = field(kindNamed('clients'), 'contacts');
    expect(contacts).toMatchObject({ type: 'json', meaning: 'list of entries' });
    expect(contacts?.items).toContainEqual({
      name: 'nom',
      type: 'text',
      scale: null,
      meaning: 'text',
      refersTo: null,
    });
  });

  test('as seen by this mirror, as discovered by it, or neither', () => {
    const known: KnownField = { type: 'integer', fitsHint: true, wire: 'number', vanishedAt: null };
    const seen = new Map([
      ['id', known],
      ['code', known],
      ['price', known],
      ['vip', known],
      ['empty', { ...known, type: 'none' as const }],
    ]);
    const { fields } = described(kindNamed('products'), seen);
    const of = (name: string) => fields.find((one) => one.name === name);
    expect(of('code')).toMatchObject({ known: 'documented', seen: true });
    expect(of('name_fr')).toMatchObject({ known: 'documented', seen: false });
    expect(of('price')).toMatchObject({ known: 'seen elsewhere', seen: true });
    expect(fields.slice(-2)).toMatchObject([
      { name: 'vip', known: 'discovered', meaning: 'whole number', write: { name: 'vip', form: 'as given' } },
      { name: 'empty', meaning: 'unknown: only empty values were seen' },
    ]);
  });
});

test('of every kind: each field once, the id never written, everything else written where anything is', () => {
  for (const kind of KINDS) {
    const { fields, create, update } = described(kind);
    const names = fields.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, write, meaning } of fields) {
      expect(meaning).not.toBe('');
      expect([kind.name, name, write !== null]).toEqual([
        kind.name,
        name,
        name !== 'id' && (create !== null || update !== null),
      ]);
    }
    const written = new Set(fields.flatMap(({ write }) => write?.name ?? []));
    for (const shown of create?.shown ?? []) expect(written).toContain(shown);
  }
});
