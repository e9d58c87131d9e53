import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/lib/time/clock.ts';
import {
  changeEntry,
  findEntries,
  type EntryPatch,
  type EntryState,
} from '../../../src/store/outbox/outbox-store.ts';
import { requestPull } from '../../../src/store/runs/run-requests.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { showStanding, waitForEntries } from '../../../src/outbound/decisions/entry-list.ts';
import { NOON, kindNamed, tempMirror } from '../../store/temp-mirror.ts';
import { putEntry } from '../../store/outbox/entries.ts';
import { fakeClock } from '../../support/fake-clock.ts';

async function mirrorWith(...states: readonly EntryState[]): Promise<Session> {
  const session = await tempMirror([kindNamed('clients')]);
  for (const state of states) await putEntry(session, { state });
  return session;
}

const move = (session: Session, id: number, state: EntryState): Promise<boolean> =>
  session.atomically((tx) => changeEntry(tx, { id, epoch: 0, patch: { state }, now: NOON }));

const wait = async (
  session: Session,
  ids: readonly number[],
  {
    clock = fakeClock(),
    timeoutMs = 10_000,
    signal = new AbortController().signal,
  }: {
    clock?: Clock;
    timeoutMs?: number;
    signal?: AbortSignal;
  } = {},
): Promise<EntryState[]> =>
  (await waitForEntries(session, ids, { clock, timeoutMs, signal })).map(({ state }) => state);

describe('waiting for entries', () => {
  test.each<EntryState>(['done', 'rejected', 'parked', 'abandoned'])(
    'ends at once where they are %s',
    async (state) => {
      const clock = fakeClock();
      expect(await wait(await mirrorWith(state, state), [1, 2], { clock })).toEqual([state, state]);
      expect(clock.sleeps).toEqual([]);
    },
  );

  test.each<EntryState>(['ready', 'sending', 'unsettled'])(
    'ends where the time is up and they are %s',
    async (state) => {
      const clock = fakeClock();
      expect(await wait(await mirrorWith(state), [1], { clock, timeoutMs: 1200 })).toEqual([state]);
      expect(clock.sleeps).toEqual([500, 500, 200]);
    },
  );

  test('goes on until the last one has ended, and tells all as they are by then', async () => {
    const session = await mirrorWith('ready', 'ready', 'done');
    const clock = fakeClock();
    const steps: (readonly [number, EntryState])[] = [
      [2, 'rejected'],
      [1, 'sending'],
      [1, 'done'],
    ];
    const stepping: Clock = {
      ...clock,
      sleep: async (ms) => {
        await clock.sleep(ms);
        const [id, state] = steps.shift() ?? [1, 'done'];
        await move(session, id, state);
      },
    };
    expect(await wait(session, [1, 2, 3], { clock: stepping })).toEqual(['done', 'rejected', 'done']);
    expect(clock.sleeps).toHaveLength(3);
  });

  test('ends where it is stopped', async () => {
    const stop = new AbortController();
    const clock: Clock = {
      ...fakeClock(),
      sleep: () => {
        stop.abort();
        return Promise.reject(stop.signal.reason as Error);
      },
    };
    expect(await wait(await mirrorWith('ready'), [1], { clock, signal: stop.signal })).toEqual(['ready']);
  });

  test('of none, or of one that is forgotten meanwhile, ends', async () => {
    const session = await mirrorWith('ready');
    expect(await wait(session, [])).toEqual([]);
    expect(await wait(session, [404])).toEqual([]);
  });
});

test('an entry that waits for a reading waits for the next one while that is to come, not for what the last one lacked', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  const settlement = { awaits: { since: '2026-03-01 12:00:00.000', why: 'it was never read' } };
  await putEntry(session, { state: 'ready', verdict: 'awaits_sweep', settlement });
  await session.atomically((tx) =>
    tx.query(sql`insert into kind_state (kind, tick, state, reason, complete_sweeps, epoch)
      values ('clients', 0, 'complete', 'absences_unproven', 1, 0)`),
  );
  const sendCounter = { read: () => Promise.resolve(0) };
  const reader = { session, sendCounter, kinds: [kindNamed('clients')] };
  const change = (patch: EntryPatch) =>
    session.atomically((tx) => changeEntry(tx, { id: 1, epoch: 0, patch, now: NOON }));
  const why = async () => {
    const [entry] = await showStanding(reader, await findEntries(session, [1]), null);
    return entry?.settlement.awaits?.why;
  };
  expect(await why()).toBe('some rows that the list lacks are still in the mirror');
  const sent = { state: 'unsettled', verdict: 'ambiguous' } as const;
  await change(sent); // Its own search is not requested yet.
  expect(await why()).toBe('the next reading has not ended yet');
  await change({ ...sent, settlement: { ...settlement, search: { due: 1, run: 1 } } });
  expect(await why()).toBe('some rows that the list lacks are still in the mirror');
  await session.atomically((tx) => requestPull(tx, { kinds: ['clients'], request: 'outbox', now: NOON }));
  expect(await why()).toBe('the next reading has not ended yet');
});
