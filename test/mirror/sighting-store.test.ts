import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { claimKind, releaseKind, renewLease } from '../../src/mirror/kind-lease.ts';
import { pruneSightings, saveSighting } from '../../src/mirror/sighting-store.ts';
import type { Sighting } from '../../src/mirror/sighting-store.ts';
import type { Session } from '../../src/mirror/session.ts';
import { NOON, NOON_TEXT, tempMirror } from './temp-mirror.ts';

const SIGHTING: Sighting = {
  kind: 'clients',
  runId: 1,
  page: 1,
  sent: 1,
  answered: 2,
  ids: ['1', '2', '9223372036854775807'],
  rows: 4,
  endRows: null,
  total: null,
  now: NOON,
};

const save = (session: Session, ...some: readonly Partial<Sighting>[]): Promise<void> =>
  session.atomically(async (tx) => {
    for (const one of some) await saveSighting(tx, { ...SIGHTING, ...one });
  });

const prune = (session: Session, kind: string): Promise<void> =>
  session.atomically((tx) => pruneSightings(tx, kind));

const kept = async (session: Session, kind: string): Promise<unknown[]> =>
  (
    await session.query(sql`select run_id, answered from sightings where kind = ${kind} order by answered`)
  ).map((row) => [row['run_id'], row['answered']]);

test('a sighting is kept as it was, 64-bit ids to the digit', async () => {
  const session = await tempMirror();
  await save(session, {}, { answered: 4, sent: 3, page: 2, ids: [], rows: 0, endRows: 100, total: 101 });
  const first = { kind: 'clients', run_id: 1, seen_at: NOON_TEXT };
  expect(await session.query(sql`select * from sightings order by answered`)).toEqual([
    {
      ...first,
      page: 1,
      sent: 1,
      answered: 2,
      ids: '[1,2,9223372036854775807]',
      rows: 4,
      end_rows: null,
      total: null,
    },
    { ...first, page: 2, sent: 3, answered: 4, ids: '[]', rows: 0, end_rows: 100, total: 101 },
  ]);
});

test('the ids are JSON that SQL can take apart', async () => {
  const session = await tempMirror();
  await save(session, {});
  const ids = await session.query(
    sql`select cast(value as text) as id from sightings, json_each(sightings.ids)`,
  );
  expect(ids.map(({ id }) => id)).toEqual(SIGHTING.ids);
});

test('two responses of a kind cannot have one tick', async () => {
  const session = await tempMirror();
  await expect(save(session, {}, { page: 2 })).rejects.toThrow('UNIQUE');
  expect(await kept(session, 'clients')).toEqual([]);
});

test('pruning keeps the last three sweeps of the kind, whole, and other kinds as they are', async () => {
  const session = await tempMirror();
  for (const runId of [2, 3, 5, 9, 10]) {
    await save(session, { runId, answered: 10 * runId }, { runId, answered: 10 * runId + 1 });
    await save(session, { kind: 'products', runId, answered: runId });
    await prune(session, 'clients');
  }
  expect(await kept(session, 'clients')).toEqual(
    [5, 5, 9, 9, 10, 10].map((run, index) => [run, 10 * run + (index % 2)]),
  );
  expect(await kept(session, 'products')).toHaveLength(5);
  await prune(session, 'vehicle_brands'); // Of which there is none.
  expect(await kept(session, 'products')).toHaveLength(5);
});

test('a sweep can land after one whose parallel answers landed in another order than they came', async () => {
  const session = await tempMirror();
  const sweep = async (
    runId: number,
    ticks: readonly (readonly [sent: number, answered: number])[],
  ): Promise<void> => {
    const lease = await claimKind(session, { kind: 'clients', owner: 'a', now: NOON, isDead: () => false });
    for (const [sent, answered] of ticks) {
      await session.atomically(async (tx) => {
        await renewLease(tx, lease, { tick: lease.tick + answered, now: NOON });
        const [first, last] = [lease.tick + sent, lease.tick + answered];
        await saveSighting(tx, { ...SIGHTING, runId, sent: first, answered: last });
      });
    }
    const end = { state: 'complete', reason: null, isComplete: true, hasChanges: false, now: NOON };
    await session.atomically((tx) => releaseKind(tx, lease, end));
  };
  // Pages 2 to 5 are asked for side by side and land in page order; their answers came the other way round.
  const ticks = [
    [1, 2],
    [3, 10],
    [4, 9],
    [5, 8],
    [6, 7],
  ] as const;
  await sweep(1, ticks);
  await sweep(2, ticks);
  expect(await kept(session, 'clients')).toHaveLength(10);
});
