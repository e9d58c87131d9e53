import { expect, test } from 'vitest';
import { kindLabel } from '../../../../src/catalog/descriptions.ts';
import { translatorFor } from '../../../../src/lib/text/translator.ts';
import { kindOfSheet } from '../../../../src/features/plans/sheet/sheet-kind.ts';

const KINDS = ['clients', 'products', 'categories', 'purchases', 'purchases_products', 'purchase_products'];

const french = (kind: string): string => kindLabel(translatorFor('fr'), kind);

test.each([
  ['clients.csv', undefined, undefined, 'clients'],
  ['clients-2026-11.csv', undefined, undefined, 'clients'],
  ['Copy of CLIENTS (2).csv', undefined, undefined, 'clients'],
  ['bi_clients.xlsx', undefined, undefined, 'clients'],
  ['purchases_products.csv', undefined, undefined, 'purchases_products'],
  ['corrections.xlsx', 'products', undefined, 'products'],
  ['prices.csv', undefined, 'products', 'products'],
  ['clients.xlsx', 'Sheet1', 'clients', 'clients'],
  [`${french('products')} (11).xlsx`, undefined, undefined, 'products'],
  [`${french('categories').normalize('NFD')}.csv`, 'Sheet1', undefined, 'categories'],
  [`${french('purchase_products').toUpperCase()}.csv`, undefined, undefined, 'purchase_products'],
  ['purchase lines.csv', undefined, undefined, 'purchase_products'],
  ['clientele.csv', undefined, undefined, undefined],
  ['clients and products.csv', undefined, undefined, undefined],
])('%s with the sheet %s and the choice %s is a sheet of %s', (file, sheet, chosen, kind) => {
  expect(kindOfSheet(KINDS, chosen, sheet, file)).toBe(kind);
});

test.each([
  ['clients.csv', undefined, 'products', 'differ: products, clients.'],
  ['clients.xlsx', 'products', undefined, 'differ: products, clients.'],
])('%s with the sheet %s and the choice %s is refused', (file, sheet, chosen, message) => {
  expect(() => kindOfSheet(KINDS, chosen, sheet, file)).toThrow(message);
});
