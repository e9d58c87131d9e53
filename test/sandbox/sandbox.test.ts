import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isListed, isRetrievable } from '../../src/catalog/kind.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { SERVED_KINDS } from '../../sandbox/served-kinds.ts';
import { ask, askJson, askList } from './ask.ts';

const listed = SERVED_KINDS.filter(isListed);
const retrievable = SERVED_KINDS.filter(isRetrievable).filter(
  ({ retrieve }) => retrieve.misprint === undefined,
);

test.each(listed)('lists $name', async ({ name, list }) => {
  await using sandbox = await startSandbox({ size: 20 });
  const { data } = await askList(sandbox, list.path);
  expect(data.map(({ id }) => id)).toEqual(
    sandbox.world.slice(name, 0, list.paging === 'documented' ? 25 : 500),
  );
});

test.each(retrievable)('retrieves one of $name, bare', async ({ name, retrieve }) => {
  await using sandbox = await startSandbox({ size: 20 });
  const id = sandbox.world.ids(name)[2] ?? 0;
  expect(await askJson(sandbox, retrieve.path.replace(':id', String(id)))).toEqual(
    sandbox.world.get(name, id),
  );
});

test.each(retrievable)('answers 404 for an unknown id of $name', async ({ retrieve }) => {
  await using sandbox = await startSandbox({ size: 2 });
  const { status, text } = await ask(sandbox, retrieve.path.replace(':id', '5'));
  expect(status).toBe(404);
  expect(JSON.parse(text)).toEqual({ success: false, message: 'Record not found.' });
});

test.each(KINDS.filter(({ create }) => create))('creates one of $name under a new id', async (kind) => {
  await using sandbox = await startSandbox({ size: 20 });
  const before = sandbox.world.ids(kind.name);
  const created = await askJson(sandbox, kind.create?.path ?? '', { method: 'POST', body: { code: 'NEUF' } });
  expect(created['id']).toBe(Math.max(...before) + 1);
  expect(sandbox.world.get(kind.name, Number(created['id']))).toEqual(created);
  expect(sandbox.world.count(kind.name)).toBe(before.length + 1);
});

test.each(KINDS.filter(({ update }) => update))('updates only the fields sent of $name', async (kind) => {
  await using sandbox = await startSandbox({ size: 20 });
  const id = sandbox.world.ids(kind.name)[1] ?? 0;
  const before = sandbox.world.get(kind.name, id);
  const path = kind.update?.path.replace(':id', String(id)) ?? '';
  expect(await askJson(sandbox, path, { method: 'PUT', body: { remark: 'é' } })).toEqual({
    ...before,
    remark: 'é',
  });
  expect((await ask(sandbox, path.replace(String(id), '5'), { method: 'PUT', body: {} })).status).toBe(404);
});

test('has no path that the documentation does not print', async () => {
  await using sandbox = await startSandbox({ size: 20 });
  const punch = sandbox.world.ids('punches')[0] ?? 0;
  const line = sandbox.world.ids('purchase_products')[0] ?? 0;
  expect((await ask(sandbox, `/api/punch/${punch}`)).status).toBe(404);
  expect((await ask(sandbox, `/api/purchases_products/${line}`)).status).toBe(404);
  expect((await ask(sandbox, '/api/departments', { method: 'POST', body: {} })).status).toBe(404);
  expect((await ask(sandbox, '/api/purchases', { method: 'POST', body: {} })).status).toBe(404);
  expect(
    (await ask(sandbox, `/api/clients/${sandbox.world.ids('clients')[0] ?? 0}`, { method: 'DELETE' })).status,
  ).toBe(404);
});

test('answers another record of the same number at the misprinted paths', async () => {
  await using sandbox = await startSandbox({ size: 20 });
  const punch = sandbox.world.ids('punches')[3] ?? 0;
  const category = await askJson(sandbox, `/api/categories/${punch}`);
  expect(category).toMatchObject({ id: punch, name_fr: 'Filtres' });

  const lines = sandbox.world.ids('purchase_products');
  expect(sandbox.world.ids('sales_products')).toEqual(lines);
  const sold = await askJson(sandbox, `/api/sales_products/${lines[0] ?? 0}`);
  expect(sold).toHaveProperty('sale_id');
  expect(sold).not.toMatchObject(sandbox.world.get('purchase_products', lines[0] ?? 0) ?? {});
});

test('pages documented lists by 25, by per_page up to 100, and past the end with nothing', async () => {
  await using sandbox = await startSandbox({ size: 130 });
  expect((await askList(sandbox, '/api/clients')).meta).toEqual({
    current_page: 1,
    last_page: 6,
    per_page: 25,
    total: 130,
  });
  expect((await askList(sandbox, '/api/clients?per_page=7')).data).toHaveLength(7);
  expect((await askList(sandbox, '/api/clients?per_page=500&page=2')).data).toHaveLength(30);
  expect((await askList(sandbox, '/api/clients?page=9')).data).toEqual([]);
  expect((await askList(sandbox, '/api/clients?page=x&per_page=-1')).data).toHaveLength(25);
});

test('pages undocumented lists with meta by 500, whatever per_page is asked', async () => {
  await using sandbox = await startSandbox({ size: 300 });
  const second = await askList(sandbox, '/api/purchases_products?page=2&per_page=10');
  expect(second.data).toHaveLength(100);
  expect(second.meta).toEqual({ current_page: 2, last_page: 2, per_page: 500, total: 600 });
  for (const path of ['/api/categories', '/api/departments', '/api/purchases'])
    expect((await askList(sandbox, path)).meta?.per_page).toBe(500);
});

test('answers punches, brands and bookings whole and without meta', async () => {
  await using sandbox = await startSandbox({ size: 600 });
  for (const [path, name] of [
    ['/api/punch', 'punches'],
    ['/api/vehicles_brands', 'vehicle_brands'],
    ['/api/bookings?page=2', 'bookings'],
  ] as const) {
    const answer = await askList(sandbox, path);
    expect(Object.keys(answer)).toEqual(['data', 'success']);
    expect(answer.data).toHaveLength(sandbox.world.count(name));
  }
});

test('leaves success out of the products list alone', async () => {
  await using sandbox = await startSandbox({ size: 5 });
  const silent = await Promise.all(
    listed.map(async ({ name, list }) => [name, (await askList(sandbox, list.path)).success] as const),
  );
  expect(silent.filter(([, success]) => success !== true)).toEqual([['products', undefined]]);
});

test('hears the token under each of the three spellings and refuses all else', async () => {
  await using sandbox = await startSandbox({ size: 2, token: 'jeton' });
  for (const spelling of ['Authentication', 'Authorization', 'Authentification'])
    expect((await ask(sandbox, '/api/clients', { headers: { [spelling]: 'Bearer jeton' } })).status).toBe(
      200,
    );
  for (const headers of [
    {},
    { Authorization: 'Bearer autre' },
    { Authorization: 'jeton' },
    { Token: 'Bearer jeton' },
  ]) {
    const { status, text } = await ask(sandbox, '/api/clients', {
      headers: headers,
    });
    expect(status).toBe(401);
    expect(JSON.parse(text)).toEqual({ success: false, message: 'Unauthenticated.' });
  }
});

test('takes a write in its write names and forms', async () => {
  await using sandbox = await startSandbox({ size: 5 });
  const post = (path: string, body: Record<string, string | number>) =>
    askJson(sandbox, path, { method: 'POST', body });
  expect(await post('/api/projects', { name: 'Toiture', nom: 'ignoré' })).toMatchObject({
    nom: 'Toiture',
    active: 1,
  });
  expect(
    await post('/api/clients', { code: 'C', name: 'N', address2: 'app. 3', credit: 12.5 }),
  ).toMatchObject({
    code: 'C',
    name: 'N',
    adresse2: 'app. 3',
    credit: '12.50',
    contacts: [],
  });
  expect(await post('/api/punch', { user_id: 4, date: '2026-01-05', start_time: '08:30' })).toMatchObject({
    user_id: 4,
    date: '2026-01-05',
    start_time: '08:30:00',
    end_time: null,
    system_id: 7,
  });
  expect(await post('/api/purchases_products', { purchase_id: '4101', product_id: '12' })).toMatchObject({
    purchase_id: 4101,
    product_id: '12',
    product_price: '0.0000',
  });
});

test('refuses a body that is not a JSON object', async () => {
  await using sandbox = await startSandbox({ size: 2 });
  const headers = { Authentication: `Bearer ${sandbox.token}`, 'content-type': 'application/json' };
  for (const body of ['{"name":', '[]', '']) {
    const response = await fetch(`${sandbox.url}/api/projects`, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
  }
  expect(sandbox.world.count('projects')).toBe(1);
});

test('sends the credit of a provider as a number with its places', async () => {
  await using sandbox = await startSandbox({ size: 200 });
  const { text } = await ask(sandbox, '/api/providers');
  expect(text).toMatch(/"credit":\d+\.\d0[,}]/);
  expect(text).toMatch(/"credit":\d+[,}]/);
  expect(text).toContain('"credit":null');
});

test('has at least one record of every kind however small it is', async () => {
  await using sandbox = await startSandbox({ size: 1 });
  for (const { name } of KINDS) expect(sandbox.world.count(name)).toBeGreaterThan(0);
  for (const { list } of listed) expect((await ask(sandbox, list.path)).status).toBe(200);
});

test('frees its port when closed, twice too', async () => {
  const sandbox = await startSandbox({ size: 1 });
  await ask(sandbox, '/api/clients');
  await sandbox.close();
  await sandbox.close();
  await expect(ask(sandbox, '/api/clients')).rejects.toThrow();
});
