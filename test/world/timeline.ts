import type { Clock } from '../../src/lib/time/clock.ts';
import type { Random } from '../../sandbox/generate/draw.ts';

/** Virtual time: nothing passes while the code under test is at work, and nothing waits while it is idle. */
export interface Timeline {
  /** What the code under test takes for the time; its sleeps are events like any other. */
  readonly clock: Clock;
  /** Virtual milliseconds since the schedule began: the ledger's time, which no step of a clock moves. */
  readonly nowMs: () => number;
  /** Runs something later; returns what calls it off. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Says that the code under test has done something, so that it is not idle yet. */
  readonly stir: () => void;
  /** Says that the code under test is in the middle of something, until what it returns is called. */
  readonly occupy: () => () => void;
  /** Lets events happen, one each time the code under test is idle, until it has finished. */
  readonly drive: <T>(work: Promise<T>) => Promise<T>;
  /** Lets time pass with nobody at work. */
  readonly pass: (ms: number) => void;
  /** Moves what `clock.now()` shows, as a time server does. */
  readonly stepClock: (ms: number) => void;
}

export interface TimelineOptions {
  readonly random: Random;
  /** How often the next event happens before the code under test has dealt with the one before. */
  readonly together: number;
  /** How much later such an event may be. */
  readonly togetherWithinMs?: number;
  /** Turns of the event loop without a sign of life after which the code under test counts as idle. */
  readonly quietTurns?: number;
}

interface Event {
  readonly atMs: number;
  readonly work: () => void;
}

const ORIGIN = Date.parse('2026-03-01T12:00:00Z');
const QUIET_TURNS = 3; // Code that only gives the loop a turn shows up again on the next one.
const STUCK_TURNS = 200;

export function createTimeline(options: TimelineOptions): Timeline {
  const { random, together, togetherWithinMs = Infinity, quietTurns = QUIET_TURNS } = options;
  const events: Event[] = [];
  let elapsed = 0;
  let offset = 0;
  let stirred = 0;
  let occupied = 0;
  let onLeft: (() => void) | null = null;

  const after = (ms: number, work: () => void): (() => void) => {
    const event = { atMs: elapsed + ms, work };
    const later = events.findIndex(({ atMs }) => atMs > event.atMs);
    events.splice(later === -1 ? events.length : later, 0, event);
    return () => {
      const at = events.indexOf(event);
      if (at !== -1) events.splice(at, 1);
    };
  };
  const happen = (): boolean => {
    const event = events.shift();
    if (event === undefined) return false;
    elapsed = Math.max(elapsed, event.atMs);
    event.work();
    return true;
  };
  const isSoon = (): boolean => (events[0]?.atMs ?? Infinity) - elapsed < togetherWithinMs;
  const idle = async (turns: number, isOver: () => boolean): Promise<void> => {
    let seen = stirred;
    for (let quiet = 0; quiet < turns && !isOver(); quiet++) {
      await nextTurn();
      if (occupied === 0 && seen === stirred) continue;
      if (occupied > 0) await new Promise<void>((resolve) => (onLeft = resolve)); // A loop of turns would take PostgreSQL's core.
      quiet = -1;
      seen = stirred;
    }
  };

  const isDone = async (turns: number, isOver: () => boolean): Promise<boolean> => {
    await idle(turns, isOver);
    return isOver();
  };

  return {
    clock: {
      now: () => new Date(ORIGIN + elapsed + offset),
      monotonicMs: () => elapsed,
      sleep: (ms, signal) => sleepUntil(after, ms, signal),
    },
    nowMs: () => elapsed,
    after,
    stir: () => stirred++,
    occupy: () => {
      occupied++;
      return () => {
        occupied--;
        if (occupied === 0) onLeft?.();
      };
    },
    drive: async (work) => {
      const state = { isOver: false };
      const end = (): void => void (state.isOver = true);
      const isOver = (): boolean => state.isOver;
      work.then(end, end);
      while (!(await isDone(quietTurns, isOver))) {
        // Without an event to wait for, the code under test must be about to do something by itself.
        if (!happen()) await idle(STUCK_TURNS, () => isOver() || events.length > 0);
        else while (isSoon() && random.chance(together)) happen();
      }
      return await work;
    },
    pass: (ms) => {
      const end = elapsed + ms;
      while ((events[0]?.atMs ?? Infinity) <= end) happen();
      elapsed = end;
    },
    stepClock: (ms) => void (offset += ms),
  };
}

function sleepUntil(after: Timeline['after'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = after(ms, () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
    const giveUp = (): void => {
      wake();
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
