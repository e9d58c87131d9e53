import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterFallback,
  afterNotification,
  decideDispatch,
  type Dispatch,
  type NotifyState,
} from '../../../src/runs/engine/dispatcher.ts';
import { TIMINGS } from '../../../src/runs/engine/timings.ts';

interface Moment {
  /** Since the moment before. */
  readonly ms: number;
  readonly free: number;
  /** Whether the notifier takes a notification. */
  readonly sent: boolean;
  /** Whether another process has raised the row meanwhile. */
  readonly isRaised: boolean;
}

interface Step extends Moment {
  readonly at: number;
  readonly epoch: number;
  readonly decision: Dispatch;
}

/** Lives through moments of a row that nobody claims, until it is worked here. */
function live(moments: readonly Moment[], isNewProcess = false): readonly Step[] {
  const steps: Step[] = [];
  let state: NotifyState | undefined;
  let at = 0;
  let epoch = 0;
  for (const moment of moments) {
    at += moment.ms;
    if (moment.isRaised) epoch += 1;
    const isFirstPoll = isNewProcess && steps.length === 0;
    const decision = decideDispatch(
      { ref: { id: 1, epoch }, state, now: at, free: moment.free, isFirstPoll },
      TIMINGS,
    );
    if (decision === 'raise') epoch += 1;
    steps.push({ ...moment, at, epoch, decision });
    if (decision === 'work') break;
    if (decision !== 'wait') state = afterNotification(state, epoch, at, moment.sent);
  }
  return steps;
}

const moments = (
  changes: { readonly free?: fc.Arbitrary<number>; readonly isRaised?: fc.Arbitrary<boolean> } = {},
) =>
  fc.array(
    fc.record({
      ms: fc.integer({ min: 1, max: 3_000 }), // A look takes a second, and as long as notifying may.
      free: changes.free ?? fc.integer({ min: 0, max: 4 }),
      sent: fc.boolean(),
      isRaised: changes.isRaised ?? fc.boolean(),
    }),
    { minLength: 80, maxLength: 120 },
  );

describe('a row that is due and that nobody claims', () => {
  test.each([
    ['is notified at once', false, 'notify'],
    ['is notified at once with a new epoch where a process that has just begun finds it', true, 'raise'],
  ])('%s', (_, isFirstPoll, decision) => {
    const row = { ref: { id: 1, epoch: 0 }, state: undefined, now: 0, free: 0, isFirstPoll };
    expect(decideDispatch(row, TIMINGS)).toBe(decision);
  });

  test('is treated alike by a process that has just begun and by one that has not, after the first notification', () => {
    fc.assert(
      fc.property(moments(), (all) => {
        const begun = live(all, true);
        const other = live(all);
        expect(begun.map(({ decision }) => decision).slice(1)).toEqual(
          other.map(({ decision }) => decision).slice(1),
        );
      }),
    );
  });

  test('is worked here within 75 seconds, whatever the queue and other processes do', () => {
    fc.assert(
      fc.property(moments({ free: fc.integer({ min: 1, max: 4 }) }), (all) => {
        const steps = live(all);
        const last = steps.at(-1);
        const first = steps[0];
        if (last === undefined || first === undefined || last.at - first.at < 66_000) return;
        expect(last.decision).toBe('work');
        expect(last.at - first.at).toBeLessThanOrEqual(75_000);
      }),
    );
  });

  test('is worked here within 20 seconds where the queue can never be notified', () => {
    fc.assert(
      fc.property(moments({ free: fc.constant(1) }), (all) => {
        const steps = live(all.map((moment) => ({ ...moment, sent: false })));
        const worked = steps.find(({ decision }) => decision === 'work');
        expect((worked?.at ?? Infinity) - (steps[0]?.at ?? 0)).toBeLessThanOrEqual(20_000);
      }),
    );
  });

  test('is not worked here before 15 seconds, nor within 60 of a notifier that takes notifications', () => {
    fc.assert(
      fc.property(moments(), (all) => {
        for (const sent of [undefined, true]) {
          const steps = live(all.map((moment) => ({ ...moment, sent: sent ?? moment.sent })));
          const worked = steps.find(({ decision }) => decision === 'work');
          if (worked === undefined) continue;
          expect(worked.at - (steps[0]?.at ?? 0)).toBeGreaterThanOrEqual(sent === true ? 60_000 : 15_000);
        }
      }),
    );
  });

  test('is neither worked nor raised while all workers are full', () => {
    fc.assert(
      fc.property(moments(), (all) => {
        for (const { free, decision } of live(all))
          if (free === 0) expect(['notify', 'wait']).toContain(decision);
      }),
    );
  });

  test('is notified with the same epoch only until the queue takes it, and raised no sooner than 15 seconds after', () => {
    fc.assert(
      fc.property(moments({ isRaised: fc.constant(false) }), (all) => {
        let taken: Step | undefined;
        for (const step of live(all)) {
          if (taken !== undefined && step.decision === 'notify') expect(step.epoch).not.toBe(taken.epoch);
          if (taken !== undefined && step.decision === 'raise')
            expect(step.at - taken.at).toBeGreaterThanOrEqual(15_000);
          if (step.decision === 'notify' || step.decision === 'raise') taken = step.sent ? step : undefined;
        }
      }),
    );
  });

  test('begins anew once it was worked here and is due again', () => {
    const state: NotifyState = { epoch: 3, firstAt: 0, lastAt: 50_000, sent: true, times: 5 };
    const after = afterFallback(state, 60_000);
    const at = (now: number): Dispatch =>
      decideDispatch({ ref: { id: 1, epoch: 3 }, state: after, now, free: 1, isFirstPoll: false }, TIMINGS);
    expect([at(61_000), at(75_000)]).toEqual(['wait', 'raise']);
  });
});
