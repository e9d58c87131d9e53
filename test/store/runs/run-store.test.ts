import { sql } from 'drizzle-orm';
import { deadOwner } from '../../support/lapse.ts';
import { describe, expect, test } from 'vitest';
import { applyRetention } from '../../../src/pull/retention.ts';
import {
  findRun,
  finishRun,
  listRuns,
  saveKindReport,
  startRun,
  type KindReport,
  type RunStart,
} from '../../../src/store/runs/run-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { KEEP_ALL } from '../../support/retention.ts';
import { NOON, NOON_TEXT, later, tempMirror } from '../temp-mirror.ts';

const DAY = 86_400_000;

const start = (session: Session, changes: Partial<RunStart> = {}): Promise<number> =>
  startRun(session, {
    command: 'pull',
    kinds: ['clients'],
    owner: 'a',
    now: NOON,
    ...changes,
  });

const finish = (
  session: Session,
  id: number,
  { owner = 'a', ...changes }: Partial<Parameters<typeof finishRun>[2]> & { readonly owner?: string } = {},
): Promise<void> =>
  finishRun(session, { runId: id, owner }, { state: 'done', reason: null, now: NOON, ...changes });

const report = (kind: string, changes: Partial<KindReport> = {}): KindReport => ({
  kind,
  state: 'complete',
  reason: null,
  detail: null,
  certifiedAt: null,
  pages: 1,
  rows: 2,
  created: 3,
  updated: 4,
  deleted: 5,
  restored: 6,
  unchanged: 7,
  quarantined: 8,
  requests: 9,
  retries: 10,
  durationMs: 11,
  ...changes,
});

const save =
  (session: Session, startedAt = NOON) =>
  (id: number, one: KindReport): Promise<void> =>
    session.atomically((tx) => saveKindReport(tx, { runId: id, owner: 'a' }, one, startedAt));

const statesOf = async (session: Session) =>
  (await listRuns(session, { limit: 100 })).map(({ id, state, reason }) => [id, state, reason]);

describe('a run', () => {
  test('is listed from its start to its end', async () => {
    const session = await tempMirror();
    const id = await start(session, { kinds: ['clients', 'products'] });
    const of = { command: 'pull', kinds: ['clients', 'products'], extent: null, slot: null, repeats: [] };
    const run = { id, ...of, reason: null, startedAt: NOON_TEXT };
    expect(await listRuns(session, { limit: 10 })).toEqual([{ ...run, state: 'running', finishedAt: null }]);
    await finish(session, id, { state: 'incomplete', reason: 'clients failed', now: later(1500) });
    expect(await listRuns(session, { limit: 10 })).toEqual([
      { ...run, state: 'incomplete', reason: 'clients failed', finishedAt: '2026-03-01 12:00:01.500' },
    ]);
  });

  test('has a number of its own, higher than any before, also after old runs were forgotten', async () => {
    const session = await tempMirror();
    const first = await start(session);
    await finish(session, first, { now: later(-40 * DAY) });
    const second = await start(session);
    await finish(session, second, { now: later(-39 * DAY) });
    const third = await start(session);
    await finish(session, third);
    await applyRetention(session, { ...KEEP_ALL, runsDays: 30 }, NOON);
    expect(await statesOf(session)).toEqual([[third, 'done', null]]);
    expect(first < second && second < third).toBe(true);
    await session.atomically((tx) => tx.query(sql`delete from runs`));
    expect(await start(session)).toBeGreaterThan(third);
  });

  test('is found with its reports, in the order in which the kinds were swept', async () => {
    const session = await tempMirror();
    const id = await start(session);
    const other = await start(session);
    const reports = [
      report('products'),
      report('clients', {
        state: 'aborted',
        reason: 'unauthorized',
        detail: `It's "refused" 🧾`,
        certifiedAt: NOON_TEXT,
        durationMs: 0,
      }),
      report('departments', { state: 'certified' }),
    ];
    for (const [index, one] of reports.entries()) await save(session, later(index))(id, one);
    await save(session)(other, report('clients'));
    const found = await findRun(session, id);
    expect(found).toMatchObject({ id, state: 'running' });
    expect(found?.reports).toEqual(reports);
  });

  test('has one report for a kind', async () => {
    const session = await tempMirror();
    const id = await start(session);
    await save(session)(id, report('clients'));
    await expect(save(session)(id, report('clients'))).rejects.toThrow('UNIQUE');
  });
});

describe('runs of processes that are gone', () => {
  test('are closed by the next run; those of living processes and those that ended are not', async () => {
    const session = await tempMirror();
    const dead = await start(session, { owner: deadOwner() });
    const ended = await start(session, { owner: deadOwner(), command: 'backfill' });
    await finish(session, ended, { state: 'failed', reason: 'why', owner: deadOwner() });
    const living = await start(session, { owner: 'living' });
    const next = await start(session, { now: later(1000) });
    expect(await statesOf(session)).toEqual([
      [next, 'running', null],
      [living, 'running', null],
      [ended, 'failed', 'why'],
      [dead, 'interrupted', 'its process ended'],
    ]);
    expect(await findRun(session, dead)).toMatchObject({ finishedAt: NOON_TEXT });
  });
});
