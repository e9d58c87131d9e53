import { expect, test } from 'vitest';
import { isRetrievable } from '../../src/catalog/kind.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { SERVED_KINDS } from '../../sandbox/served-kinds.ts';
import { ask, askJson, askList } from './ask.ts';

const IN_ARRAY = ['purchase_products', 'categories', 'departments', 'sales_products'];
const retrievable = SERVED_KINDS.filter(isRetrievable).filter(
  ({ retrieve }) => retrieve.misprint === undefined,
);

test.each(retrievable)('wraps one of $name as seen in the wild', async ({ name, retrieve }) => {
  await using sandbox = await startSandbox({ size: 5, envelopes: 'wild' });
  const id = sandbox.world.ids(name)[0] ?? 0;
  const record = sandbox.world.get(name, id);
  expect(await askJson(sandbox, retrieve.path.replace(':id', String(id)))).toEqual({
    data: IN_ARRAY.includes(name) ? [record] : record,
    ...(name !== 'products' && { success: true }),
  });
});

test('wraps written records too', async () => {
  await using sandbox = await startSandbox({ size: 5, envelopes: 'wild' });
  const body = { code: 'X' };
  const created = await askJson(sandbox, '/api/categories', { method: 'POST', body });
  expect(created).toMatchObject({ data: [{ code: 'X' }], success: true });
  const id = sandbox.world.ids('products')[0] ?? 0;
  const updated = await askJson(sandbox, `/api/products/${id}`, { method: 'PUT', body });
  expect(updated).toEqual({ data: sandbox.world.get('products', id) });
});

test('writes the numbers of meta as text in the wild', async () => {
  await using sandbox = await startSandbox({ size: 60, envelopes: 'wild' });
  expect((await askList(sandbox, '/api/clients?page=2')).meta).toEqual({
    current_page: '2',
    last_page: '3',
    per_page: '25',
    total: '60',
  });
});

test('answers categories unpaged in the wild', async () => {
  await using sandbox = await startSandbox({ size: 5, envelopes: 'wild' });
  const answer = await askList(sandbox, '/api/categories?page=3');
  expect(Object.keys(answer)).toEqual(['data', 'success']);
  expect(answer.data).toHaveLength(24);
});

test('keeps 404 for an unknown id in the wild', async () => {
  await using sandbox = await startSandbox({ size: 5, envelopes: 'wild' });
  expect((await ask(sandbox, '/api/clients/5')).status).toBe(404);
});
