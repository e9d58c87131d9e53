import { expect, test } from 'vitest';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { allKinds, requireListedKinds } from '../../src/config/known-kinds.ts';
import { loadConfig } from '../../src/config/load-config.ts';

const plain = loadConfig({ env: {} });
const further = loadConfig({ env: { BMS__KINDS: '{"sales":{"list":"/api/sales"}}' } });
const namesOf = (kinds: readonly { readonly name: string }[]) => kinds.map(({ name }) => name);

test('without further ones, the kinds are the catalogue’s', () => {
  expect(allKinds(plain)).toEqual(KINDS);
  expect(requireListedKinds(plain)).toEqual(LISTED_KINDS);
});

test('further kinds come after the catalogue’s', () => {
  expect(namesOf(allKinds(further))).toEqual([...namesOf(KINDS), 'sales']);
  expect(namesOf(requireListedKinds(further))).toEqual([...namesOf(LISTED_KINDS), 'sales']);
});

test('kinds are found by name, each once, in the order asked for', () => {
  expect(namesOf(requireListedKinds(further, ['sales', 'clients', 'sales']))).toEqual(['sales', 'clients']);
});

test.each([
  ['sales', 'Unknown record kind "sales".'],
  ['sales_products', 'The service has no list of sales_products'],
])('%s without a declaration is refused', (name, message) => {
  expect(() => requireListedKinds(plain, [name])).toThrow(message);
});

test('the refusal names every kind with a list, further ones included', () => {
  expect(() => requireListedKinds(further, ['sale'])).toThrow(
    expect.objectContaining({
      code: 'usage.kind',
      hint: expect.stringContaining(`${[...namesOf(LISTED_KINDS), 'sales'].join(', ')}.`) as string,
    }),
  );
});
