import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../src/store/kinds/status-store.ts';
import { openSession } from '../../../src/db/open-session.ts';
import {
  claimRun,
  closeStaleRuns,
  raiseRun,
  renewRun,
  requestPull,
  requestedRuns,
} from '../../../src/store/runs/run-requests.ts';
import {
  findRun,
  finishRun,
  listRuns,
  runsAfter,
  saveKindReport,
  startRun,
  type KindReport,
} from '../../../src/store/runs/run-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { startChild } from '../child.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, kindNamed, later } from '../temp-mirror.ts';
import { endLeases, passLeases } from '../../support/lapse.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const request = (session: Session, ...kinds: readonly string[]): Promise<number> =>
  session.atomically((tx) => requestPull(tx, { kinds, request: 'outbox', now: NOON }));

const claim = async (session: Session, id: number, epoch = 0) => {
  const claim = { id, epoch, owner: 'me', now: later(1000) };
  return (await session.atomically((tx) => claimRun(tx, claim)))?.kinds ?? null;
};

const raise = (session: Session, id: number, epoch = 0) =>
  session.atomically((tx) => raiseRun(tx, { id, epoch }));

describe.each(DATABASES)('a run that is asked for in %s', (_name, open) => {
  test('is a row that waits, and says who wants what', async () => {
    const session = await open();
    const id = await request(session, 'clients', 'products');
    expect(await requestedRuns(session)).toEqual([{ id, epoch: 0, task: 'pull clients products' }]);
    expect(await findRun(session, id)).toMatchObject({
      id,
      command: 'pull',
      kinds: ['clients', 'products'],
      state: 'requested',
      startedAt: null,
    });
    const [row] = await session.query(sql`select request, requested_at, owner from runs`);
    expect(row).toEqual({ request: 'outbox', requested_at: NOON_TEXT, owner: null });
  });

  test('serves whoever asks for the same before it is begun', async () => {
    const session = await open();
    const id = await request(session, 'clients');
    expect(await request(session, 'clients')).toBe(id);
    const other = await request(session, 'products');
    expect(other).not.toBe(id);
    await claim(session, id);
    expect(await request(session, 'clients')).not.toBe(id);
    expect((await requestedRuns(session)).map(({ id: one }) => one)).toHaveLength(2);
  });

  test('is begun once, under its epoch', async () => {
    const session = await open();
    const id = await request(session, 'clients');
    expect(await claim(session, id, 1)).toBe(null);
    expect(await claim(session, id)).toEqual(['clients']);
    expect(await claim(session, id)).toBe(null);
    expect(await claim(session, id, 1)).toBe(null);
    expect(await requestedRuns(session)).toEqual([]);
    const [row] = await session.query(sql`select state, owner, started_at, epoch from runs`);
    expect(row).toEqual({ state: 'running', owner: 'me', started_at: '2026-03-01 12:00:01.000', epoch: 1 });
  });

  test('takes a higher epoch while it waits: who was notified before works in vain', async () => {
    const session = await open();
    const id = await request(session, 'clients');
    expect(await raise(session, id)).toEqual({ id, epoch: 1 });
    expect(await raise(session, id)).toBe(null);
    expect(await claim(session, id)).toBe(null);
    expect(await claim(session, id, 1)).toEqual(['clients']);
    expect(await raise(session, id, 2)).toBe(null);
  });

  test('is told oldest first', async () => {
    const session = await open();
    const ids = [
      await request(session, 'clients'),
      await request(session, 'products'),
      await request(session, 'projects'),
    ];
    expect((await requestedRuns(session)).map(({ id }) => id)).toEqual(ids);
  });
});

const LAPSED = later(45_000);
const start = (session: Session, owner: string): Promise<number> =>
  startRun(session, { command: 'pull', kinds: ['clients'], owner, now: NOON });

const stateOf = async (session: Session): Promise<unknown> => {
  const [listed] = await listRuns(session, { limit: 1 });
  const [paged] = await runsAfter(session, 0, 1);
  const found = await findRun(session, listed?.id ?? 0);
  expect([paged?.state, found?.state]).toEqual([listed?.state, listed?.state]);
  return [listed?.state, listed?.reason];
};

const renew = (session: Session, runId: number, owner: string): Promise<void> =>
  session.atomically((tx) => renewRun(tx, { runId, owner }));

const LEASE_LAPSED = 'its process sent no more heartbeats';

const stored = (session: Session) =>
  session.query(sql`select id, state, owner, reason from runs order by id`);

const report: KindReport = {
  kind: 'clients',
  state: 'complete',
  reason: null,
  detail: null,
  certifiedAt: null,
  pages: 1,
  rows: 1,
  created: 0,
  updated: 0,
  deleted: 0,
  restored: 0,
  unchanged: 1,
  quarantined: 0,
  requests: 1,
  retries: 0,
  durationMs: 1,
};

describe.each(DATABASES)('a run whose process is not heard of any more, in %s', (_name, open) => {
  test('reads as interrupted once its lease is over, whatever host the process is of', async () => {
    const session = await open();
    const runId = await start(session, 'another-host:1:x');
    await passLeases(session, 40);
    expect(await stateOf(session)).toEqual(['running', null]);
    await passLeases(session, 6);
    expect(await stateOf(session)).toEqual(['interrupted', LEASE_LAPSED]);
    await renew(session, runId, 'another-host:1:x');
    await passLeases(session, 40);
    expect(await stateOf(session)).toEqual(['running', null]);
    await renew(session, runId, 'somebody else');
    await passLeases(session, 6);
    expect(await stateOf(session)).toEqual(['interrupted', LEASE_LAPSED]);
  });

  test('is noted as interrupted by the next process that runs anything', async () => {
    const session = await open();
    const lost = await start(session, 'another-host:1:x');
    await endLeases(session);
    const next = await start(session, 'me');
    expect(await stored(session)).toEqual([
      { id: lost, state: 'interrupted', owner: 'another-host:1:x', reason: LEASE_LAPSED },
      { id: next, state: 'running', owner: 'me', reason: null },
    ]);
  });

  test('may still say how it ended, where it only stood still', async () => {
    const session = await open();
    const runId = await start(session, 'frozen');
    await endLeases(session);
    await session.atomically((tx) => closeStaleRuns(tx, LAPSED));
    await finishRun(session, { runId, owner: 'frozen' }, { state: 'done', reason: null, now: LAPSED });
    expect(await stateOf(session)).toEqual(['done', null]);
  });

  test('and that was asked for waits for somebody else; what the old process says of it then is void', async () => {
    const session = await open();
    const runId = await request(session, 'clients');
    const claim = (epoch: number, owner: string, now: Date) =>
      session.atomically((tx) => claimRun(tx, { id: runId, epoch, owner, now }));
    expect(await claim(0, 'frozen', NOON)).toMatchObject({ kinds: ['clients'] });
    await endLeases(session);
    expect(await stateOf(session)).toEqual(['requested', null]);
    await session.atomically((tx) => closeStaleRuns(tx, LAPSED));
    expect(await claim(2, 'other', LAPSED)).toMatchObject({ kinds: ['clients'] });

    const saveReport = (owner: string): Promise<void> =>
      session.atomically((tx) => saveKindReport(tx, { runId, owner }, report, LAPSED));
    await saveReport('frozen');
    const end = { state: 'incomplete', reason: 'mine', now: LAPSED } as const;
    await finishRun(session, { runId, owner: 'frozen' }, end);
    expect(await findRun(session, runId)).toMatchObject({ state: 'running', reports: [] });
    await saveReport('other');
    await finishRun(session, { runId, owner: 'other' }, { ...end, state: 'done', reason: null });
    expect(await findRun(session, runId)).toMatchObject({ state: 'done', reports: [report] });
  });

  test('reads so in the status of its kinds, too', async () => {
    const session = await open();
    await session.atomically((tx) =>
      tx.query(sql`insert into kind_state (kind, tick, state, complete_sweeps, owner, epoch, lease_until)
        values ('clients', 0, 'running', 0, 'another-host:1:x', 1, ${NOON_TEXT})`),
    );
    const [row] = await session.query(sql`select state, reason from bi_sync_status where kind = 'clients'`);
    expect(row).toEqual({ state: 'aborted', reason: 'interrupted' });
  });
});

test('a run and a sweep of a process that was killed with -9 read as running until their lease is over', async () => {
  const url = `file:${join(tempFolder(), 'mirror.db')}`;
  await using session = await openSession(url);
  await migrate(session, [kindNamed('clients')]);
  const shown = async () => {
    const [run] = await listRuns(session, { limit: 1 });
    const [kind] = await readStatus(session);
    return [run?.state, run?.reason, kind?.state, kind?.reason];
  };
  const killed = async (ago: number): Promise<void> => {
    const child = startChild('begin-run.ts', url, String(ago));
    expect((await child.lines.next()).value).toBe('begun');
    await child.kill();
  };
  await killed(46);
  expect(await shown()).toEqual(['interrupted', LEASE_LAPSED, 'aborted', 'interrupted']);
  await killed(0);
  expect(await shown()).toEqual(['running', null, 'running', null]);
});
