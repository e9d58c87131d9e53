import { LosslessNumber } from 'lossless-json';
import { expect, test } from 'vitest';
import type { Field } from '../../../src/catalog/kind.ts';
import { documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../../src/lib/json/json.ts';
import { SERVED_KINDS } from '../../../sandbox/served-kinds.ts';
import { createWorld } from '../../../sandbox/world.ts';
import { textOf } from '../text-of.ts';

const world = createWorld({ size: 400, seed: 3, systemId: 7 });
const recordsOf = (kind: string): readonly JsonObject[] =>
  world.ids(kind).map((id) => world.get(kind, id) ?? {});

/** Fields that the documentation allows to be null, or that were seen so. */
const MAY_BE_NULL = new Set(
  // prettier-ignore
  [
    'projects.code', 'projects.description', 'providers.fax', 'providers.email', 'providers.website',
    'providers.term', 'providers.credit', 'purchase_products.produit_projet', 'punches.end_time',
    'punches.note', 'departments.categories',
  ],
);

const SHAPES: Readonly<Record<Field['type'], (value: Json, field: Field) => boolean>> = {
  integer: (value) => Number.isSafeInteger(value),
  flag: (value) => value === 0 || value === 1,
  decimal: (value, { scale = 0 }) =>
    typeof value === 'string' && new RegExp(`^\\d+\\.\\d{${scale}}$`).test(value),
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  time: (value) => value === '' || (typeof value === 'string' && /^\d\d:\d\d:00$/.test(value)),
  timestamp: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value),
  text: (value) => typeof value === 'string',
  json: (value, { items }) =>
    items ? isArray(value) && value.every((item) => isObject(item) && fits(item, items)) : true,
};

const fits = (record: JsonObject, fields: readonly Field[]): boolean =>
  fields.every((field) => field.name in record && SHAPES[field.type](record[field.name] ?? null, field));

const amount = (record: JsonObject, name: string): number => Number(record[name]);

test.each(SERVED_KINDS.filter(({ name }) => documentedKind(name) !== undefined))(
  'every documented field of $name is there in its documented shape',
  ({ name, fields }) => {
    const misfits = recordsOf(name).flatMap((record) =>
      fields
        .filter((field) => {
          const value = record[field.name];
          if (value === undefined) return true;
          if (value === null) return !MAY_BE_NULL.has(`${name}.${field.name}`);
          if (name === 'providers' && field.name === 'credit') return !(value instanceof LosslessNumber);
          return !SHAPES[field.type](value, field);
        })
        .map((field) => `${textOf(record['id'])}.${field.name} = ${JSON.stringify(record[field.name])}`),
    );
    expect(misfits).toEqual([]);
  },
);

test.each(['bookings', 'categories', 'products', 'sales_products'])(
  '%s show what was seen in the wild',
  (name) => {
    const hints = SERVED_KINDS.find((kind) => kind.name === name)?.hints ?? [];
    const [record = {}] = recordsOf(name);
    const absent = hints.filter((hint) => !(hint.name in record)).map((hint) => hint.name);
    expect(absent.filter((field) => !['invoice', 'purchase_id'].includes(field))).toEqual([]);
  },
);

test('a product has some 35 fields, its variants know their parent', () => {
  const products = new Map(recordsOf('products').map((product) => [product['id'], product]));
  for (const product of products.values()) {
    expect(Object.keys(product).length).toBeGreaterThanOrEqual(33);
    for (const variant of product['variantes'] as readonly JsonObject[]) {
      expect(variant['origin_product_id']).toBe(textOf(product['id']));
      expect(products.get(variant['id'] ?? null)).toMatchObject({
        origin_product_id: product['id'],
        code: variant['code'],
      });
    }
  }
  const families = [...products.values()].filter(
    ({ variantes }) => isArray(variantes) && variantes.length > 0,
  );
  expect(families.length).toBeGreaterThan(10);
});

test('the money of a line adds up: quantity × price − discount', () => {
  for (const line of [...recordsOf('purchase_products'), ...recordsOf('sales_products')]) {
    const gross = amount(line, 'product_quantity') * amount(line, 'product_price');
    expect(amount(line, 'produit_total')).toBeCloseTo(gross - amount(line, 'product_discount'), 6);
  }
});

test('what came and what is awaited make the quantity and the weight of a line', () => {
  for (const line of recordsOf('purchase_products')) {
    for (const name of ['quantite', 'poids'])
      expect(amount(line, `produit_${name}_receive`) + amount(line, `produit_${name}_onhold`)).toBeCloseTo(
        amount(line, name === 'poids' ? 'produit_poids' : 'product_quantity'),
        6,
      );
  }
});

test('the taxes of a line are JSON text of its total', () => {
  for (const line of recordsOf('purchase_products')) {
    const [gst] = JSON.parse(textOf(line['gestion_taxes'])) as JsonObject[];
    expect(Math.abs(Number(gst?.['montant']) - amount(line, 'produit_total') * 0.05)).toBeLessThan(0.00501);
  }
});

test('the money of a purchase is that of its lines, and every purchase has lines', () => {
  const cents = (value: Json | undefined) => Number(textOf(value).replace('.', ''));
  const allLines = recordsOf('purchase_products');
  for (const purchase of recordsOf('purchases')) {
    const lines = allLines.filter((line) => line['purchase_id'] === purchase['id']);
    const taxes = lines.flatMap((line) => JSON.parse(textOf(line['gestion_taxes'])) as JsonObject[]);
    const sum = (values: readonly (Json | undefined)[]) =>
      values.reduce<number>((total, value) => total + cents(value), 0);
    expect(lines.length).toBeGreaterThan(0);
    expect(cents(purchase['subtotal'])).toBe(sum(lines.map((line) => line['produit_total'])));
    expect(cents(purchase['taxes'])).toBe(sum(taxes.map((tax) => tax['montant'])));
    expect(cents(purchase['total'])).toBe(cents(purchase['subtotal']) + cents(purchase['taxes']));
  }
});

test('the hours of a punch are the time between', () => {
  const minutes = (value: Json | undefined) => {
    const [hours = 0, rest = 0] = textOf(value).split(':').map(Number);
    return hours * 60 + rest;
  };
  for (const punch of recordsOf('punches').filter(({ end_time: end }) => end !== null && end !== ''))
    expect(amount(punch, 'ptotal') * 60).toBe(minutes(punch['end_time']) - minutes(punch['start_time']));
});

test('the price of a booking is the sum of its items', () => {
  for (const booking of recordsOf('bookings')) {
    const items = booking['items'] as readonly JsonObject[];
    for (const item of items)
      expect(amount(item, 'total')).toBeCloseTo(amount(item, 'value') * amount(item, 'number'), 6);
    expect(items.reduce((sum, item) => sum + amount(item, 'total'), 0)).toBeCloseTo(
      amount(booking, 'price'),
      6,
    );
  }
});

test('what a record refers to exists', () => {
  const links = [
    ...recordsOf('projects').map(({ client_id: id }) => ['clients', id] as const),
    ...recordsOf('bookings').map(({ client_id: id }) => ['clients', id] as const),
    ...recordsOf('products').map(({ category_id: id }) => ['categories', id] as const),
    ...recordsOf('products').map(({ provider_id: id }) => ['providers', id] as const),
    ...recordsOf('purchase_products').map(({ product_id: id }) => ['products', id] as const),
    ...recordsOf('purchase_products').map(({ produit_projet: id }) => ['projects', id ?? 0] as const),
    ...recordsOf('purchase_products').map(({ purchase_id: id }) => ['purchases', id] as const),
    ...recordsOf('purchases').map(({ provider_id: id }) => ['providers', id] as const),
  ];
  expect(links.filter(([kind, id]) => id !== 0 && !world.get(kind, Number(id)))).toEqual([]);
});

test.each<[string, string, (value: Json) => boolean]>([
  ['clients', 'creation_date', (value) => value === '0000-00-00'],
  ['clients', 'code', (value) => /^00\d+$/.test(textOf(value))],
  ['clients', 'name', (value) => /[éèêôïç]/i.test(textOf(value))],
  ['clients', 'contacts', (value) => isArray(value) && value.length === 0],
  ['clients', 'contacts', (value) => isArray(value) && value.length === 3],
  ['clients', 'inactive', (value) => value === 1],
  ['projects', 'client_id', (value) => value === 0],
  ['projects', 'code', (value) => value === null],
  ['punches', 'end_time', (value) => value === null],
  ['punches', 'end_time', (value) => value === ''],
  ['bookings', 'pickup_date', (value) => value === '0000-00-00'],
  ['products', 'special_price', (value) => value instanceof LosslessNumber],
  ['purchase_products', 'produit_projet', (value) => value === null],
])('the odd values of %s.%s occur', (kind, field, isOdd) => {
  const values = recordsOf(kind).map((record) => record[field] ?? null);
  expect(values.some(isOdd)).toBe(true);
  expect(values.every(isOdd)).toBe(false);
});
