import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import {
  claimEntry,
  dropBlock,
  dueEntries,
  findBlockingEntry,
  ownedEntries,
  readBlock,
  readBlocks,
  saveBlock,
  wakeAfterSweep,
  wakeWaiting,
} from '../../../src/store/outbox/outbox-queue.ts';
import { changeEntry, type EntryState } from '../../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';
import { putEntry, readEntry, STATES, UPDATE } from './entries.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const FUTURE = formatInstant(later(60_000));
const due = async (session: Session, limit = 99): Promise<number[]> =>
  (await dueEntries(session, NOON, limit)).map(({ id }) => id);

const claim = (session: Session, id: number, epoch = 0, owner = 'me') =>
  session.atomically((tx) => claimEntry(tx, { id, epoch, owner, now: NOON }));

describe.each(DATABASES)('due in %s', (_name, open) => {
  test('is what is ready or unsettled, whose time has come and whom nobody works on', async () => {
    const session = await open();
    const at = new Map<EntryState, number>();
    for (const state of STATES) at.set(state, await putEntry(session, { state, nextAttemptAt: NOON_TEXT }));
    for (const state of STATES) await putEntry(session, { state, nextAttemptAt: FUTURE });
    for (const state of STATES) await putEntry(session, { state, nextAttemptAt: NOON_TEXT, owner: 'other' });
    expect(await due(session)).toEqual([at.get('ready'), at.get('unsettled')]);
  });
});

describe.each(DATABASES)('a claim in %s', (_name, open) => {
  test('takes the entry and raises its epoch: who comes second gets nothing', async () => {
    const session = await open();
    await putEntry(session);
    expect(await claim(session, 1)).toMatchObject({ id: 1, owner: 'me', epoch: 1, state: 'ready' });
    expect(await claim(session, 1)).toBe(null);
    expect(await claim(session, 1, 1, 'other')).toBe(null);
    expect(await due(session)).toEqual([]);
    expect(await ownedEntries(session)).toEqual([await readEntry(session, 1)]);
  });

  test('is of what is due under this epoch only', async () => {
    const session = await open();
    await putEntry(session, { nextAttemptAt: FUTURE });
    await putEntry(session, { state: 'parked', nextAttemptAt: NOON_TEXT });
    await putEntry(session);
    expect(await claim(session, 1)).toBe(null);
    expect(await claim(session, 2)).toBe(null);
    expect(await claim(session, 3, 1)).toBe(null);
    expect(await claim(session, 404)).toBe(null);
    expect(await ownedEntries(session)).toEqual([]);
  });

  test('of many at once is for one of them', async () => {
    const session = await open();
    await putEntry(session);
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => claim(session, 1, 0, owner)));
    expect(claims.filter((entry) => entry !== null)).toHaveLength(1);
  });
});

describe.each(DATABASES)('whom an entry waits for in %s', (_name, open) => {
  const before = async (session: Session, id: number) =>
    (await findBlockingEntry(session, await readEntry(session, id)))?.id ?? null;

  test('is the first open update of the same record', async () => {
    const session = await open();
    for (const state of STATES) await putEntry(session, { state }, UPDATE);
    const last = await putEntry(session, {}, UPDATE);
    const predecessors: (number | null)[] = [];
    for (let id = 1; id < last; id++) {
      predecessors.push(await before(session, last));
      await session.atomically((tx) =>
        changeEntry(tx, { id, epoch: 0, patch: { state: 'abandoned' }, now: NOON }),
      );
    }
    expect(predecessors).toEqual([1, 2, 3, 5, 5, null, null]);
    expect(await before(session, last)).toBe(null);
  });

  test('is the first open create with the same natural key, and a later one that may be at the service', async () => {
    const session = await open();
    const first = await putEntry(session);
    const second = await putEntry(session);
    expect(await before(session, first)).toBe(null);
    expect(await before(session, second)).toBe(first);
    await session.atomically((tx) =>
      changeEntry(tx, { id: second, epoch: 0, patch: { state: 'unsettled' }, now: NOON }),
    );
    expect(await before(session, first)).toBe(second);
  });

  test('is nobody of another kind, record, key or operation', async () => {
    const session = await open();
    await putEntry(session, {}, { kind: 'products' });
    await putEntry(session, {}, { naturalKey: 'C-2' });
    await putEntry(session, { recordId: '17' }, { naturalKey: 'C-3' });
    await putEntry(session, {}, { ...UPDATE, recordId: '18' });
    await putEntry(session, {}, { ...UPDATE, kind: 'products' });
    const create = await putEntry(session);
    const update = await putEntry(session, {}, UPDATE);
    expect(await before(session, create)).toBe(null);
    expect(await before(session, update)).toBe(null);
  });
});

describe.each(DATABASES)('waking in %s', (_name, open) => {
  const WAITS = { verdict: 'waits', nextAttemptAt: FUTURE };

  test('is of those that waited for this entry', async () => {
    const session = await open();
    const create = await putEntry(session, { state: 'done' });
    const update = await putEntry(session, { state: 'done' }, UPDATE);
    const waiting = await putEntry(session, WAITS);
    const others = [
      await putEntry(session, { ...WAITS, verdict: 'busy' }),
      await putEntry(session, { ...WAITS, state: 'parked' }),
      await putEntry(session, WAITS, { naturalKey: 'C-2' }),
      await putEntry(session, WAITS, { kind: 'products' }),
    ];
    const next = await putEntry(session, WAITS, UPDATE);
    await session.atomically(async (tx) => wakeWaiting(tx, await readEntry(session, create), NOON));
    expect(await due(session)).toEqual([waiting]);
    await session.atomically(async (tx) => wakeWaiting(tx, await readEntry(session, update), NOON));
    expect(await due(session)).toEqual([waiting, next]);
    for (const id of others) expect((await readEntry(session, id)).nextAttemptAt).toBe(FUTURE);
  });

  test('after a sweep is of the creates of the kind that need one', async () => {
    const session = await open();
    const woken = [
      await putEntry(session, { state: 'unsettled', nextAttemptAt: FUTURE }),
      await putEntry(session, { verdict: 'awaits_sweep', nextAttemptAt: FUTURE }),
    ];
    await putEntry(session, { verdict: 'busy', nextAttemptAt: FUTURE });
    await putEntry(session, { state: 'parked', verdict: 'awaits_sweep', nextAttemptAt: FUTURE });
    await putEntry(session, { state: 'unsettled', nextAttemptAt: FUTURE }, { kind: 'products' });
    await session.atomically((tx) => wakeAfterSweep(tx, 'clients', NOON));
    expect(await due(session)).toEqual(woken);
  });
});

const block = (session: Session, kind: string, { reason = 'status 403', now = NOON } = {}): Promise<void> =>
  session.atomically((tx) =>
    saveBlock(tx, { kind, reason, now, probeAt: new Date(now.getTime() + 300_000) }),
  );

describe.each(DATABASES)('blocked kinds in %s', (_name, open) => {
  test('tell why, since when, and when to try again', async () => {
    const session = await open();
    expect(await readBlocks(session)).toEqual([]);
    await block(session, 'products');
    await block(session, 'clients');
    const clients = {
      kind: 'clients',
      reason: 'status 403',
      since: NOON_TEXT,
      probeAt: '2026-03-01 12:05:00.000',
    };
    expect(await readBlock(session, 'clients')).toEqual(clients);
    expect(await readBlocks(session)).toEqual([clients, { ...clients, kind: 'products' }]);
    expect(await readBlock(session, 'projects')).toBe(null);
  });

  test('that are free again make due what waited for them', async () => {
    const session = await open();
    await block(session, 'clients');
    await block(session, 'products');
    const nextAttemptAt = '2026-03-01 12:05:00.000';
    const waiting = await putEntry(session, { verdict: 'kind_blocked', nextAttemptAt });
    await putEntry(session, { verdict: 'busy', nextAttemptAt });
    await putEntry(session, { state: 'parked', verdict: 'kind_blocked', nextAttemptAt });
    await putEntry(session, { verdict: 'kind_blocked', nextAttemptAt }, { kind: 'products' });
    await session.atomically((tx) => dropBlock(tx, 'clients', NOON));
    expect((await readBlocks(session)).map(({ kind }) => kind)).toEqual(['products']);
    expect(await dueEntries(session, NOON, 9)).toEqual([{ id: waiting, epoch: 0, task: 'create clients' }]);
  });
});
