import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { matchNewChanges } from '../../src/features/notify/alerts.ts';
import { addDigest } from '../../src/features/notify/digest.ts';
import { addEndpoint } from '../../src/events/webhooks/endpoints.ts';
import { formatInstant, systemClock } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/db/session/session.ts';
import { claimKind } from '../../src/store/kinds/kind-lease.ts';
import { dueEntries } from '../../src/store/outbox/outbox-queue.ts';
import { isDateReliable } from '../../src/pull/reliable-date.ts';
import { passLeases } from '../support/lapse.ts';
import { readLiveOwners, saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { dueEndpoints } from '../../src/events/webhooks/endpoint-store.ts';
import { ONE_DATABASE, type DATABASES, mirrorIn, putChanges } from './support.ts';

const DAY = 86_400_000;
const NOW = new Date('2026-03-02T12:00:00Z');
const AHEAD = new Date(NOW.getTime() + 40 * DAY);
const after = (ms: number): Date => new Date(NOW.getTime() + ms);

const rowsOf = async (session: Session, type: string): Promise<number> =>
  (await session.query(sql`select 1 from webhook_deliveries where type = ${type}`)).length;

async function withRoom(database: (typeof DATABASES)[number]): Promise<Session> {
  const { session } = await mirrorIn(database);
  const all = { kinds: null, changes: null, fields: null };
  for (const wish of [
    { name: 'anna', url: 'mailto:anna@garage.example', format: 'email' },
    { name: 'room', url: 'http://127.0.0.1/', format: 'slack' },
  ] as const)
    await addEndpoint(session, { ...all, ...wish }, { allowHosts: ['127.0.0.1'], now: NOW });
  return session;
}

describe.each(ONE_DATABASE)('after the clock was 40 days ahead, on %s,', (database) => {
  test('an alert comes', async () => {
    const session = await withRoom(database);
    const rule = { kind: 'clients', field: 'credit', above: '5000' };
    const rise = {
      change: 'updated',
      before: '{"id":7,"credit":"1"}',
      after: '{"id":7,"credit":"6000"}',
      fields: '{"credit":["1","6000"]}',
      observed_at: formatInstant(NOW),
    };
    await matchNewChanges(session, rule, NOW);
    await putChanges(session, { record_id: '7', ...rise });
    await matchNewChanges(session, rule, AHEAD);
    await putChanges(session, { record_id: '7', ...rise });
    await matchNewChanges(session, rule, NOW);
    expect(await rowsOf(session, 'alert.matched')).toBe(4); // Two alerts for two receivers.
  });

  test('the digest comes', async () => {
    const session = await withRoom(database);
    const time = { at: '07:00', timezone: 'UTC' };
    for (const now of [NOW, AHEAD, after(DAY), after(DAY + 60_000)]) await addDigest(session, time, now);
    expect(await rowsOf(session, 'digest.daily')).toBe(3);
  });

  test('a kind is read, and the process that had it is no longer at work', async () => {
    const { session } = await mirrorIn(database);
    await saveHeartbeat(session, { owner: 'before', roles: ['pulls'] });
    await claimKind(session, 'clients', 'before');
    await passLeases(session, -3600); // The database's clock was an hour ahead.
    await claimKind(session, 'clients', 'here');
    expect([...(await readLiveOwners(session))]).toEqual([]);
  });

  test('what waits to be sent is due', async () => {
    const session = await withRoom(database);
    const later = formatInstant(new Date(AHEAD.getTime() + 60_000));
    await session.atomically(async (tx) => {
      await tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, payload, state, next_attempt_at, updated_at)
        values ('a', 'clients', 'create', '{}', 'ready', ${later}, ${formatInstant(AHEAD)})`);
      await tx.query(sql`update webhook_endpoints set not_before = ${later}`);
    });
    await addDigest(session, { at: '07:00', timezone: 'UTC' }, NOW);
    await addDigest(session, { at: '07:00', timezone: 'UTC' }, AHEAD);
    expect(await dueEntries(session, NOW, 10)).toHaveLength(1);
    expect(await dueEndpoints(session, NOW, 10)).toHaveLength(1);
  });
});

describe.each(ONE_DATABASE)('the date, on %s,', (database) => {
  /** Asks after so many hours by the machine's clock, whose date is off by so many days. */
  async function heldAfter(session: Session, hours: number, off = 0, boot = 'one'): Promise<boolean> {
    const passedMs = hours * 3_600_000;
    const now = (): Date => after(passedMs + off * DAY);
    return isDateReliable(session, {
      ...systemClock,
      now,
      machine: () => ({ boot, upMs: 5_000 + passedMs }),
    });
  }

  test('has held once a day has passed by a clock that nobody sets', async () => {
    const { session } = await mirrorIn(database);
    const held = [await heldAfter(session, 0), await heldAfter(session, 23.9), await heldAfter(session, 24)];
    expect(held).toEqual([false, false, true]);
  });

  test('begins anew where it jumps, in both directions, and where another machine asks', async () => {
    const { session } = await mirrorIn(database);
    expect(await heldAfter(session, 0)).toBe(false);
    expect(await heldAfter(session, 30, 400)).toBe(false);
    expect(await heldAfter(session, 31)).toBe(false);
    expect(await heldAfter(session, 54)).toBe(false);
    expect(await heldAfter(session, 56)).toBe(true);
    expect(await heldAfter(session, 57, 0, 'two')).toBe(false);
  });
});
