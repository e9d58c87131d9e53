import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { formatIds } from '../../../src/diff/page-ids.ts';
import { saveSightings, type NewSighting } from '../../../src/store/sightings/page-store.ts';
import {
  clearEnds,
  findOldSightingsTick,
  pruneSightings,
  readSightings,
} from '../../../src/store/sightings/sighting-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { NOON, NOON_TEXT, later, tempMirror } from '../temp-mirror.ts';

const IDS = ['1', '2', '9223372036854775807'];
const SIGHTING: NewSighting = {
  kind: 'clients',
  runId: 1,
  sweep: 0,
  page: 1,
  sent: 1,
  answered: 2,
  ids: formatIds(IDS),
  rows: 4,
  endRows: null,
  total: null,
  sentAt: NOON,
};
const LAST_PAGE = { answered: 4, sent: 3, page: 2, ids: '[]', rows: 0, endRows: 100, total: 101 };

const save = (session: Session, ...some: readonly Partial<NewSighting>[]): Promise<void> =>
  session.atomically(async (tx) => {
    await saveSightings(
      tx,
      some.map((one) => ({ ...SIGHTING, ...one })),
    );
  });

const prune = (session: Session, kind: string): Promise<void> =>
  session.atomically(async (tx) => pruneSightings(tx, kind, (await findOldSightingsTick(tx, kind)) ?? -1));

const kept = async (session: Session, kind: string): Promise<unknown[]> =>
  (
    await session.query(sql`select sweep, answered from sightings where kind = ${kind} order by answered`)
  ).map((row) => [row['sweep'], row['answered']]);

test('a sighting is kept as it was, 64-bit ids to the digit, and dated when its request was sent', async () => {
  const session = await tempMirror();
  await save(session, {}, LAST_PAGE);
  const first = { kind: 'clients', run_id: 1, sweep: 0, seen_at: NOON_TEXT };
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

test('they are read in the order of answers, as the certificate wants them, those of other kinds left out', async () => {
  const session = await tempMirror();
  await save(session, LAST_PAGE, { sweep: null, sentAt: later(1) }, { kind: 'products' });
  const { sweep, page, sent, answered, ids, rows, endRows, total } = SIGHTING;
  const first = { sweep, page, sent, answered, ids, rows, endRows, total };
  expect(await readSightings(session, 'clients')).toEqual([
    { ...first, sweep: null, seenAt: '2026-03-01 12:00:00.001' },
    { ...first, ...LAST_PAGE, seenAt: NOON_TEXT },
  ]);
  expect(await readSightings(session, 'bookings')).toEqual([]);
});

test('a void sweep keeps what it saw, and proves no end; others prove theirs', async () => {
  const session = await tempMirror();
  const end = { ids: '[5]', rows: 1, endRows: 1 };
  await save(session, { ...end, answered: 2 }, { ...end, answered: 4, sent: 3, sweep: 2 });
  await save(session, { ...end, answered: 6, sent: 5, sweep: null }, { ...end, kind: 'products', sweep: 2 });
  await session.atomically((tx) => clearEnds(tx, 'clients', 2));
  const facts = (await readSightings(session, 'clients')).map(({ ids, endRows }) => [ids, endRows]);
  expect(facts).toEqual([
    ['[5]', 1],
    ['[5]', null],
    ['[5]', 1],
  ]);
  expect(await readSightings(session, 'products')).toMatchObject([{ endRows: 1 }]);
});

test('pruning keeps the last three sweeps of the kind, whole, and other kinds as they are', async () => {
  const session = await tempMirror();
  for (const sweep of [20, 30, 50, 90, 100]) {
    await save(session, { sweep, answered: sweep + 1 }, { sweep, answered: sweep + 2 });
    await save(session, { kind: 'products', sweep, answered: sweep });
    await prune(session, 'clients');
  }
  const whole = [50, 90, 100].flatMap((sweep) => [1, 2].map((more) => [sweep, sweep + more]));
  expect(await kept(session, 'clients')).toEqual(whole);
  expect(await kept(session, 'products')).toHaveLength(5);
  await prune(session, 'vehicle_brands'); // The kind has none.
  expect(await kept(session, 'products')).toHaveLength(5);
});

test('pages read between sweeps go with the sweeps before them', async () => {
  const session = await tempMirror();
  await save(session, { sweep: null, answered: 5 }, { sweep: 10, answered: 11 });
  await prune(session, 'clients');
  expect(await kept(session, 'clients')).toEqual([[10, 11]]);
  await save(session, { sweep: null, answered: 15 }, { sweep: 20, answered: 21 });
  for (const sweep of [30, 40]) await save(session, { sweep, answered: sweep + 1 });
  await save(session, { sweep: null, answered: 45 });
  await prune(session, 'clients');
  const second = [20, 21];
  const third = [30, 31];
  expect(await kept(session, 'clients')).toEqual([second, third, [40, 41], [null, 45]]);
});
