import { expect, test, beforeEach } from 'vitest';
import type { KindReport } from '../../src/mirror/runs/run-store.ts';
import { joinRuns, outcomeOf, createTellEnd } from '../../src/runs/run-outcome.ts';
import type { EndedRun } from '../../src/runs/run-outcome.ts';
import { newHolds } from '../../src/runs/tell-run.ts';
import { memoryLog } from '../jobs/support.ts';
import type { Log } from '../jobs/support.ts';

const report = (kind: string, more: Partial<KindReport> = {}): KindReport => ({
  ...{ kind, state: 'certified', reason: null, detail: null, certifiedAt: null, pages: 1, rows: 10 },
  ...{ created: 1, updated: 2, deleted: 0, restored: 0, unchanged: 7, quarantined: 0 },
  ...{ requests: 1, retries: 0, durationMs: 5, ...more },
});

const refused = (kind: string): KindReport =>
  report(kind, {
    ...{
      state: 'aborted',
      reason: 'forbidden',
      detail: 'The list is refused.',
      rows: 0,
      created: 0,
      updated: 0,
    },
  });

const busy = (kind: string): KindReport =>
  report(kind, { state: 'aborted', reason: 'busy', rows: 0, created: 0, updated: 0 });

const ended = (...reports: readonly KindReport[]) => ({
  ...{ ids: [7], command: 'pull', reports, reason: null, durationMs: 3_000 },
});

test('a run that has read all its kinds is finished, in figures', () => {
  expect(outcomeOf(ended(report('clients'), report('products', { state: 'complete' })))).toEqual({
    ...{ event: 'run.finished', level: 'info' },
    message: 'run 7 (pull) has finished after 3 s: 2 kinds read, 20 rows, 6 changes',
  });
});

test('a run is finished with a warning where a kind failed, and failed where no kind was read', () => {
  expect(outcomeOf(ended(report('clients'), refused('products')))).toEqual({
    ...{ event: 'run.finished', level: 'warn' },
    message:
      'run 7 (pull) has finished after 3 s: 1 of 2 kinds read, 10 rows, 3 changes; products: The list is refused.',
  });
  expect(outcomeOf(ended(...['a', 'b', 'c', 'd'].map(refused)))).toMatchObject({
    ...{
      event: 'run.failed',
      level: 'warn',
      message: expect.stringMatching(/; 4 kinds: The list is refused\.$/) as string,
    },
  });
});

test('a kind that another process reads is no fault', () => {
  expect(outcomeOf(ended(report('clients'), busy('products')))).toMatchObject({
    ...{ event: 'run.finished', level: 'info' },
    message: expect.stringContaining('one kind read by another process') as string,
  });
  expect(outcomeOf(ended(busy('clients')))).toMatchObject({ event: 'run.failed', level: 'info' });
});

test('a run with nothing to do is finished; one that failed as a whole says why', () => {
  expect(outcomeOf(ended())).toMatchObject({ event: 'run.finished', level: 'info' });
  expect(outcomeOf({ ...ended(), command: null, reason: 'The mirror is away.' })).toEqual({
    ...{ event: 'run.failed', level: 'warn', message: 'run 7 has failed after 3 s: The mirror is away.' },
  });
});

test('runs that are told together are one run with all their kinds', () => {
  const runs = [8, 9, 12].map((id) => ({ ...ended(refused(`kind${id}`)), ids: [id] }));
  expect(outcomeOf(joinRuns(runs))).toEqual({
    ...{ event: 'run.failed', level: 'warn' },
    message:
      '3 runs, 8 to 12 (pull), have failed after 9 s: 0 of 3 kinds read, 0 rows, 0 changes; kind8, kind9, kind12: The list is refused.',
  });
});

test('held deletions are told when they begin and when more join them', () => {
  const hold = (kind: string, records: number, state: 'held' | 'approved' = 'held') => ({
    ...{ kind, records, state, since: '2026-03-01 12:00:00.000' },
  });
  expect(newHolds([], [hold('clients', 6)])).toMatchObject([{ kind: 'clients' }]);
  expect(newHolds([hold('clients', 6)], [hold('clients', 6)])).toEqual([]);
  expect(newHolds([hold('clients', 6)], [hold('clients', 7)])).toMatchObject([{ records: 7 }]);
  expect(newHolds([hold('clients', 6)], [hold('clients', 6, 'approved')])).toEqual([]);
});

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
