import fc from 'fast-check';
import { createTask } from 'node-cron';
import { describe, expect, test } from 'vitest';
import { dueSlot, nextSlot, staleKinds } from '../../src/runs/schedule.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

const part = (least: number, most: number) => {
  const value = fc.integer({ min: least, max: most });
  return fc.oneof(
    value.map(String),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((values) => values.join(',')),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: Math.min(25, most) }).map((step) => `*/${step}`), // Settings refuse a longer one.
  );
};
const orStar = (field: fc.Arbitrary<string>) => fc.oneof(fc.constant('*'), field);

/** Expressions in which one field alone names days: node-cron and a crontab agree about these. */
const expression = fc
  .tuple(orStar(part(0, 59)), orStar(part(0, 23)), orStar(part(1, 28)), orStar(part(0, 6)), fc.boolean())
  .map(([minute, hour, day, weekday, byDate]) =>
    [minute, hour, byDate ? day : '*', '*', byDate ? '*' : weekday].join(' '),
  );

/** Every minute of a time that node-cron says matches, in UTC. */
function matches(cron: string, from: number, to: number): number[] {
  const task = createTask(cron, () => undefined, { timezone: 'UTC' });
  const found: number[] = [];
  for (let at = from; at < to; at += MINUTE) if (task.match(new Date(at))) found.push(at);
  return found;
}

describe('the slot that is due', () => {
  test('H02 is found at every minute that node-cron matches: none missed, none doubled', () => {
    fc.assert(
      fc.property(expression, fc.integer({ min: 0, max: 300 }), (cron, day) => {
        const from = Date.UTC(2026, 0, 1) + day * DAY;
        const expected = matches(cron, from, from + DAY / 8);
        let lastSlot = new Date(from - 1);
        for (const due of expected) {
          const before = dueSlot({ cron, timezone: 'UTC', lastSlot, now: new Date(due - 1) });
          const then = dueSlot({ cron, timezone: 'UTC', lastSlot, now: new Date(due) });
          expect([before, then?.getTime()]).toEqual([null, due]);
          lastSlot = new Date(due);
        }
        expect(dueSlot({ cron, timezone: 'UTC', lastSlot, now: new Date(from + DAY / 8 - 1) })).toBeNull();
      }),
      { numRuns: 8 },
    );
  });

  test('H03 after a jump of the clock is the latest alone: one catch-up, never a burst', () => {
    const jumps = fc.array(fc.integer({ min: -300, max: 900 }), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(expression, jumps, (cron, steps) => {
        const from = Date.UTC(2026, 4, 1);
        const to = Date.UTC(2026, 4, 3);
        const expected = matches(cron, from, to);
        let now = from;
        let last = from;
        for (const step of steps) {
          now = Math.min(Math.max(now + step * MINUTE, from), to - 1);
          const latest = expected.findLast((instant) => instant > last && instant <= now) ?? null;
          const slot = dueSlot({ cron, timezone: 'UTC', lastSlot: new Date(last), now: new Date(now) });
          expect(slot?.getTime() ?? null).toBe(latest);
          if (slot !== null) last = slot.getTime();
        }
      }),
      { numRuns: 20 },
    );
  });

  test.each(['Europe/Paris', 'America/Toronto', 'Africa/Cairo', 'Australia/Lord_Howe', 'UTC'])(
    'H02 rises in %s through both changes of the clocks, and the next slot is the one found',
    (timezone) => {
      for (const cron of ['0 * * * *', '30 2 * * *', '0 2,14 * * *', '*/20 1-3 * * 0']) {
        for (const [from, to] of [
          [Date.UTC(2026, 2, 6), Date.UTC(2026, 3, 1)],
          [Date.UTC(2026, 9, 22), Date.UTC(2026, 10, 3)],
        ] as const)
          for (let at = new Date(from); at.getTime() < to;) {
            const next = nextSlot(cron, timezone, at);
            expect(next.getTime()).toBeGreaterThan(at.getTime());
            expect(dueSlot({ cron, timezone, lastSlot: at, now: next })).toEqual(next);
            expect(dueSlot({ cron, timezone, lastSlot: next, now: next })).toBeNull();
            at = next;
          }
      }
    },
  );

  test.each([
    ['America/Toronto', 'a time that the clocks skip, as they go on', '30 2 * * *', '2026-03-08T07:00:00Z'],
    ['America/Toronto', 'one of several times, too', '30 2,14 * * *', '2026-03-08T07:00:00Z'],
    ['America/Toronto', 'a time that is shown twice, the first time', '30 1 * * *', '2026-11-01T05:30:00Z'],
    ['America/Toronto', 'every hour, in both of them', '30 * * * *', '2026-11-01T06:30:00Z'],
    ['America/Toronto', 'every hour, not in the one that is skipped', '30 * * * *', '2026-03-08T06:30:00Z'],
    ['Africa/Cairo', 'a midnight that the clocks skip', '0 0 * * *', '2026-04-23T22:00:00Z'],
    ['Australia/Lord_Howe', 'the end of a repeated half hour', '0 2 * * *', '2026-04-04T15:30:00Z'],
    ['Australia/Lord_Howe', 'a time in a half hour that is skipped', '15 2 * * *', '2026-10-03T15:30:00Z'],
  ])('in %s: %s', (timezone, _, cron, due) => {
    const at = Date.parse(due);
    const ask = (now: number): Date | null =>
      dueSlot({ cron, timezone, now: new Date(now), lastSlot: new Date(at - 3 * HOUR) });
    expect(ask(at - 1)?.toISOString()).not.toBe(new Date(due).toISOString());
    expect(ask(at)?.toISOString()).toBe(new Date(due).toISOString());
    expect(ask(at + 29 * MINUTE)?.toISOString()).toBe(new Date(due).toISOString());
  });

  test.each([
    ['the 13th, a Monday, as a crontab means it', '0 9 13 * 5', '2026-04-13', '2026-04-13T09:00:00.000Z'],
    ['and every Friday', '0 9 13 * 5', '2026-04-12', '2026-04-10T09:00:00.000Z'],
    ['29 February, years ago', '0 0 29 2 *', '2027-12-31', '2024-02-29T00:00:00.000Z'],
    ['a Sunday by its other number', '0 0 * * 7', '2026-03-04', '2026-03-01T00:00:00.000Z'],
  ])('%s', (_, cron, day, slot) => {
    const now = new Date(`${day}T23:59:59.999Z`);
    const question = { cron, timezone: 'UTC', lastSlot: new Date(0), now };
    expect(dueSlot(question)?.toISOString()).toBe(slot);
  });

  test('is none while the clock stands before the last slot', () => {
    const question = { cron: '* * * * *', timezone: 'UTC', lastSlot: new Date(DAY) };
    expect(dueSlot({ ...question, now: new Date(DAY) })).toBe(null);
    expect(dueSlot({ ...question, now: new Date(1) })).toBe(null);
  });
});

const schedule = { name: 'all', cron: '*/15 * * * *', timezone: 'UTC', kinds: ['departments'] };
const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const since = (time: string) => new Map([[JSON.stringify(schedule), at(time).toISOString()]]);

test.each([
  ['12:01:00', '12:45:00', []],
  ['12:01:00', '12:45:01', ['departments']],
  ['12:16:00', '12:45:01', []],
])('read to the end at %s, at %s stale: %j', (swept, now, stale) => {
  const readings = {
    sweptAt: new Map([['departments', at(swept)]]),
    longRepeated: [],
    appliesSince: since('00:00:00'),
    now: at(now),
  };
  expect(staleKinds([schedule], readings).map(({ kind }) => kind)).toEqual(stale);
});

test('a kind that was never read is stale three slots after the schedule began', () => {
  const readings = { sweptAt: new Map(), longRepeated: [], appliesSince: since('12:01:00') };
  expect(staleKinds([schedule], { ...readings, now: at('12:44:00') })).toEqual([]);
  expect(staleKinds([schedule], { ...readings, now: at('12:46:00') })).toEqual([
    { kind: 'departments', since: null },
  ]);
});

test('slots before a schedule applied as it is make nothing stale, however long its list was not read', () => {
  const readings = {
    sweptAt: new Map([['departments', at('00:00:00')]]),
    longRepeated: [],
    now: at('12:46:00'),
  };
  const stale = (appliesSince: ReadonlyMap<string, string>) =>
    staleKinds([schedule], { ...readings, appliesSince }).map(({ kind }) => kind);
  expect(stale(since('12:16:00'))).toEqual([]);
  expect(stale(since('12:14:00'))).toEqual(['departments']);
  expect(stale(new Map())).toEqual([]); // No `serve` has ever pulled by it.
});
