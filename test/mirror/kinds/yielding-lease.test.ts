import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../../src/mirror/session/errors.ts';
import { LEASE_MS, claimKind, renewLease } from '../../../src/mirror/kinds/kind-lease.ts';
import { claimYielding, releaseYielding } from '../../../src/mirror/kinds/yielding-lease.ts';
import type { YieldingLease } from '../../../src/mirror/kinds/yielding-lease.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { leasedKinds } from '../../../src/mirror/runs/startable-runs.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const isDead = (): boolean => false;
const claim = (session: Session, owner: string, now = NOON): Promise<YieldingLease | null> =>
  claimYielding(session, { kind: 'clients', owner, now, isDead });
const sweep = (session: Session, owner: string) =>
  claimKind(session, { kind: 'clients', owner, now: NOON, isDead });

async function swept(open: () => Promise<Session>, state = 'certified'): Promise<Session> {
  const session = await open();
  await session.atomically((tx) =>
    tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 40, ${state}, 1, 1, ${NOON_TEXT})`),
  );
  return session;
}

const stateOf = async (session: Session) =>
  (
    await session.query(sql`select state, owner, epoch, lease_yields from kind_state where kind = 'clients'`)
  )[0];
const renewed = (session: Session, lease: YieldingLease): Promise<number> =>
  session.atomically((tx) => renewLease(tx, lease, { tick: 42, now: NOON }));
const released = (session: Session, lease: YieldingLease): Promise<void> =>
  session.atomically((tx) => releaseYielding(tx, lease, { hasChanges: false, now: NOON }));

describe.each(DATABASES)('a lease that yields, in %s', (_name, open) => {
  test('leaves the standing of the kind as it is, and no run waits for it', async () => {
    const session = await swept(open);
    const lease = await claim(session, 'a');
    expect(lease).toMatchObject({ tick: 40, epoch: 2, owner: 'a' });
    expect(await stateOf(session)).toMatchObject({ state: 'certified', owner: 'a', lease_yields: 1 });
    expect(await leasedKinds(session, { now: NOON, isDead })).toEqual([]);
    if (lease !== null) await released(session, lease);
    expect(await stateOf(session)).toMatchObject({ state: 'certified', owner: null, lease_yields: null });
  });

  test('goes to a sweep at once: the reading can neither land nor give it back', async () => {
    const session = await swept(open);
    const lease = await claim(session, 'a');
    if (lease === null) throw new Error('it was free');
    const taken = await sweep(session, 'b');
    expect(taken).toMatchObject({ before: { state: 'certified' }, tick: 40, epoch: 3 });
    await expect(renewed(session, lease)).rejects.toThrow(LeaseError);
    await released(session, lease);
    expect(await stateOf(session)).toMatchObject({ state: 'running', owner: 'b', lease_yields: null });
    expect(await leasedKinds(session, { now: NOON, isDead })).toEqual(['clients']);
    await expect(sweep(session, 'c')).rejects.toThrow(LeaseError);
  });

  test('is refused while a sweep or another process has the list, and to its own process it is free', async () => {
    const session = await swept(open);
    await claim(session, 'a');
    expect(await claim(session, 'b')).toBeNull();
    expect(await claim(session, 'a')).toMatchObject({ epoch: 3 });
    expect(await claim(session, 'b', later(LEASE_MS))).toMatchObject({ epoch: 4 });
    await sweep(session, 'a');
    expect(await claim(session, 'a')).toBeNull();
  });

  test('is refused where there is no baseline, and after a sweep that died', async () => {
    expect(await claim(await open(), 'a')).toBeNull();
    expect(await claim(await swept(open, 'running'), 'a')).toBeNull();
  });
});
