import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runsQueue } from '../../src/app/queues.ts';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { delegatePull } from '../../src/runs/delegate-pull.ts';
import { registerWorker } from '../../src/mirror/runs/worker-store.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import type { Progress } from '../../src/pull/run/parts.ts';
import type { Source } from '../../src/source/source.ts';
import { memoryLog } from '../jobs/support.ts';
import { DATABASES, MIRRORS } from '../pull/steps.ts';
import { settingsFor } from '../support/command-line.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempMirror } from '../mirror/temp-mirror.ts';
import { RULES, logger, openSandboxSource, sandbox } from '../pull/support.ts';

const owner = { name: 'us:1:a', isDead: () => false };
const kinds = LISTED_KINDS.filter(({ name }) => name === 'clients');
const request = { ...RULES, kinds, baseUrl: 'http://service', acceptNewSource: false };

/** Waits for a run with which the background service, which lives on, does this. */
async function waitFor(session: Session, deed: (runs: number) => Promise<unknown>, signal?: AbortSignal) {
  const clock = fakeClock();
  await registerWorker(session, { owner: 'them:2:b', roles: ['pulls'] }, clock.now());
  const sleep = async (ms: number): Promise<void> => {
    await deed(clock.sleeps.length);
    await clock.sleep(ms);
  };
  return delegatePull(
    { session, logger, owner, clock: { ...clock, sleep }, ...(signal && { signal }) },
    request,
  );
}

test('a run that the service has broken off for good is not said to go on', async () => {
  const session = await tempMirror();
  const handed = await waitFor(session, () =>
    session.atomically((tx) => tx.query(sql`update runs set state = 'interrupted'`)),
  );
  const detail = 'Run 1 of the background service was broken off, and is not begun again.';
  expect(handed).toMatchObject({
    report: { runId: 1, kinds: [{ kind: 'clients', state: 'aborted', detail }] },
  });
});

test('a run that the service has broken off and begun again is waited for', async () => {
  const session = await tempMirror();
  const states = ['interrupted', 'requested', 'running', 'interrupted', 'running', 'done'];
  const handed = await waitFor(session, (at) =>
    session.atomically((tx) => tx.query(sql`update runs set state = ${states[at]}`)),
  );
  expect(handed).toMatchObject({ report: { runId: 1, durationMs: 3_000 } });
});

test('a run that nobody waits for any more is said to go on', async () => {
  const session = await tempMirror();
  const stop = new AbortController();
  const stopWaiting = (): Promise<void> => {
    stop.abort();
    return Promise.resolve();
  };
  const handed = await waitFor(session, stopWaiting, stop.signal);
  const detail = 'Nobody waits for it; run 1 goes on without.';
  expect(handed).toMatchObject({ report: { kinds: [{ state: 'aborted', reason: 'interrupted', detail }] } });
});

/** A source whose lists go on, page by page, only when they are told to. */
function heldBack(source: Source) {
  let permits = 0;
  let wake = (): void => undefined;
  const permitted = async (): Promise<void> => {
    while (permits === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    permits -= 1;
  };
  const sweep: Source['sweep'] = async function* (kind, options) {
    for await (const page of source.sweep(kind, options)) {
      yield page;
      await permitted();
    }
  };
  return {
    source: { ...source, sweep },
    /** Lets the list go on by so many pages. */
    goOn: (count: number): void => {
      permits += count;
      wake();
    },
  };
}

describe.each(DATABASES)('in %s', (database) => {
  test('the command shows how far the background service is within a list, and which lists it has read', async () => {
    const service = await sandbox({ size: 60, faults: [{ do: { clampPerPage: 10 } }] });
    const session = await MIRRORS[database]();
    const clock = fakeClock();
    const opened = openSandboxSource(service, clock);
    onTestFinished(() => opened[Symbol.asyncDispose]());
    const { source, goOn } = heldBack(opened);
    const them = { name: 'them:2:b', isDead: () => false };
    await registerWorker(session, { owner: them.name, roles: ['pulls'] }, clock.now());
    const config = loadConfig({ env: settingsFor(service, 'unused') });
    const queue = runsQueue(config, { session, source, clock, logger, owner: them });
    let working: Promise<unknown> = Promise.resolve();
    const seen: Progress[] = [];
    const landed = async (): Promise<number> =>
      Number((await session.query(sql`select count(*) as n from sightings`))[0]?.['n']);
    const hasEnded = async (): Promise<number> =>
      (await session.query(sql`select 1 from runs where state = 'done'`)).length;
    /** The service begins, and lands one page between two polls of the command. */
    const deed = async (polls: number): Promise<void> => {
      if (polls === 0) {
        for (const ref of await queue.due(1)) working = queue.work(ref, new AbortController().signal);
        await expect.poll(landed, { interval: 5 }).toBeGreaterThan(0);
        return;
      }
      const before = await landed();
      const isRead = seen.at(-1)?.pages === 6;
      goOn(isRead ? Infinity : 1);
      await expect.poll(isRead ? hasEnded : landed, { interval: 5 }).toBeGreaterThan(isRead ? 0 : before);
    };
    const sleep = async (ms: number): Promise<void> => {
      await deed(clock.sleeps.length);
      await clock.sleep(ms);
    };
    const onProgress = (progress: Progress): void => void seen.push(progress);
    const parts = { session, logger, owner, clock: { ...clock, sleep }, onProgress };
    const handed = await delegatePull(parts, { ...request, baseUrl: service.url });
    await working;
    expect(handed).toMatchObject({ report: { kinds: [{ kind: 'clients', state: 'certified', rows: 60 }] } });
    expect(seen).toEqual(
      expect.arrayContaining([
        { kind: 'clients', pages: 1, rows: 10, lastPage: null },
        { kind: 'clients', pages: 2, rows: 20, lastPage: 6 },
        { kind: 'clients', pages: 5, rows: 50, lastPage: 6 },
        { kind: 'clients', pages: 6, rows: 60, lastPage: 6 },
      ]),
    );
  });

  test('a command whose run must wait says what the background service works first', async () => {
    const session = await MIRRORS[database]();
    const log = memoryLog();
    const clock = fakeClock();
    await registerWorker(session, { owner: 'them:2:b', roles: ['pulls'] }, clock.now());
    await session.atomically((tx) =>
      tx.query(sql`
        insert into runs (command, kinds, state, owner, requested_at, started_at, epoch, lease_until)
        values ('verify', '["products","bookings"]', 'running', 'them:2:b', '2026-03-01 11:59:00.000',
          '2026-03-01 11:59:00.000', 1, '2026-03-01 12:59:00.000')`),
    );
    const sleep = async (ms: number): Promise<void> => {
      if (clock.sleeps.length === 3)
        await session.atomically((tx) => tx.query(sql`update runs set state = 'done'`));
      await clock.sleep(ms);
    };
    await delegatePull({ session, logger: log.logger, owner, clock: { ...clock, sleep } }, request);
    expect(log.lines.map(({ msg }) => msg)).toEqual([
      'asked the background service for it',
      'run 2 waits: the background service works verify products bookings first',
    ]);
  });
});
