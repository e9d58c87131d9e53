import fc from 'fast-check';
import { createTask } from 'node-cron';
import { describe, expect, test } from 'vitest';
import { dueSlot } from '../../src/jobs/due-slot.ts';
import { parseCron } from '../../src/lib/cron.ts';
import type { Cron } from '../../src/lib/cron.ts';
import { dueTimes, minutesOf } from './cron-oracle.ts';

const [MINUTE, DAY] = [60_000, 86_400_000];

function cronOf(text: string): Cron {
  const parsed = parseCron(text);
  if (parsed.is === 'fault') throw new Error(`${text}: ${parsed.expected}`);
  return parsed.cron;
}

/** The clocks change within each of these times, but in UTC. */
const WINDOWS: readonly (readonly [zone: string, from: string, days: number])[] = [
  ['Europe/Paris', '2026-03-27', 4],
  ['Europe/Paris', '2026-10-23', 4],
  ['America/Toronto', '2026-03-06', 4],
  ['America/Toronto', '2026-10-30', 4],
  ['Australia/Lord_Howe', '2026-04-03', 4],
  ['Australia/Lord_Howe', '2026-10-02', 4],
  ['Africa/Cairo', '2026-04-22', 4], // At midnight, into the next day.
  ['Pacific/Apia', '2011-12-28', 4], // A whole day was skipped.
  ['UTC', '2028-02-27', 4],
];

const windows = WINDOWS.map(([zone, day, days]) => {
  const from = Date.parse(`${day}T00:00:00Z`);
  return {
    ...{ zone, from, to: from + days * DAY, toString: () => `${zone} from ${day}` },
    minutes: minutesOf(zone, from - 2 * DAY, from + days * DAY),
  };
});

const window = fc.nat(windows.length - 1).map((index) => windows[index] ?? none());

function none(): never {
  throw new Error('no such window');
}

const part = (least: number, most: number) => {
  const value = fc.integer({ min: least, max: most });
  return fc.oneof(
    value.map(String),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((values) => values.join(',')),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: 25 }).map((step) => `*/${step}`),
    fc.tuple(value, fc.integer({ min: 1, max: 5 })).map(([a, step]) => `${a}-${most}/${step}`),
  );
};
const orStar = (field: fc.Arbitrary<string>, weight = 1) =>
  fc.oneof({ arbitrary: fc.constant('*'), weight }, { arbitrary: field, weight: 1 });

/** Mostly about the hours in which clocks change; months are left alone, for the windows are days long. */
const expression = fc
  .tuple(
    orStar(part(0, 59)),
    orStar(fc.oneof(part(0, 23), part(0, 3))),
    orStar(part(1, 31), 4),
    fc.constant('*'),
    orStar(part(0, 7), 4),
  )
  .map((fields) => fields.join(' '))
  .filter((text) => !/^\S+ (?!\* )\*\/1 |^\S+ 0-23(\/1)? /.test(text)); // The oracle knows a rhythm by its star.

describe('what comes due', () => {
  test('H02 is what a look at every minute says: none missed, none doubled', () => {
    let found = 0;
    const looked = (): void => {
      fc.assert(
        fc.property(expression, window, (text, { zone, from, to, minutes }) => {
          const cron = cronOf(text);
          const expected = dueTimes(text, minutes).filter((instant) => instant >= from && instant < to);
          let lastSlot = new Date(from - 1);
          const wrong: unknown[] = []; // Forty thousand calls of expect would take longer than the looks.
          for (const due of expected) {
            const [before, then] = [due - 1, due].map((now) =>
              dueSlot({ cron, timezone: zone, lastSlot, now: new Date(now) }),
            );
            if (before !== null || then?.getTime() !== due) wrong.push({ due: new Date(due), before, then });
            lastSlot = new Date(due);
          }
          expect(wrong).toEqual([]);
          expect(dueSlot({ cron, timezone: zone, lastSlot, now: new Date(to - 1) })).toBe(null);
          found += expected.length;
        }),
        { numRuns: 50 },
      );
    };
    while (found < 20_000) looked();
    expect(found).toBeGreaterThanOrEqual(20_000);
  }, 120_000);

  test('H03 after a jump of the clock is the latest alone: one catch-up, never a burst', () => {
    const jumps = fc.array(fc.integer({ min: -300, max: 2000 }), { minLength: 3, maxLength: 30 });
    fc.assert(
      fc.property(expression, window, jumps, (text, { zone, from, to, minutes }, steps) => {
        const cron = cronOf(text);
        const expected = dueTimes(text, minutes);
        let [now, last] = [from, from];
        for (const step of steps) {
          now = Math.min(Math.max(now + step * MINUTE, from), to - 1);
          const latest = expected.findLast((instant) => instant > last && instant <= now) ?? null;
          const slot = dueSlot({ cron, timezone: zone, lastSlot: new Date(last), now: new Date(now) });
          expect(slot?.getTime() ?? null).toBe(latest);
          if (slot !== null) last = slot.getTime();
        }
      }),
      { numRuns: 200 },
    );
  }, 120_000);

  test('is what node-cron matches, where the clocks never change and one field alone names days', () => {
    const at = fc.integer({ min: Date.UTC(2026, 0, 1) / MINUTE, max: Date.UTC(2029, 0, 1) / MINUTE });
    fc.assert(
      fc.property(expression, at, (text, minute) => {
        const cron = cronOf(text);
        fc.pre(!cron.isEitherDay);
        const now = new Date(minute * MINUTE);
        const slot = dueSlot({ cron, timezone: 'UTC', lastSlot: new Date(now.getTime() - 1), now });
        expect(slot !== null).toBe(createTask(text, () => undefined, { timezone: 'UTC' }).match(now));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['a time that the clocks skip, once, when they have jumped', '30 2 * * *', '2026-03-08T07:00:00Z'],
    ['several of them, once', '*/10 2 * * *', '2026-03-08T07:00:00Z'],
    ['a time that is shown twice, the first time', '30 1 * * *', '2026-11-01T05:30:00Z'],
    ['every hour, in both of them', '30 * * * *', '2026-11-01T06:30:00Z'],
    ['every hour, not in the one that is skipped', '30 * * * *', '2026-03-08T06:30:00Z'],
  ])('in Toronto: %s', (_, text, due) => {
    const ask = (now: number): string | undefined =>
      dueSlot({
        ...{ cron: cronOf(text), timezone: 'America/Toronto', now: new Date(now) },
        lastSlot: new Date(Date.parse(due) - 1),
      })?.toISOString();
    expect(ask(Date.parse(due))).toBe(new Date(due).toISOString());
    expect(ask(Date.parse(due) + 59 * MINUTE)).toBe(new Date(due).toISOString());
  });

  test.each([
    ['the 13th, a Monday, as a crontab means it', '0 9 13 * 5', '2026-04-13', '2026-04-13T09:00:00.000Z'],
    ['and every Friday', '0 9 13 * 5', '2026-04-12', '2026-04-10T09:00:00.000Z'],
    [
      'odd days that are Mondays, for a field with a star restricts the other',
      '0 9 */2 * 1',
      '2026-03-20',
      '2026-03-09T09:00:00.000Z',
    ],
    ['29 February, years ago', '0 0 29 2 *', '2027-12-31', '2024-02-29T00:00:00.000Z'],
    ['a Sunday by its other number', '0 0 * * 7', '2026-03-04', '2026-03-01T00:00:00.000Z'],
  ])('%s', (_, text, day, slot) => {
    const now = new Date(`${day}T23:59:59.999Z`);
    const question = { cron: cronOf(text), timezone: 'UTC', lastSlot: new Date(0), now };
    expect(dueSlot(question)?.toISOString()).toBe(slot);
  });

  test('is nothing while the clock stands before the last slot', () => {
    const question = { cron: cronOf('* * * * *'), timezone: 'UTC', lastSlot: new Date(DAY) };
    expect(dueSlot({ ...question, now: new Date(DAY) })).toBe(null);
    expect(dueSlot({ ...question, now: new Date(1) })).toBe(null);
  });
});
