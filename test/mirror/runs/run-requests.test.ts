import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { claimRun, raiseRun, requestPull, requestedRuns } from '../../../src/mirror/runs/run-requests.ts';
import { findRun } from '../../../src/mirror/runs/run-store.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const request = (session: Session, ...kinds: readonly string[]): Promise<number> =>
  session.atomically((tx) => requestPull(tx, { kinds, request: 'outbox', now: NOON }));

const claim = (session: Session, id: number, epoch = 0) =>
  session.atomically((tx) => claimRun(tx, { id, epoch, owner: 'me', now: later(1000) }));

const raise = (session: Session, id: number, epoch = 0) =>
  session.atomically((tx) => raiseRun(tx, { id, epoch }));

const waiting = (session: Session, limit = 9) => requestedRuns(session, NOON, limit);

describe.each(DATABASES)('a run that is asked for in %s', (_name, open) => {
  test('is a row that waits, and says who wants what', async () => {
    const session = await open();
    const id = await request(session, 'clients', 'products');
    expect(await waiting(session)).toEqual([{ id, epoch: 0 }]);
    expect(await findRun(session, id, NOON)).toMatchObject({
      ...{ id, command: 'pull', kinds: ['clients', 'products'], state: 'requested', startedAt: null },
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
    expect((await waiting(session)).map(({ id: one }) => one)).toHaveLength(2);
  });

  test('is begun once, under its epoch', async () => {
    const session = await open();
    const id = await request(session, 'clients');
    expect(await claim(session, id, 1)).toBe(null);
    expect(await claim(session, id)).toEqual(['clients']);
    expect(await claim(session, id)).toBe(null);
    expect(await claim(session, id, 1)).toBe(null);
    expect(await waiting(session)).toEqual([]);
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

  test('is told oldest first, as many as asked for, and not before its time', async () => {
    const session = await open();
    const ids = [
      await request(session, 'clients'),
      await request(session, 'products'),
      await request(session, 'projects'),
    ];
    expect(await waiting(session, 2)).toEqual([
      { id: ids[0], epoch: 0 },
      { id: ids[1], epoch: 0 },
    ]);
    await session.atomically((tx) =>
      tx.query(sql`update runs set next_attempt_at = '2026-03-01 12:00:00.001' where id = ${Number(ids[0])}`),
    );
    expect((await waiting(session)).map(({ id }) => id)).toEqual(ids.slice(1));
    await session.atomically((tx) => tx.query(sql`update runs set next_attempt_at = ${NOON_TEXT}`));
    expect((await waiting(session)).map(({ id }) => id)).toEqual(ids);
  });

  test('of an older mirror, without an epoch, counts as 0', async () => {
    const session = await open();
    const id = await request(session, 'clients');
    await session.atomically((tx) => tx.query(sql`update runs set epoch = null`));
    expect(await waiting(session)).toEqual([{ id, epoch: 0 }]);
    expect(await raise(session, id)).toEqual({ id, epoch: 1 });
  });
});
