import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../src/views/migrate.ts';
import { MirrorError } from '../../src/db/session/errors.ts';
import type { Session } from '../../src/db/session/session.ts';
import { watchWrites } from '../../src/db/session/write-watch.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { jsonOf, serveMirror, type Stage } from '../http/stage.ts';

const KINDS = [kindNamed('clients'), kindNamed('products')];

async function watched(session: Session) {
  const clock = fakeClock();
  const watch = watchWrites(session, clock);
  const stage = await serveMirror(watch.session, { writes: watch.writes });
  const write = (): Promise<unknown> =>
    watch.session.atomically((tx) => tx.query(sql`update kind_state set tick = tick + 1`));
  return { clock, stage, write };
}

const metrics = async ({ get }: Stage): Promise<readonly string[]> =>
  (await (await get('/metrics')).text()).split('\n');

const reasons = async (stage: Stage): Promise<unknown> =>
  (await jsonOf(await stage.get('/ready')))['reasons'];

describe('whether writes land', () => {
  test('is told by /ready and a metric while somebody else holds the lock of those who write', async () => {
    const url = await freshDatabaseUrl();
    const session = await openForTest(url, { lockTimeoutMs: 50 });
    await migrate(session, KINDS);
    const { clock, stage, write } = await watched(session);
    await write();
    expect(await metrics(stage)).toContain('bms_sync_last_write_timestamp_seconds 1772366400');

    const holder = await bystander(url);
    await holder.query('begin; select 1 from mirror_meta for update');
    const first = write();
    const second = write();
    await clock.sleep(14_999);
    expect((await stage.get('/ready')).status).toBe(200);
    await clock.sleep(8_001);
    const answer = await stage.get('/ready');
    expect([answer.status, (await jsonOf(answer))['reasons']]).toEqual([
      503,
      ['writes to the mirror have not landed for 23 s: another transaction has not ended'],
    ]);
    expect(await jsonOf(await fetch(`${stage.url}/ready`))).not.toHaveProperty('reasons');
    expect(await metrics(stage)).toContain('bms_sync_unlanded_write_age_seconds 23');

    await holder.query('commit');
    await Promise.all([first, second]);
    expect((await stage.get('/ready')).status).toBe(200);
    const after = await metrics(stage);
    expect(after).toContain('bms_sync_unlanded_write_age_seconds 0');
    expect(after).toContain('bms_sync_last_write_timestamp_seconds 1772366423');
  });

  test('is told with its reason while each fails, until one lands', async () => {
    const session = await tempMirror(KINDS);
    let isFull = true;
    const full = new MirrorError('The mirror x has no room: the disk is full (SQLITE_FULL).', {
      code: 'mirror.disk_full',
    });
    const { clock, stage, write } = await watched({
      ...session,
      atomically: (work) => (isFull ? Promise.reject(full) : session.atomically(work)),
    });
    await expect(write()).rejects.toBe(full);
    await clock.sleep(60_000);
    await expect(write()).rejects.toBe(full);
    expect(await reasons(stage)).toEqual([
      'writes to the mirror have not landed for 60 s: The mirror x has no room: the disk is full (SQLITE_FULL).',
    ]);
    isFull = false;
    await write();
    expect((await stage.get('/ready')).status).toBe(200);
  });

  test('is not in question where the work itself changed its mind', async () => {
    const { clock, stage } = await watched(await tempMirror(KINDS));
    const watch = watchWrites(await tempMirror(KINDS), clock);
    await expect(watch.session.atomically(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await clock.sleep(60_000);
    expect(watch.writes()).toEqual({ pendingMs: 0, lastLandedAt: null, fault: null });
    expect((await stage.get('/ready')).status).toBe(200);
  });
});
