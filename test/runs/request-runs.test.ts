import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createFirstReads, createScheduleCheck, startTicking } from '../../src/runs/request-runs.ts';
import { nextSlot, type Schedule } from '../../src/runs/schedule.ts';
import { systemClock, type Clock } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/db/session/session.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { ONE_DATABASE, MIRRORS, pullOne } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { memoryLog } from './engine/support.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

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
  name: 'often',
  cron,
  timezone: 'UTC',
  kinds: ['departments'],
  ...more,
});

const OWNER = 'one';

const mirror = () => tempMirror([kindNamed('departments')]);

/** Every run that was asked for, by its slot. */
async function slots(session: Session): Promise<string[]> {
  const rows = await session.query(sql`select slot from runs order by id`);
  return rows.map((row) => String(row['slot']).replace('often@', ''));
}

const endAll = (session: Session): Promise<unknown> =>
  session.atomically((tx) => tx.query(sql`update runs set state = 'done'`));

function createLooker(session: Session, clock: Clock, schedule: Schedule) {
  const log = memoryLog();
  return { look: createScheduleCheck({ session, clock, logger: log.logger, owner: OWNER }, schedule), log };
}

test('a schedule begins when it is first looked at: what came due before is none of its slots', async () => {
  const session = await mirror();
  const wall = wallClock('2026-03-01T12:30:00Z');
  const { look } = createLooker(session, wall.clock, scheduled('0 * * * *'));
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
  const session = await mirror();
  const wall = wallClock('2026-03-01T12:30:00Z');
  const schedule = scheduled('*/10 * * * *');
  await createLooker(session, wall.clock, schedule).look();
  wall.pass(7 * DAY + 5 * MINUTE);
  const { look, log } = createLooker(session, wall.clock, schedule);
  for (let second = 0; second < 200; second++) {
    await look();
    wall.pass(SECOND);
  }
  expect(await slots(session)).toEqual(['2026-03-08T12:30:00.000Z']);
  expect(log.lines).toMatchObject([{ schedule: 'often', slot: '2026-03-08T12:30:00.000Z', runId: 1 }]);
});

test('a yearly schedule is caught up, although its last run is long forgotten', async () => {
  const session = await mirror();
  const wall = wallClock('2026-01-01T00:00:00Z');
  const schedule = scheduled('0 5 29 2 *');
  await createLooker(session, wall.clock, schedule).look();
  wall.pass(1000 * DAY);
  await createLooker(session, wall.clock, schedule).look();
  expect(await slots(session)).toEqual(['2028-02-29T05:00:00.000Z']);
});

test('H04 a slot while its kinds are asked for gets no second run, and says so', async () => {
  const session = await mirror();
  const wall = wallClock('2026-03-01T12:30:00Z');
  const { look, log } = createLooker(session, wall.clock, scheduled('* * * * *'));
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
  const session = await mirror();
  const wall = wallClock('2026-03-01T12:30:00Z');
  const schedule = scheduled('0 * * * *');
  const { look } = createLooker(session, wall.clock, schedule);
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
  const again = createLooker(session, wall.clock, schedule);
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
        const session = await mirror();
        const wall = wallClock(new Date(from).toISOString());
        const schedule = scheduled(text, { timezone: zone });
        const processes = [
          createLooker(session, wall.clock, schedule),
          createLooker(session, wall.clock, schedule),
        ];
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
});

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
  const session = await mirror();
  const wall = wallClock('2026-03-01T12:59:59Z');
  let isAway = false;
  const flaky: Session = {
    ...session,
    query: (statement) => session.query(statement),
    atomically: (work) => (isAway ? Promise.reject(new Error('away')) : session.atomically(work)),
  };
  const { look } = createLooker(flaky, wall.clock, scheduled('0 * * * *'));
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
  const session = await mirror();
  const log = memoryLog();
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
  const parts = { session: flaky, clock, logger: log.logger, owner: OWNER };
  const stop = startTicking(parts, [scheduled('* * * * *'), scheduled('* * * * *', { name: 'other' })]);
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

describe.each(ONE_DATABASE)('kinds that are scheduled, in %s', (database) => {
  test('are read at once where they never were, in one run, however many processes start', async () => {
    const session = await MIRRORS[database]();
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const parts = { session, clock: systemClock, logger: memoryLog().logger, owner: OWNER };
    const checks = [1, 2].map(() => createFirstReads(parts, ['departments', 'clients', 'products']));
    for (const check of [...checks, ...checks]) await check();
    expect(
      await session.query(sql`select command, kinds, state from runs where state = 'requested'`),
    ).toEqual([{ command: 'pull', kinds: '["clients","products"]', state: 'requested' }]);
  });

  test('are left to their slots where each was read', async () => {
    const session = await MIRRORS[database]();
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const parts = { session, clock: systemClock, logger: memoryLog().logger, owner: OWNER };
    await createFirstReads(parts, ['departments'])();
    expect(await session.query(sql`select id from runs where state = 'requested'`)).toEqual([]);
  });
});
