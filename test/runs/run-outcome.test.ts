import { expect, test } from 'vitest';
import type { KindReport } from '../../src/mirror/runs/run-store.ts';
import { joinRuns, outcomeOf } from '../../src/runs/run-outcome.ts';
import { newHolds } from '../../src/runs/tell-run.ts';

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
