import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { createStaleCheck } from '../../src/checks/stale-kinds.ts';
import type { Session } from '../../src/db/session/session.ts';
import { createRepeats, createScheduleCheck } from '../../src/runs/request-runs.ts';
import { createRunsQueue } from '../../src/runs/runs-queue.ts';
import { requestSlot } from '../../src/store/runs/open-runs.ts';
import { requestPull } from '../../src/store/runs/run-requests.ts';
import { listRuns, readTries } from '../../src/store/runs/run-store.ts';
import { readNeeds } from '../../src/needs/read-needs.ts';
import { ONE_DATABASE, MIRRORS, clockAt, kindsNamed } from '../pull/steps.ts';
import { openSandboxSource, pullFrom, RULES, sandbox } from '../pull/support.ts';
import { memoryLog } from '../runs/engine/support.ts';
import { kindNamed } from '../store/temp-mirror.ts';

const MINUTE = 60_000;
const KINDS = ['departments', 'categories'];
const NIGHTLY = { name: 'nightly', cron: '0 1 * * *', timezone: 'UTC', kinds: KINDS };
const DOWN: readonly Fault[] = [{ do: { status: 503 } }];

/** Two processes that pull by a nightly schedule, moved by hand, minute by minute, from noon. */
async function scene(session: Session) {
  const service = await sandbox({ size: 5 });
  const clock = clockAt(0);
  const log = memoryLog();
  const pings: boolean[] = [];
  const processes = ['one', 'two'].map((name) => {
    const source = openSandboxSource(service, clock);
    onTestFinished(() => source[Symbol.asyncDispose]());
    const parts = { session, source, clock, logger: log.logger, owner: name };
    const queue = createRunsQueue(parts, {
      settings: { ...RULES, baseUrl: service.url },
      listedKinds: (names) => kindsNamed(...names),
      anyKind: kindNamed,
      ping: (isWhole) => Promise.resolve(void pings.push(isWhole)),
      schedules: [NIGHTLY],
    });
    return {
      queue,
      checkSlots: createScheduleCheck(parts, NIGHTLY),
      checkRepeats: createRepeats(parts, KINDS),
    };
  });
  const checkStale = createStaleCheck({ session, clock, logger: log.logger }, [NIGHTLY]);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed(...KINDS) } });
  const step = async (): Promise<void> => {
    await Promise.all(processes.map(({ checkSlots }) => checkSlots()));
    await Promise.all(processes.map(({ checkRepeats }) => checkRepeats()));
    const [first] = processes;
    for (const ref of (await first?.queue.due(9)) ?? [])
      await first?.queue.work(ref, new AbortController().signal);
    await checkStale();
  };
  await step();
  await clock.sleep(13 * 60 * MINUTE - 1);
  return {
    service,
    clock,
    /** What a log of the default level shows. */
    logged: () => log.lines.filter((line) => Number(line['level']) > 20),
    pings,
    /** Lets minutes pass, with a look at each. */
    pass: async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute++) {
        await clock.sleep(MINUTE);
        await step();
      }
    },
    needs: async () => (await readNeeds(session, [])).map(({ type }) => type),
    runs: async () =>
      (await session.query(sql`select slot, kinds from runs where slot is not null order by id`)).map(
        ({ slot, kinds }) => [String(slot).replace('nightly@2026-03-02T01:00:00.000Z', ''), kinds],
      ),
  };
}

const both = JSON.stringify(KINDS);
const sorted = JSON.stringify(KINDS.toSorted());

describe.each(ONE_DATABASE)('what a slot could not read, in %s', (database) => {
  test('is read again after 1, 2, 5, 10, 15 … minutes, by one run, until it was; only the first failure and the end are reported', async () => {
    const session = await MIRRORS[database]();
    const { service, logged, pings, pass, runs, needs } = await scene(session);
    service.setFaults(DOWN);
    await pass(45);
    expect(await runs()).toEqual([
      ['', both],
      ...[1, 2, 3, 4, 5].map((repeat) => [`#${repeat}`, sorted]), // After 1, 3, 8, 18, 33 minutes.
    ]);
    expect(await needs()).toEqual([]);
    expect(logged().map(({ event }) => event)).toEqual(['run.failed']);
    service.setFaults([]);
    await pass(10);
    expect(logged().map(({ event }) => event)).toEqual(['run.failed', 'run.finished']);
    expect(pings).toEqual([false, true]);
    await pass(30);
    const [line, pulled] = await listRuns(session, { limit: 9 });
    expect(line).toMatchObject({ state: 'incomplete', kinds: KINDS });
    expect(line?.repeats.at(-1)).toMatchObject({ state: 'done' });
    expect(line?.repeats).toHaveLength(6);
    expect(pulled).toMatchObject({ command: 'pull', slot: null, repeats: [] });
    const last = line?.repeats.at(-1);
    const tries = (await readTries(session, last ?? { id: 0, slot: null })).map((run) => run.id);
    expect(tries).toEqual([line?.id, ...(line?.repeats.map((run) => run.id) ?? [])]);
    expect(await readTries(session, pulled ?? { id: 0, slot: null })).toHaveLength(1);
  });

  test('is reported as read again once everything that is scheduled is read', async () => {
    const session = await MIRRORS[database]();
    const { service, clock, pings, pass, runs } = await scene(session);
    const missing: Fault = { on: { kind: 'categories' }, do: { status: 404 } };
    service.setFaults([missing, { on: { kind: 'departments' }, do: { status: 503 } }]);
    await pass(3);
    service.setFaults([missing]);
    await pass(10); // The repeat reads departments, and categories are never repeated.
    expect(await runs()).toEqual([['', both], ...[1, 2].map((repeat) => [`#${repeat}`, '["departments"]'])]);
    const pullByHand = async (kind: string) => {
      const pull = { kinds: [kind], request: 'pull', now: clock.now() };
      await session.atomically((tx) => requestPull(tx, pull));
      await pass(1);
    };
    await pullByHand('departments');
    expect(pings).toEqual([false]);
    service.setFaults([]);
    await pullByHand('categories');
    expect(pings).toEqual([false, true]);
  });

  test('is reported as failed by a repeat, too, if that is the first failure', async () => {
    const session = await MIRRORS[database]();
    const { service, clock, pings, pass } = await scene(session);
    await pass(1);
    service.setFaults(DOWN);
    const repeat = { schedule: 'nightly', slot: new Date('2026-03-02T01:00:00Z'), attempt: 1, kinds: KINDS };
    await session.atomically((tx) => requestSlot(tx, { ...repeat, now: clock.now() }));
    await pass(1);
    expect(pings).toEqual([true, false]);
  });

  test('is stale after an hour, and needs a person then', async () => {
    const session = await MIRRORS[database]();
    const { service, logged, pass } = await scene(session);
    service.setFaults(DOWN);
    await pass(57); // Waits between the attempts come on top.
    expect(logged().map(({ event }) => event)).toEqual(['run.failed']);
    await pass(5);
    expect(logged().slice(1)).toMatchObject(KINDS.map((kind) => ({ event: 'kind.stale', kind })));
    const stale = KINDS.map((kind) => ({ kind, since: null }));
    expect((await readNeeds(session, stale)).map(({ type }) => type)).toEqual(['kind.unread']);
  });

  test('is read again alone; a complete pull of it in between is enough', async () => {
    const session = await MIRRORS[database]();
    const { service, clock, pass, runs } = await scene(session);
    service.setFaults([{ on: { kind: 'categories' }, do: { drop: 'before' } }]);
    await pass(3);
    expect(await runs()).toEqual([
      ['', both],
      ['#1', '["categories"]'],
    ]);
    service.setFaults([]);
    await pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed('categories') } });
    await pass(10);
    expect(await runs()).toHaveLength(2);
  });

  test('is read again, too, where another run was reading it and failed', async () => {
    const session = await MIRRORS[database]();
    const { service, pass, runs } = await scene(session);
    service.setFaults(DOWN);
    const byHand = { kinds: ['categories'], request: 'pull', now: new Date('2026-03-02T00:59:59Z') };
    await session.atomically((tx) => requestPull(tx, byHand));
    await pass(2);
    expect(await runs()).toEqual([
      ['', '["departments"]'],
      ['#1', sorted],
    ]);
    service.setFaults([]);
    await pass(3);
    expect(await runs()).toHaveLength(3);
    service.setFaults(DOWN);
    await session.atomically((tx) => requestPull(tx, byHand));
    await pass(20);
    expect(await runs()).toHaveLength(3);
  });

  test('is read again, too, where a pull by hand that came in between was stopped', async () => {
    const session = await MIRRORS[database]();
    const { service, clock, pass, runs } = await scene(session);
    service.setFaults(DOWN);
    await pass(1);
    const stop = new AbortController();
    const sleep = () => {
      stop.abort();
      return Promise.reject(stop.signal.reason as Error);
    };
    const parts = { clock: { ...clock, sleep }, signal: stop.signal };
    await pullFrom(service, session, { parts, request: { kinds: kindsNamed(...KINDS) } });
    const [stopped] = await session.query(
      sql`select count(*) as n from run_kinds where reason = 'interrupted'`,
    );
    expect(Number(stopped?.['n'])).toBe(2);
    service.setFaults([]);
    await pass(2);
    expect(await runs()).toEqual([
      ['', both],
      ['#1', sorted],
    ]);
  });

  test('is left to the next slot once that has come', async () => {
    const session = await MIRRORS[database]();
    const { service, clock, pass, runs } = await scene(session);
    service.setFaults(DOWN);
    await pass(1);
    await clock.sleep(24 * 60 * MINUTE);
    await pass(3);
    expect((await runs()).slice(0, 2)).toEqual([
      ['', both],
      [expect.stringContaining('03T01:00:00.000Z'), both],
    ]);
    expect(await runs()).toHaveLength(3);
  });

  test.each([401, 403, 404])('is not read again after a %i', async (status) => {
    const session = await MIRRORS[database]();
    const { service, pass, runs, needs } = await scene(session);
    service.setFaults([{ do: { status } }]);
    await pass(20);
    expect(await runs()).toEqual([['', both]]);
    expect(await needs()).toHaveLength(1);
  });
});
