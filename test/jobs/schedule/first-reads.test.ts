import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createFirstReads } from '../../../src/jobs/schedule/first-reads.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { DATABASES, MIRRORS, pullOne } from '../../pull/steps.ts';
import { sandbox } from '../../pull/support.ts';
import { memoryLog } from '../support.ts';

describe.each(DATABASES)('kinds that are scheduled, in %s', (database) => {
  test('are read at once where they never were, in one run, however many processes start', async () => {
    const session = await MIRRORS[database]();
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const parts = { session, clock: systemClock, logger: memoryLog().logger, isDead: () => false };
    const checks = [1, 2].map(() => createFirstReads(parts, ['departments', 'clients', 'products']));
    for (const check of [...checks, ...checks]) await check();
    expect(
      await session.query(sql`select command, kinds, state from runs where state = 'requested'`),
    ).toEqual([{ command: 'pull', kinds: '["clients","products"]', state: 'requested' }]);
  });

  test('are left to their slots where each was read', async () => {
    const session = await MIRRORS[database]();
    await pullOne(await sandbox(), session, { kind: 'departments' });
    const parts = { session, clock: systemClock, logger: memoryLog().logger, isDead: () => false };
    await createFirstReads(parts, ['departments'])();
    expect(await session.query(sql`select id from runs where state = 'requested'`)).toEqual([]);
  });
});
