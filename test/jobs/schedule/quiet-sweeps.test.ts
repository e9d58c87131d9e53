import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createQuietCheck, quietestHour } from '../../../src/jobs/schedule/quiet-sweeps.ts';
import { instantText, systemClock } from '../../../src/lib/time/clock.ts';
import type { Clock } from '../../../src/lib/time/clock.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { DATABASES, MIRRORS } from '../../pull/steps.ts';
import { memoryLog } from '../support.ts';

const HOUR = 3_600_000;
const MIDNIGHT = Date.parse('2026-03-10T00:00:00Z');

/** A mirror whose clients changed for a week, every hour but the one that begins at three. */
async function restless(session: Session, uncertified: number): Promise<void> {
  const rows: (readonly [string, string, string, string, string, string])[] = [];
  for (let hour = -7 * 24; hour < 0; hour++) {
    if ((hour + 7 * 24) % 24 === 3) continue;
    rows.push(['clients', '1', 'updated', instantText(new Date(MIDNIGHT + hour * HOUR)), '{}', 'service']);
  }
  await session.atomically(async (tx) => {
    await tx.append({
      table: 'changes',
      columns: ['kind', 'record_id', 'change', 'observed_at', 'fields', 'origin'],
      rows,
    });
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, uncertified_sweeps, epoch)
      values ('clients', 9, 'complete', 9, ${uncertified}, 1)`);
  });
}

function checks(session: Session, kinds: readonly string[] = ['clients']) {
  let now = MIDNIGHT;
  const clock: Clock = { ...systemClock, now: () => new Date(now) };
  const check = createQuietCheck({ session, clock, logger: memoryLog().logger, isDead: () => false }, kinds);
  return async (hours: number): Promise<void> => {
    for (let minute = 0; minute < hours * 60; minute += 20) {
      await check();
      now += 20 * 60_000;
    }
  };
}

const runs = (session: Session) => session.query(sql`select kinds, slot from runs order by id`);

test.each(DATABASES)(
  'a list that moves is read once more a day, at its quietest hour; %s',
  async (database) => {
    const session = await MIRRORS[database]();
    await restless(session, 3);
    const pass = checks(session);
    await pass(3);
    expect(await runs(session)).toEqual([]);
    await pass(1);
    const first = { kinds: '["clients"]', slot: 'quiet_clients@2026-03-10T00:00:00.000Z' };
    expect(await runs(session)).toEqual([first]);
    await session.atomically((tx) => tx.query(sql`update runs set state = 'done'`));
    await pass(23);
    expect(await runs(session)).toEqual([first]);
    await pass(1);
    expect(await runs(session)).toEqual([
      first,
      { kinds: '["clients"]', slot: 'quiet_clients@2026-03-11T00:00:00.000Z' },
    ]);
  },
);

test.each([
  ['certifies now and then', 2, ['clients']],
  ['is none of those that are read', 3, ['products']],
] as const)('a list that %s gets no sweep of its own', async (_name, uncertified, kinds) => {
  const session = await MIRRORS.SQLite();
  await restless(session, uncertified);
  await checks(session, kinds)(30);
  expect(await runs(session)).toEqual([]);
});

const busy = (...quiet: readonly (readonly [number, number])[]): number[] => {
  const counts = Array<number>(24).fill(100);
  for (const [hour, count] of quiet) counts[hour] = count;
  return counts;
};

describe('the quietest hour', () => {
  test.each([
    [[[3, 10]], 3],
    [[[3, 10], [4, 9]], 4], // prettier-ignore
    [[[2, 0], [3, 0], [4, 0]], 3], // prettier-ignore
    [[[23, 0], [0, 0], [1, 0]], 0], // prettier-ignore
    [[[3, 60]], null],
    [[], null],
  ] as const)('where %j stand out is %s', (quiet, expected) => {
    expect(quietestHour({ counts: busy(...quiet), days: 3 })).toBe(expected);
  });

  test('is not known from one day, nor from a kind that never changes', () => {
    expect(quietestHour({ counts: busy([3, 0]), days: 1 })).toBeNull();
    expect(quietestHour({ counts: Array<number>(24).fill(0), days: 0 })).toBeNull();
  });

  test('is one of the least changes, whatever the counts are', () => {
    const counts = fc.array(fc.nat({ max: 50 }), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(counts, (given) => {
        const hour = quietestHour({ counts: given, days: 7 });
        if (hour !== null) expect(given[hour]).toBe(Math.min(...given));
      }),
    );
  });
});
