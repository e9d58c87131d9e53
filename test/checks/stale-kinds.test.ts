import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createStaleCheck, readStale } from '../../src/checks/stale-kinds.ts';
import { createScheduleCheck } from '../../src/runs/request-runs.ts';
import { ONE_DATABASE, MIRRORS, clockAt, pullOne } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { memoryLog } from '../runs/engine/support.ts';

const schedule = { name: 'all', cron: '*/15 * * * *', timezone: 'UTC', kinds: ['departments'] };

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('a stale kind is told once, and not while a run is about to read it', async () => {
    const session = await MIRRORS[database]();
    const clock = clockAt(0);
    const log = memoryLog();
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const parts = { session, clock, logger: log.logger };
    await createScheduleCheck({ ...parts, owner: 'one' }, schedule)();
    const check = createStaleCheck(parts, [schedule]);
    await check();
    await clock.sleep(50 * 60_000);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into runs (command, kinds, state, requested_at, epoch)
        values ('pull', '["departments"]', 'requested', '2026-03-01 12:45:00.000', 0)`),
    );
    await check();
    expect(log.lines).toEqual([]);
    await session.atomically((tx) => tx.query(sql`update runs set state = 'incomplete'`));
    for (let look = 0; look < 3; look++) await check();
    expect(log.lines).toMatchObject([
      {
        level: 40,
        event: 'kind.stale',
        kind: 'departments',
        since: '2026-03-01T12:00:00.000Z',
        msg: 'the list of departments was not read to its end for 50 min: its scheduled pulls failed or did not run',
      },
    ]);
  });

  test('a schedule that comes oftener than the one before makes nothing stale before three slots of its own', async () => {
    const session = await MIRRORS[database]();
    const clock = clockAt(0);
    const parts = { session, clock, logger: memoryLog().logger, owner: 'one' };
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const start = (cron: string) => createScheduleCheck(parts, { ...schedule, cron })();
    const isStale = async (cron: string) =>
      (await readStale(session, [{ ...schedule, cron }], { now: clock.now() })).length > 0;
    await start('0 1 * * *');
    await clock.sleep(6 * 3_600_000 + 30_000);
    expect(await isStale('* * * * *')).toBe(false); // Of settings that no serve has read yet.
    await start('* * * * *');
    await clock.sleep(2 * 60_000);
    expect([await isStale('* * * * *'), await isStale('0 1 * * *')]).toEqual([false, false]);
    await start('* * * * *'); // The same again, after a restart.
    await session.atomically((tx) => tx.query(sql`update runs set state = 'incomplete'`));
    await clock.sleep(60_000);
    expect([await isStale('* * * * *'), await isStale('0 1 * * *')]).toEqual([true, false]);
  });
});
