import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { byTheClock } from '../support/tiers.ts';
import { askList } from './ask.ts';

const MILLION = 1_000_000;

test('a million clients cost no start-up time, no memory, and a page is quick wherever it is', async () => {
  const before = process.memoryUsage().heapUsed;
  const started = performance.now();
  await using sandbox = await startSandbox({ size: MILLION });
  expect(performance.now() - started).toBeLessThan(byTheClock(1000));

  const readFrom = performance.now();
  for (let turn = 0; turn < 100; turn++) {
    const kind = turn % 2 === 0 ? 'clients' : 'products';
    const { data, meta } = await askList(sandbox, `/api/${kind}?per_page=100&page=${1 + turn * 101}`);
    expect(data).toHaveLength(100);
    expect(meta).toMatchObject({ last_page: 10_000, total: MILLION });
  }
  const milliseconds = performance.now() - readFrom;
  expect(milliseconds).toBeLessThan(byTheClock(10_000));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 2 ** 20);
});

test('a million clients can be changed', async () => {
  await using sandbox = await startSandbox({ size: MILLION });
  const { world } = sandbox;
  world.remove('clients', world.slice('clients', 0, 1)[0] ?? 0);
  world.insert('clients', { code: '0000000' });
  const { data, meta } = await askList(sandbox, '/api/clients?per_page=1');
  expect(data[0]).toMatchObject({ code: '0000000' });
  expect(meta?.total).toBe(MILLION);
});
