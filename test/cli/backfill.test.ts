import { describe, expect, test } from 'vitest';
import { sandbox } from '../pull/support.ts';
import { document, run, settingsFor, type Env } from '../support/command-line.ts';
import { ask, expectEqual } from '../support/mirror-file.ts';
import { requestNumber } from '../support/requests.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

async function scene(size = 60) {
  const service = await sandbox({ size });
  const path = await grownMirror();
  return { service, path, env: settingsFor(service, path) };
}

const backfill = async (env: Env, ...argv: readonly string[]) => {
  const ended = await run(['backfill', ...argv, '--json'], env);
  return { ...ended, report: document(ended) as Record<string, unknown> };
};

test('reads records by ids and ranges of ids, and names those that the service does not have', async () => {
  const { service, path, env } = await scene();
  const [first = 0, gone = 0, last = 0] = [...service.world.ids('clients')].sort((a, b) => a - b);
  await run(['pull', 'clients'], env);
  service.world.update('clients', first, { city: 'Matane' });
  service.world.remove('clients', gone);

  const { code, report } = await backfill(env, 'clients', '--ids', `${first}-${last},7`);

  const span = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const missing = span.filter((id) => id !== first && id !== last).map(String);
  expect(missing).toContain(String(gone));
  expect(code).toBe(0);
  expect(report).toMatchObject({
    kind: 'clients',
    state: 'complete',
    updated: 1,
    rows: 2,
    unchanged: 1,
    missing: [...missing, '7'],
  });
  const rows = ask(path, `select city, _deleted_at from clients where id in (${first}, ${gone}) order by id`);
  expect(rows).toEqual([
    { city: 'Matane', _deleted_at: null },
    { city: expect.any(String) as string, _deleted_at: null },
  ]);
  expect(ask(path, 'select change, origin from changes')).toEqual([{ change: 'updated', origin: 'service' }]);
});

test('shows how many pages the list has if fewer than the wanted ones', async () => {
  const { path, env } = await scene(260);
  const read = async (pages: string, exit: number) => {
    const { code, stdout } = await run(['backfill', 'clients', '--pages', pages], env);
    expect([pages, code]).toEqual([pages, exit]);
    return stdout;
  };
  expect(await read('2-9', 0)).toMatch(/^clients: 160 records read: .*\nThe list has only 3 pages\.\n$/);
  expect(await read('7', 3)).toMatch(/^clients: 0 records read: .*\nThe list has only 3 pages\.\n$/);
  expect(await read('3', 0)).toMatch(/^clients: 60 records read: .*\n$/);
  expect(ask(path, 'select detail from run_kinds order by run_id')).toEqual([
    { detail: 'The list has only 3 pages.' },
    { detail: 'The list has only 3 pages.' },
    { detail: null },
  ]);
});

test('reads pages, or all of them', async () => {
  const { service, path, env } = await scene(260);
  expect(await backfill(env, 'clients', '--pages', '1-2')).toMatchObject({
    code: 0,
    report: { state: 'complete', rows: 200, pages: 2 },
  });
  for (const kind of ['projects', 'purchase_products', 'punches'])
    expect((await backfill(env, kind, '--all')).report).toMatchObject({
      state: 'complete',
      rows: service.world.count(kind),
    });
  await run(['pull'], env);
  expectEqual(path, service);
});

test('sales products, which no list has, are read by their ids only', async () => {
  const { service, path, env } = await scene();
  const id = service.world.ids('sales_products')[0] ?? 0;
  expect(await backfill(env, 'sales_products', '--ids', String(id))).toMatchObject({
    code: 0,
    report: { rows: 1 },
  });
  expect(ask(path, 'select id from sales_products')).toEqual([{ id: BigInt(id) }]);
  for (const extent of [['--all'], ['--pages', '1']]) {
    const refused = await run(['backfill', 'sales_products', ...extent], env);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--ids')]);
  }
});

test('interrupted by Ctrl-C it ends with 3, and what it has read stays', async () => {
  const { service, path, env } = await scene(3000);
  await run(['pull', 'clients'], env);
  for (const id of service.world.ids('clients')) service.world.update('clients', id, { city: 'Partout' });
  const stop = new AbortController();
  void requestNumber(service, 14).then(() => {
    stop.abort();
  });

  const first = await run(['backfill', 'clients', '--all'], env, stop.signal);
  expect([first.code, first.stdout]).toEqual([3, expect.stringContaining('the same command')]);
  const [before] = ask(path, `select count(*) as n from clients where city = 'Partout'`);
  expect(Number(before?.['n'])).toBeLessThan(3000);
  expect((await backfill(env, 'clients', '--all')).report).toMatchObject({ state: 'complete', rows: 3000 });
  expect(ask(path, `select count(*) as n from clients where city = 'Partout'`)).toEqual([{ n: 3000n }]);
});

describe('what it cannot mean is usage, and asks the service for nothing', () => {
  test.each([
    [['clients']],
    [['clients', '--all', '--ids', '1']],
    [['clients', '--ids', '0']],
    [['clients', '--pages', '0-2']],
    [['client', '--all']],
  ])('%j', async (argv) => {
    const { service, env } = await scene();
    const { code, stdout } = await run(['backfill', ...argv], env);
    expect([code, stdout]).toEqual([2, '']);
    expect(service.requests).toEqual([]);
  });
});
