import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runsQueue } from '../../src/app/queues.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { requestRun, type RequestedRun } from '../../src/store/runs/run-requests.ts';
import { findRun } from '../../src/store/runs/run-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { memoryLog } from './engine/support.ts';
import { ONE_DATABASE, MIRRORS, clockAt } from '../pull/steps.ts';
import { openSandboxSource, sandbox } from '../pull/support.ts';
import { settingsFor } from '../support/command-line.ts';

const PULL: RequestedRun = { command: 'pull', kinds: ['clients'], request: 'test' };

/** Works a requested run as `serve` does; returns the outcomes that it logged. */
async function pulled(service: Sandbox, session: Session, minute = 0, wish = PULL) {
  const log = memoryLog();
  const clock = clockAt(minute);
  const source = openSandboxSource(service, clock);
  onTestFinished(() => source[Symbol.asyncDispose]());
  const owner = 'one';
  const config = loadConfig({ env: settingsFor(service, 'unused') });
  const queue = runsQueue(config, { session, source, clock, logger: log.logger, owner });
  await session.atomically((tx) => requestRun(tx, { ...wish, now: clock.now() }));
  const [ref] = await queue.due(9);
  const result = ref && (await queue.work(ref, new AbortController().signal));
  return { lines: log.lines.filter(({ event }) => event !== undefined), task: ref?.task, result };
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('each run is one line with its figures', async () => {
    const service = await sandbox({ size: 30 });
    const session = await MIRRORS[database]();
    const { lines, task, result } = await pulled(service, session);
    expect([task, result]).toEqual(['pull clients', { state: 'done', verdict: null, hasFailed: false }]);
    expect(lines).toMatchObject([
      {
        level: 30,
        event: 'run.finished',
        runId: 1,
        rows: 30,
        durationMs: expect.any(Number) as number,
        kinds: [{ kind: 'clients', state: 'certified', rows: 30 }],
      },
    ]);
  });

  test('a requested backfill lands what it names, and reports what the service does not have', async () => {
    const service = await sandbox({ size: 30 });
    const session = await MIRRORS[database]();
    await pulled(service, session);
    const [id = 0] = service.world.ids('clients');
    service.world.update('clients', id, { name: 'Renamed' });
    const wish = { command: 'backfill', kinds: ['clients'], request: `--ids ${id},999999999` } as const;
    expect((await pulled(service, session, 5, wish)).lines).toMatchObject([
      {
        level: 30,
        event: 'run.finished',
        command: 'backfill',
        kinds: [{ state: 'complete', rows: 1, changes: 1 }],
      },
    ]);
    const run = await findRun(session, 2);
    expect(run).toMatchObject({
      state: 'done',
      reports: [{ updated: 1, detail: 'Not in the service (1): 999999999.' }],
    });
    const names = await session.query(sql`select name from clients where id = ${id}`);
    expect(names).toEqual([{ name: 'Renamed' }]);
  });

  test('a run that reads no list fails, with a warning', async () => {
    const service = await sandbox({ size: 30 });
    const session = await MIRRORS[database]();
    service.setFaults([{ on: { kind: 'clients' }, times: 99, do: { status: 403 } }]);
    const { lines, result } = await pulled(service, session);
    expect(result).toEqual({ state: 'incomplete', verdict: 'forbidden', hasFailed: true });
    expect(lines).toMatchObject([
      { level: 40, event: 'run.failed', kinds: [{ kind: 'clients', state: 'aborted', reason: 'forbidden' }] },
    ]);
  });

  test('a mass disappearance is told once, and so is a field that the service adds', async () => {
    const service = await sandbox({ size: 30 });
    const session = await MIRRORS[database]();
    for (const minute of [0, 30]) await pulled(service, session, minute);
    const [kept, ...gone] = service.world.ids('clients');
    for (const id of gone) service.world.remove('clients', id);
    service.world.update('clients', kept ?? 0, { brand_new: 'x' });
    const { lines } = await pulled(service, session, 60);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, event: 'kind.held', kind: 'clients', records: 29 }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, event: 'drift.found', kind: 'clients', field: 'brand_new' }),
    );
    const later = await pulled(service, session, 90);
    expect(later.lines.map(({ event }) => event)).toEqual(['run.finished']);
  });
});
