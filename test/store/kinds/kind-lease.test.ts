import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  claimKind,
  claimPreemptible,
  leasedKinds,
  releaseKind,
  releasePreemptible,
  renewLease,
  type KindLease,
  type SweepEnd,
} from '../../../src/store/kinds/kind-lease.ts';
import { LeaseError } from '../../../src/db/session/errors.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { deadOwner, endLeases, passLeases } from '../../support/lapse.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, putRecords, tempMirror, thrownBy } from '../temp-mirror.ts';

const claim = (session: Session, owner: string, kind = 'clients'): Promise<KindLease> =>
  claimKind(session, kind, owner);

/** Lands an empty page whose answer had this tick. */
const renew =
  (session: Session, lease: KindLease) =>
  (tick: number): Promise<number> =>
    session.atomically((tx) => renewLease(tx, lease, tick));

const END: SweepEnd = {
  state: 'complete',
  reason: null,
  isComplete: true,
  certifiedAt: null,
  baselineAt: null,
  controlFailures: 0,
  lastCompleteSweep: null,
  uncertifiedSweeps: 0,
  now: NOON,
};
const FIRST = {
  tick: 0,
  completeSweeps: 0,
  certifiedAt: null,
  baselineAt: null,
  knownFrom: 0,
  controlFailures: 0,
  lastCompleteSweep: null,
  uncertifiedSweeps: 0,
  envelope: null,
  pageSize: null,
  before: { state: 'never', reason: null },
  decodedAs: null,
};
const release = (session: Session, lease: KindLease, end: Partial<SweepEnd> = {}): Promise<void> =>
  session.atomically((tx) => releaseKind(tx, lease, { ...END, ...end }));

const stateOf = async (session: Session, kind = 'clients') =>
  (await session.query(sql`select * from kind_state where kind = ${kind}`))[0];

async function refusal(work: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await thrownBy(work);
  if (!(error instanceof LeaseError)) throw error;
  return error;
}

describe('claiming a kind', () => {
  test('the first claim starts at tick 0 with epoch 1', async () => {
    const session = await tempMirror();
    expect(await claim(session, 'a')).toEqual({ ...FIRST, kind: 'clients', owner: 'a', epoch: 1 });
    expect(await stateOf(session)).toMatchObject({
      state: 'running',
      reason: null,
      owner: 'a',
    });
    expect(await leasedKinds(session)).toEqual(['clients']);
  });

  test('a kind that is being swept is refused, with who and until when', async () => {
    const session = await tempMirror();
    await claim(session, 'host:7:a');
    await passLeases(session, 40);
    const { code, message } = await refusal(() => claim(session, 'b'));
    expect(code).toBe('mirror.kind_busy');
    expect(message).toContain('host:7:a');
    expect(message).toContain(String((await stateOf(session))?.['lease_until']));
    expect(await stateOf(session)).toMatchObject({ owner: 'host:7:a', epoch: 1 });
  });

  test('the lease of a dead process is free at once', async () => {
    const session = await tempMirror();
    const first = await claim(session, deadOwner());
    await renew(session, first)(12);
    const taken = await claim(session, 'b');
    const before = { state: 'aborted', reason: 'interrupted' };
    expect(taken).toMatchObject({ ...FIRST, kind: 'clients', owner: 'b', epoch: 2, tick: 12, before });
  });

  test('of many claims at once one wins', async () => {
    const session = await tempMirror();
    const settled = await Promise.allSettled(['a', 'b', 'c', 'd'].map((owner) => claim(session, owner)));
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stateOf(session)).toMatchObject({ owner: 'a', epoch: 1 });
  });
});

describe('landing under a lease', () => {
  test('each page renews it', async () => {
    const session = await tempMirror();
    const lease = await claim(session, 'a');
    await passLeases(session, 50);
    await renew(session, lease)(4);
    await passLeases(session, 40);
    expect(await stateOf(session)).toMatchObject({ tick: 4 });
    expect((await refusal(() => claim(session, 'b'))).code).toBe('mirror.kind_busy');
  });

  test('a lost lease is refused, and nothing of its page lands', async () => {
    const session = await tempMirror();
    const old = await claim(session, 'a');
    await endLeases(session);
    const current = await claim(session, 'b');
    const landing = () =>
      session.atomically(async (tx) => {
        await putRecords(tx, 'clients', [{ id: '1' }]);
        await renewLease(tx, old, 99);
      });
    expect((await refusal(landing)).code).toBe('mirror.lease_lost');
    expect(await session.query(sql`select id from clients`)).toEqual([]);
    expect(await stateOf(session)).toMatchObject({ owner: 'b', tick: 0 });
    await renew(session, current)(1);
  });

  test('an owner that lost its lease and took it again cannot land with the old one', async () => {
    const session = await tempMirror();
    const old = await claim(session, 'a');
    for (const owner of ['b', 'a']) {
      await endLeases(session);
      await claim(session, owner);
    }
    expect((await refusal(() => renew(session, old)(5))).code).toBe('mirror.lease_lost');
  });

  test('the counter of ticks never goes back, in whatever order the answers of parallel requests land', async () => {
    const session = await tempMirror();
    const lease = await claim(session, 'a');
    for (const tick of [4, 9, 8, 6]) await renew(session, lease)(tick);
    await endLeases(session);
    const next = await claim(session, 'b');
    expect(next.tick).toBe(9);
  });
});

describe('giving a lease back', () => {
  test('a sweep that reached the end is counted and dated', async () => {
    const session = await tempMirror();
    await release(session, await claim(session, 'a'));
    expect(await stateOf(session)).toMatchObject({
      state: 'complete',
      owner: null,
      lease_until: null,
      complete_sweeps: 1,
      last_sweep_at: NOON_TEXT,
      last_change_at: null,
    });
    expect(await claim(session, 'b')).toMatchObject({ epoch: 2, completeSweeps: 1 });
  });

  test('what is known of the list goes from sweep to sweep', async () => {
    const session = await tempMirror();
    const known = { certifiedAt: NOON_TEXT, baselineAt: '2026-02-01 12:00:00.000', controlFailures: 2 };
    await release(session, await claim(session, 'a'), { ...known, state: 'certified' });
    expect(await stateOf(session)).toMatchObject({
      state: 'certified',
      certified_at: NOON_TEXT,
      baseline_at: '2026-02-01 12:00:00.000',
      control_failures: 2,
    });
    const next = await claim(session, 'b');
    expect(next).toMatchObject({ ...known, before: { state: 'certified', reason: null } });
    await release(session, next, { ...known, controlFailures: 0 });
    expect(await claim(session, 'c')).toMatchObject({ ...known, controlFailures: 0 });
  });

  test('the next claim tells how the last sweep ended, also where its process died', async () => {
    const session = await tempMirror();
    const end = { state: 'invalid', reason: 'html', isComplete: false };
    await release(session, await claim(session, 'a'), end);
    expect((await claim(session, 'b')).before).toEqual({ state: 'invalid', reason: 'html' });
    await endLeases(session);
    const afterDeath = await claim(session, 'c');
    expect(afterDeath.before).toEqual({ state: 'aborted', reason: 'interrupted' });
  });
});

const claimBetween = (session: Session, owner: string) => claimPreemptible(session, 'clients', owner);

async function swept(open: () => Promise<Session>, state = 'certified'): Promise<Session> {
  const session = await open();
  await session.atomically((tx) =>
    tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 40, ${state}, 1, 1, ${NOON_TEXT})`),
  );
  return session;
}

const released = (session: Session, lease: KindLease): Promise<void> =>
  session.atomically((tx) => releasePreemptible(tx, lease));

describe.each(DATABASES)('a lease that yields, in %s', (_name, open) => {
  test('leaves the standing of the kind as it is, and no run waits for it', async () => {
    const session = await swept(open);
    const lease = await claimBetween(session, 'a');
    expect(lease).toMatchObject({ tick: 40, epoch: 2, owner: 'a' });
    expect(await stateOf(session)).toMatchObject({ state: 'certified', owner: 'a', lease_yields: 1 });
    expect(await leasedKinds(session)).toEqual([]);
    if (lease !== null) await released(session, lease);
    expect(await stateOf(session)).toMatchObject({ state: 'certified', owner: null, lease_yields: null });
  });

  test('goes to a sweep at once: the reading can neither land nor give it back', async () => {
    const session = await swept(open);
    const lease = await claimBetween(session, 'a');
    if (lease === null) throw new Error('it was free');
    const taken = await claim(session, 'b');
    expect(taken).toMatchObject({ before: { state: 'certified' }, tick: 40, epoch: 3 });
    await expect(renew(session, lease)(42)).rejects.toThrow(LeaseError);
    await released(session, lease);
    expect(await stateOf(session)).toMatchObject({ state: 'running', owner: 'b', lease_yields: null });
    expect(await leasedKinds(session)).toEqual(['clients']);
    await expect(claim(session, 'c')).rejects.toThrow(LeaseError);
  });

  test('is refused while a sweep or another process has the list, and to its own process it is free', async () => {
    const session = await swept(open);
    await claimBetween(session, 'a');
    expect(await claimBetween(session, 'b')).toBeNull();
    expect(await claimBetween(session, 'a')).toMatchObject({ epoch: 3 });
    await endLeases(session);
    expect(await claimBetween(session, 'b')).toMatchObject({ epoch: 4 });
    await claim(session, 'a');
    expect(await claimBetween(session, 'a')).toBeNull();
  });

  test('is refused where there is no baseline, and after a sweep that died', async () => {
    expect(await claimBetween(await open(), 'a')).toBeNull();
    expect(await claimBetween(await swept(open, 'running'), 'a')).toBeNull();
  });
});
