import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { claimKind, releaseKind } from '../../../src/store/kinds/kind-lease.ts';
import { claimRun, requestPull, requestRun } from '../../../src/store/runs/run-requests.ts';
import { listRuns, startRun } from '../../../src/store/runs/run-store.ts';
import { migrate } from '../../../src/views/migrate.ts';
import type { Session } from '../../../src/db/session/session.ts';
import {
  readHandledUntil,
  requestSlot,
  saveHandledUntil,
  startableRuns,
  type SlotRequest,
} from '../../../src/store/runs/open-runs.ts';
import { freshDatabaseUrl } from '../../support/postgres.ts';
import { endLeases } from '../../support/lapse.ts';
import { DATABASES } from '../databases.ts';
import { openForTest } from '../postgres-mirror.ts';
import { NOON, NOON_TEXT, kindNamed, later } from '../temp-mirror.ts';

const request = (session: Session, wish: Partial<SlotRequest> = {}) => {
  const full = { schedule: 'often', slot: NOON, kinds: ['clients'], now: NOON };
  return session.atomically((tx) => requestSlot(tx, { ...full, ...wish }));
};

const startable = async (session: Session): Promise<number[]> =>
  (await startableRuns(session, 9)).map(({ id }) => id);

const begin = (session: Session, id: number) =>
  session.atomically((tx) => claimRun(tx, { id, epoch: 0, owner: 'me', now: NOON }));

const lease = (session: Session, kind: string) => claimKind(session, kind, 'somebody');

describe.each(DATABASES)('a slot in %s', (_name, open) => {
  test('asks for a run, and says which slot it is of', async () => {
    const session = await open();
    expect(await request(session)).toEqual({ is: 'requested', runId: 1, served: [] });
    expect(await session.query(sql`select command, kinds, state, request, slot, epoch from runs`)).toEqual([
      {
        command: 'pull',
        kinds: '["clients"]',
        state: 'requested',
        epoch: 0,
        request: 'schedule often',
        slot: 'often@2026-03-01T12:00:00.000Z',
      },
    ]);
    expect(await readHandledUntil(session, 'often')).toEqual(NOON);
    expect(await readHandledUntil(session, 'other')).toBe(null);
  });

  test('is dealt with once, however often it is asked for, and even if the clock was put back since', async () => {
    const session = await open();
    await request(session);
    expect(await request(session)).toEqual({ is: 'taken' });
    await session.atomically((tx) => saveHandledUntil(tx, 'often', later(-5000)));
    await session.atomically((tx) => tx.query(sql`update runs set state = 'done'`));
    expect(await request(session)).toEqual({ is: 'taken' });
    expect(await listRuns(session, { limit: 9 })).toHaveLength(1);
    expect(await request(session, { slot: later(60_000) })).toMatchObject({ is: 'requested' });
  });

  test('gets no run of its own while its kinds are asked for, or being read', async () => {
    const session = await open();
    const id = await session.atomically((tx) =>
      requestPull(tx, { kinds: ['clients'], request: 'outbox', now: NOON }),
    );
    expect(await request(session)).toEqual({ is: 'served' });
    expect(await request(session)).toEqual({ is: 'taken' });
    await begin(session, id);
    expect(await request(session, { slot: later(1) })).toEqual({ is: 'served' });
    expect(await listRuns(session, { limit: 9 })).toHaveLength(1);
  });

  test('asks for those of its kinds that nobody reads', async () => {
    const session = await open();
    await request(session);
    const end = await request(session, { schedule: 'nightly', kinds: ['clients', 'products'] });
    expect(end).toEqual({ is: 'requested', runId: 2, served: ['clients'] });
    expect((await listRuns(session, { limit: 1 }))[0]).toMatchObject({ kinds: ['products'] });
  });

  test('gets its run where the pull that runs is done with the kind', async () => {
    const session = await open();
    await request(session, { kinds: ['clients', 'products'] });
    await begin(session, 1);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into run_kinds (run_id, kind, state, pages, rows, created, updated, deleted, restored, unchanged,
          quarantined, requests, retries, started_at, duration_ms)
        values (1, 'clients', 'certified', 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, ${NOON_TEXT}, 1)`),
    );
    const end = await request(session, { schedule: 'both', kinds: ['clients', 'products'] });
    expect(end).toEqual({ is: 'requested', runId: 2, served: ['products'] });
    expect(await startable(session)).toEqual([2]);
  });

  test('a pull by hand serves while it holds the lease, for its row may outlive it', async () => {
    const session = await open();
    const kinds = ['clients', 'products'];
    await startRun(session, { command: 'pull', kinds, owner: 'hand', now: NOON });
    const held = await lease(session, 'clients');
    expect(await request(session, { kinds })).toMatchObject({ is: 'requested', served: ['clients'] });
    const end = { state: 'complete', reason: null, isComplete: true, now: NOON } as const;
    await session.atomically((tx) => releaseKind(tx, held, { ...held.before, ...end }));
    expect(await request(session, { slot: later(1) })).toMatchObject({ is: 'requested' });
  });

  test('gets a run that waits while its kinds are read', async () => {
    const session = await open();
    await request(session);
    expect(await startable(session)).toEqual([1]);
    await lease(session, 'clients');
    expect(await startable(session)).toEqual([]);
    await endLeases(session);
    expect(await startable(session)).toEqual([1]);
  });
});

test('a backfill holds up no pull of other kinds, and no backfill begins beside it', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, ['clients', 'products', 'projects'].map(kindNamed));
  const backfill = (kind: string) =>
    session.atomically((tx) =>
      requestRun(tx, { command: 'backfill', kinds: [kind], request: '--all', now: NOON }),
    );
  const clients = await backfill('clients');
  await backfill('products');
  expect(await startable(session)).toEqual([clients]);
  await begin(session, clients);
  expect(await startable(session)).toEqual([]);
  const { runId: scheduled } = await request(session, { kinds: ['clients', 'products', 'projects'] });
  const pull = { kinds: ['clients'], request: 'pull', now: NOON };
  await session.atomically((tx) => requestPull(tx, pull));
  expect(await startable(session)).toEqual([scheduled]);
});

test('a run without kinds begins', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, [kindNamed('clients')]);
  const none = await session.atomically((tx) => requestPull(tx, { kinds: [], request: 'pull', now: NOON }));
  expect(await startable(session)).toEqual([none]);
});

test('pulls of the same kind wait for each other', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, ['clients', 'products'].map(kindNamed));
  const pull = (...kinds: string[]) =>
    session.atomically((tx) => requestPull(tx, { kinds, request: 'pull', now: NOON }));
  const both = await pull('clients', 'products');
  await pull('clients');
  expect(await startable(session)).toEqual([both]);
  await begin(session, both);
  expect(await startable(session)).toEqual([]);
});

test('two processes at the same slot, and at the same kind: one run', async () => {
  const url = await freshDatabaseUrl();
  const sessions = await Promise.all([1, 2, 3, 4].map(() => openForTest(url)));
  const [first] = sessions;
  if (first === undefined) throw new Error('no session');
  await migrate(first, [kindNamed('clients')]);
  for (let minute = 0; minute < 20; minute++) {
    const slot = later(minute * 60_000);
    const ends = await Promise.all(
      sessions.map((session, index) => request(session, { slot, schedule: index < 2 ? 'often' : 'nightly' })),
    );
    expect(ends.map(({ is }) => is).sort()).toEqual(['requested', 'served', 'taken', 'taken']);
    await first.atomically((tx) => tx.query(sql`update runs set state = 'done'`));
  }
  expect(await listRuns(first, { limit: 99 })).toHaveLength(20);
});
