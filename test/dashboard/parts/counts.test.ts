import { systemClock } from '../../../src/lib/time/clock.ts';
import { describe, expect, test } from 'vitest';
import { createCounts } from '../../../src/dashboard/parts/counts.ts';
import { putChanges } from '../../events/support.ts';
import { memoryLog } from '../../runs/engine/support.ts';
import { DATABASES } from '../../store/databases.ts';
import { NOON, NOON_TEXT, later, putRecords } from '../../store/temp-mirror.ts';

describe.each(DATABASES)('counts of a mirror in %s', (_name, open) => {
  test('have the live rows of each kind, and its events of the last hours', async () => {
    const session = await open();
    const { logger } = memoryLog();
    const counts = createCounts({ session, logger, clock: systemClock });
    const dead = { id: '3', _deleted_at: NOON_TEXT };
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1' }, { id: '2' }, dead]));
    const kinds = ['clients', 'products'];
    expect([...((await counts.rows(kinds))?.value ?? [])]).toEqual([
      ['clients', { rows: 2, single: 0 }],
      ['products', { rows: 0, single: 0 }],
    ]);
    const event = { kind: 'clients', record_id: '1', change: 'updated', observed_at: NOON_TEXT };
    await putChanges(session, event, event);
    const hours = await counts.hours(later(3_600_000));
    expect([...(hours?.value.keys() ?? [])]).toEqual(['clients']);
    expect(hours?.value.get('clients')).toEqual([...Array.from({ length: 46 }, () => 0), 2, 0]);
  });
});

test('a count that takes long is made again beside the answers, and not with each of them', async () => {
  const [, open] = DATABASES[0] ?? [];
  if (open === undefined) throw new Error('no database');
  const session = await open();
  let now = 0;
  let statements = 0;
  const slow: typeof session.query = (statement) => {
    now += 200;
    statements += 1;
    return session.query(statement);
  };
  const clock = { ...systemClock, monotonicMs: () => now };
  const counts = createCounts({ session: { ...session, query: slow }, clock, logger: memoryLog().logger });
  const live = async (): Promise<unknown> => (await counts.rows(['clients']))?.value.get('clients')?.rows;
  expect(await live()).toBe(0);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1' }]));
  expect(await live()).toBe(0);
  expect(statements).toBe(2);
  now += 8_000;
  expect(await live()).toBe(0);
  await expect.poll(live).toBe(1);
  expect(statements).toBe(4);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '2' }]));
  now += 61_000;
  expect(await live()).toBe(2); // Who looks after a minute waits.
  expect((await counts.hours(NOON))?.value).toEqual(new Map());
});

test('a count that fails, as when serve stops meanwhile, asks nobody to act', async () => {
  const [, open] = DATABASES[0] ?? [];
  if (open === undefined) throw new Error('no database');
  const { logger, lines } = memoryLog();
  const query = () => Promise.reject(new Error('The thread that reads the mirror has ended.'));
  const counts = createCounts({ session: { ...(await open()), query }, clock: systemClock, logger });
  expect(await counts.rows(['clients'])).toBe(null);
  expect(lines.map(({ level }) => level)).toEqual([20]);
});
