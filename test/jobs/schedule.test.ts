import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { createTask } from 'node-cron';
import { describe, expect, test } from 'vitest';
import { createScheduleCheck, dueSlot, nextSlot, startSchedules } from '../../src/jobs/schedule.ts';
import type { Schedule } from '../../src/jobs/schedule.ts';
import type { Clock } from '../../src/lib/time/clock.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { memoryLog } from './support.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A clock that somebody sets. */
function wallClock(start: string) {
  let now = Date.parse(start);
  const clock: Clock = { ...systemClock, now: () => new Date(now) };
  return {
    clock,
    pass: (ms: number): void => {
      now += ms;
    },
    now: () => now,
  };
}

const scheduled = (cron: string, more: Partial<Schedule> = {}): Schedule => ({
  ...{ name: 'often', cron, timezone: 'UTC', kinds: ['departments'], pages: null, ...more },
});

const mirror = () => tempMirror([kindNamed('departments')]);

/** Every run that was asked for, by its slot. */
async function slots(session: Session): Promise<string[]> {
  const rows = await session.query(sql`select slot from runs order by id`);
  return rows.map((row) => String(row['slot']).replace('often@', ''));
}

const endAll = (session: Session): Promise<unknown> =>
  session.atomically((tx) => tx.query(sql`update runs set state = 'done'`));

function looker(session: Session, clock: Clock, schedule: Schedule) {
  const log = memoryLog();
  const isDead = (): boolean => false;
  return { look: createScheduleCheck({ session, clock, logger: log.logger, isDead }, schedule), log };
}

test('a schedule begins when it is first looked at: what came due before is none of its slots', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-03-01T12:30:00Z')];
  const { look } = looker(session, wall.clock, scheduled('0 * * * *'));
  await look();
  wall.pass(30 * MINUTE - 1);
  await look();
  expect(await slots(session)).toEqual([]);
  wall.pass(1);
  await look();
  await look();
  expect(await slots(session)).toEqual(['2026-03-01T13:00:00.000Z']);
});

test('H03 F15 after a week without any process, one run: that of the latest slot', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-03-01T12:30:00Z')];
  const schedule = scheduled('*/10 * * * *');
  await looker(session, wall.clock, schedule).look();
  wall.pass(7 * DAY + 5 * MINUTE);
  const { look, log } = looker(session, wall.clock, schedule);
  for (let second = 0; second < 200; second++) {
    await look();
    wall.pass(SECOND);
  }
  expect(await slots(session)).toEqual(['2026-03-08T12:30:00.000Z']);
  expect(log.lines).toMatchObject([{ schedule: 'often', slot: '2026-03-08T12:30:00.000Z', runId: 1 }]);
});

test('a yearly schedule is caught up, although its last run is long forgotten', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-01-01T00:00:00Z')];
  const schedule = scheduled('0 5 29 2 *');
  await looker(session, wall.clock, schedule).look();
  wall.pass(1000 * DAY);
  await looker(session, wall.clock, schedule).look();
  expect(await slots(session)).toEqual(['2028-02-29T05:00:00.000Z']);
});

test('H04 a slot while its kinds are asked for gets no second run, and says so', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-03-01T12:30:00Z')];
  const { look, log } = looker(session, wall.clock, scheduled('* * * * *'));
  for (let minute = 0; minute < 4; minute++) {
    await look();
    wall.pass(MINUTE);
  }
  expect(await slots(session)).toEqual(['2026-03-01T12:31:00.000Z']);
  expect(log.lines.map(({ is }) => is)).toEqual(['requested', 'served', 'served']);
  await endAll(session);
  await look();
  expect(await slots(session)).toHaveLength(2);
});

test('H01 a clock that was an hour ahead, or ten, and is put right misses nothing and doubles nothing', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-03-01T12:30:00Z')];
  const schedule = scheduled('0 * * * *');
  const { look } = looker(session, wall.clock, schedule);
  const walk = async (hours: number, looking: () => Promise<void>): Promise<void> => {
    for (let minute = 0; minute < hours * 60; minute++) {
      await looking();
      await endAll(session);
      wall.pass(MINUTE);
    }
  };
  await walk(2, look); // 13:00, 14:00
  wall.pass(10 * HOUR); // 00:30 of the next day: one run
  await walk(1, look); // 01:00
  wall.pass(-11 * HOUR); // 14:30 again
  await walk(1, look); // 15:00
  const again = looker(session, wall.clock, schedule);
  await walk(12, again.look); // up to 03:00
  const all = (await slots(session)).sort();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toEqual(
    Array.from({ length: 15 }, (_, hour) => new Date(Date.UTC(2026, 2, 1, 13 + hour)).toISOString()),
  );
});

test('H03 however looks are spread over a change of the clocks, and whoever looks: none missed, none doubled', async () => {
  const from = Date.parse('2026-10-24T12:00:00Z');
  const zone = 'Europe/Paris';
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('*/10 * * * *', '30 2 * * *', '*/20 1-3 * * *', '0 */2 * * *', '5 2,3 * * 0'),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.boolean()), { minLength: 5, maxLength: 25 }),
      async (text, steps) => {
        const [session, wall] = [await mirror(), wallClock(new Date(from).toISOString())];
        const schedule = scheduled(text, { timezone: zone });
        const processes = [looker(session, wall.clock, schedule), looker(session, wall.clock, schedule)];
        for (const { look } of processes) await look();
        const due = slotsOf(text, zone, from);
        const expected: number[] = [];
        for (const [step, isFirst] of steps) {
          const before = wall.now();
          wall.pass(step * MINUTE);
          await Promise.all((isFirst ? processes : processes.toReversed()).map(({ look }) => look()));
          await endAll(session);
          const latest = due.findLast((instant) => instant > before && instant <= wall.now());
          if (latest !== undefined) expected.push(latest);
        }
        expect(await slots(session)).toEqual(expected.map((instant) => new Date(instant).toISOString()));
      },
    ),
    { numRuns: 4 },
  );
}, 60_000);

/** Every slot within three days. */
function slotsOf(cron: string, timezone: string, from: number): number[] {
  const found: number[] = [];
  for (let at = from; at < from + 3 * DAY;) {
    at = nextSlot(cron, timezone, new Date(at)).getTime();
    found.push(at);
  }
  return found;
}

test('a mirror that is away for a while costs no slot', async () => {
  const [session, wall] = [await mirror(), wallClock('2026-03-01T12:59:59Z')];
  let isAway = false;
  const flaky: Session = {
    ...session,
    query: (statement) => session.query(statement),
    atomically: (work) => (isAway ? Promise.reject(new Error('away')) : session.atomically(work)),
  };
  const { look } = looker(flaky, wall.clock, scheduled('0 * * * *'));
  await look();
  isAway = true;
  wall.pass(SECOND);
  await expect(look()).rejects.toThrow('away');
  isAway = false;
  wall.pass(SECOND);
  await look();
  expect(await slots(session)).toEqual(['2026-03-01T13:00:00.000Z']);
});

test('schedules are checked until they are stopped; one that fails is checked again', async () => {
  const [session, log] = [await mirror(), memoryLog()];
  let isAway = true;
  const flaky: Session = {
    ...session,
    query: (statement) => session.query(statement),
    atomically: (work) => (isAway ? Promise.reject(new Error('away')) : session.atomically(work)),
  };
  const wall = wallClock('2026-03-01T12:00:59Z');
  const slept: (() => void)[] = [];
  const clock: Clock = {
    ...wall.clock,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        slept.push(resolve);
        signal?.addEventListener('abort', () => {
          reject(new Error('woken'));
        });
      }),
  };
  const parts = { session: flaky, clock, logger: log.logger, isDead: () => false };
  const stop = startSchedules(parts, [scheduled('* * * * *'), scheduled('* * * * *', { name: 'other' })]);
  while (slept.length < 2) await systemClock.sleep(5);
  expect(log.lines.map(({ work }) => work)).toEqual([
    'requesting the run of the schedule often',
    'requesting the run of the schedule other',
  ]);
  isAway = false;
  for (const wake of slept.splice(0)) wake(); // The first check had failed: the schedules begin here.
  while (slept.length < 2) await systemClock.sleep(5);
  wall.pass(MINUTE);
  for (const wake of slept.splice(0)) wake();
  while (slept.length < 2) await systemClock.sleep(5);
  await stop();
  expect(await slots(session)).toEqual(['2026-03-01T12:01:00.000Z']);
});

const part = (least: number, most: number) => {
  const value = fc.integer({ min: least, max: most });
  return fc.oneof(
    value.map(String),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((values) => values.join(',')),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: 25 }).map((step) => `*/${step}`),
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
        const [from, to] = [Date.UTC(2026, 4, 1), Date.UTC(2026, 4, 3)];
        const expected = matches(cron, from, to);
        let [now, last] = [from, from];
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

  test.each(['Europe/Paris', 'America/Toronto', 'Africa/Cairo', 'UTC'])(
    'H02 rises in %s through both changes of the clocks, and the next slot is the one found',
    (timezone) => {
      for (const cron of ['0 * * * *', '30 2 * * *', '*/20 1-3 * * 0']) {
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
    ['a time that the clocks skip, an hour later', '30 2 * * *', '2026-03-08T07:30:00Z'],
    ['a time that is shown twice, the first time', '30 1 * * *', '2026-11-01T05:30:00Z'],
    ['every hour, in both of them', '30 * * * *', '2026-11-01T06:30:00Z'],
    ['every hour, not in the one that is skipped', '30 * * * *', '2026-03-08T06:30:00Z'],
  ])('in Toronto: %s', (_, cron, due) => {
    const at = Date.parse(due);
    const ask = (now: number): Date | null =>
      dueSlot({ cron, timezone: 'America/Toronto', now: new Date(now), lastSlot: new Date(at - 3 * HOUR) });
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
