import { beforeEach, expect, test } from 'vitest';
import { createTellEnd } from '../../src/runs/failed-runs.ts';
import type { EndedRun } from '../../src/runs/run-outcome.ts';
import { memoryLog } from '../jobs/support.ts';
import type { Log } from '../jobs/support.ts';

const MINUTE = 60_000;

/** A clock that a test moves by hand; its sleeps end once it has passed them. */
function handClock() {
  let nowMs = 0;
  let sleeping: readonly { readonly until: number; readonly wake: () => void }[] = [];
  return {
    monotonicMs: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new Error('stopped'));
        });
        sleeping = [...sleeping, { until: nowMs + ms, wake: resolve }];
      }),
    move: async (ms: number): Promise<void> => {
      nowMs += ms;
      const due = sleeping.filter(({ until }) => until <= nowMs);
      sleeping = sleeping.filter(({ until }) => until > nowMs);
      for (const { wake } of due) wake();
      await Promise.resolve();
      await new Promise(setImmediate);
    },
  };
}

function run(id: number, reason: string | null): EndedRun {
  const counts = { rows: 0, created: 0, updated: 0, deleted: 0, restored: 0, unchanged: 0, quarantined: 0 };
  const traffic = { certifiedAt: null, pages: 0, requests: 0, retries: 0, durationMs: 0 };
  const state = reason === null ? 'certified' : 'aborted';
  const report = { kind: `kind${id}`, state, reason, detail: null, ...counts, ...traffic } as const;
  return { ids: [id], command: 'pull', reports: [report], reason: null, durationMs: 10 };
}

let log: Log;
let clock: ReturnType<typeof handClock>;
let stop: AbortController;
let tell: (run: EndedRun) => void;
beforeEach(() => {
  [log, clock, stop] = [memoryLog(), handClock(), new AbortController()];
  tell = createTellEnd({ logger: log.logger, clock, signal: stop.signal });
});

const lines = () => log.lines.map(({ event, runId, runIds }) => [event, runIds ?? runId]);

test('of ten schedules that come due in every minute of an outage, each minute has one line', async () => {
  const ids = Array.from({ length: 10 }, (_, index) => index + 1);
  for (let minute = 0; minute < 5; minute++) {
    for (const id of ids) tell(run(minute * 10 + id, 'unreachable'));
    await clock.move(MINUTE);
  }
  expect(log.lines.length).toBeLessThanOrEqual(6);
  expect(lines()[0]).toEqual(['run.failed', 1]);
  expect(lines()[1]).toEqual(['run.failed', ids.slice(1)]);
  expect(log.lines.flatMap(({ runIds, runId }) => runIds ?? runId)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
  expect(log.lines[1]).toMatchObject({
    ...{ level: 40, command: 'pull', rows: 0, changes: 0, durationMs: 90 },
    kinds: ids.slice(1).map((id) => ({ kind: `kind${id}`, state: 'aborted', reason: 'unreachable' })),
  });
});

test('a failure of another cause, or a run that reads again, is told at once and after those before it', async () => {
  for (const [id, reason] of [
    [1, 'timeout'],
    [2, 'unavailable'],
    [3, 'forbidden'],
    [4, 'rate_limited'],
    [5, null],
  ] as const)
    // prettier-ignore
    tell(run(id, reason));
  expect(lines()).toEqual([
    ['run.failed', 1],
    ['run.failed', 2],
    ['run.failed', 3],
    ['run.failed', 4],
    ['run.finished', 5],
  ]);
  await clock.move(MINUTE);
  expect(log.lines).toHaveLength(5);
});

test('runs that wait for their line are told when the service stops', async () => {
  for (const id of [1, 2, 3]) tell(run(id, 'unreachable'));
  expect(log.lines).toHaveLength(1);
  stop.abort();
  await clock.move(0);
  expect(lines()).toEqual([
    ['run.failed', 1],
    ['run.failed', [2, 3]],
  ]);
  tell(run(4, 'unreachable'));
  expect(log.lines).toHaveLength(3);
});
