import { systemClock } from '../../src/lib/time/clock.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { followChanges, type FollowOptions } from '../../src/events/follow-changes.ts';
import type { Session } from '../../src/db/session/session.ts';
import { linesOf, startChild } from '../store/child.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { ONE_DATABASE, at, mirrorIn, putChanges } from './support.ts';

const WRITERS = 2;
const TRANSACTIONS = 100;

const change = (record: number, kind = 'clients') => ({
  kind,
  record_id: String(record),
  change: 'created',
  observed_at: at('12:00'),
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a reader beside concurrent writers gets every committed event once, in order, and none late', async () => {
    const { session, url } = await mirrorIn(database);
    const writers = Array.from({ length: WRITERS }, () =>
      startChild('../../events/children/append-changes.ts', url, String(TRANSACTIONS)),
    );
    for (const { lines } of writers) await lines.next(); // Both are there before either is far.
    const seen: number[] = [];
    const seenOfKind: number[] = [];
    const stop = new AbortController();
    const stopOfKind = new AbortController();
    const reading = collect(session, { after: 0 }, { into: seen, signal: stop.signal });
    const kind = 'products';
    const readingKind = collect(session, { after: 0, kind }, { into: seenOfKind, signal: stopOfKind.signal });

    const committed = (await Promise.all(writers.map(linesOf))).flat().map(Number);
    const stored = await session.query(sql`select seq, kind from changes order by seq`);
    const last = Number(stored.at(-1)?.['seq']);
    while (seen.at(-1) !== last) await turn();
    const ofKind = stored.filter((row) => row['kind'] === kind).map(({ seq }) => Number(seq));
    while (seenOfKind.at(-1) !== ofKind.at(-1)) await turn();
    stop.abort();
    stopOfKind.abort();
    await Promise.all([reading, readingKind]);

    expect(seen).toEqual(committed.toSorted((a, b) => a - b));
    expect(seen).toHaveLength(stored.length);
    expect(seenOfKind).toEqual(ofKind);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('what is there comes at once, however many pages, what comes later within a second', async () => {
    const { session } = await mirrorIn(database);
    await putChanges(session, ...Array.from({ length: 1_203 }, (_, index) => change(index + 1)));
    const clock = fakeClock();
    const stop = new AbortController();
    const following = followChanges(session, { after: 3 }, clock, stop.signal);
    const next = async (): Promise<number | null> => {
      const result = await following.next();
      return result.done === true ? null : result.value.seq;
    };

    for (let seq = 4; seq <= 1_203; seq++) expect(await next()).toBe(seq);
    expect(clock.sleeps).toEqual([]);
    await putChanges(session, change(5));
    expect(await next()).toBe(1_204);
    expect(clock.sleeps).toEqual([250]);

    stop.abort();
    expect(await following.next()).toMatchObject({ done: true });
  });
});

test('is over at once where it was stopped before it began, and while it waits', async () => {
  const { session } = await mirrorIn('SQLite');
  await putChanges(session, change(1));
  const stopped = followChanges(session, { after: 0 }, fakeClock(), AbortSignal.abort());
  expect(await stopped.next()).toMatchObject({ done: true });

  const stop = new AbortController();
  const sleep = (_: number, signal?: AbortSignal): Promise<void> => {
    stop.abort();
    return Promise.reject(signal?.reason as Error);
  };
  const waiting = followChanges(session, { after: 1 }, { ...systemClock, sleep }, stop.signal);
  expect(await waiting.next()).toMatchObject({ done: true });
});

async function collect(
  session: Session,
  options: FollowOptions,
  { into, signal }: { into: number[]; signal: AbortSignal },
): Promise<void> {
  const clock = { ...systemClock, sleep: () => turn() }; // It polls as often as it can.
  for await (const { seq } of followChanges(session, options, clock, signal)) into.push(seq);
}
