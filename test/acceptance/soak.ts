/**
 * Runs the background service's parts for some minutes at a day a minute, while people change the service's records and
 * applications push creates without a pause, and tells what grew: `npm run acceptance:soak -- --minutes 10 [--postgres]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allKinds } from '../../src/config/known-kinds.ts';
import { startDailyCheck } from '../../src/checks/database-file.ts';
import { openMirror } from '../../src/app/open-mirror.ts';
import { openConfiguredSource } from '../../src/app/open-source.ts';
import { outboundQueue, runsQueue } from '../../src/app/queues.ts';
import { pullSettings } from '../../src/app/pull.ts';
import { startSchedules } from '../../src/app/keep-pulling.ts';
import { openSendMark } from '../../src/outbound/send-mark.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/settings.ts';
import { startEngine } from '../../src/jobs/engine.ts';
import type { Engine } from '../../src/jobs/engine.ts';
import { createInProcessNotifier } from '../../src/jobs/notifier.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { claimSource } from '../../src/mirror/kinds/source-binding.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { storeEntries } from '../../src/outbound/intake/intake.ts';
import { createOwner } from '../../src/pull/run/parts.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { PACE, fastClock } from './clock.ts';
import { countCreates, deletedRecords, tableOf, takeSample } from './figures.ts';
import type { Sample } from './figures.ts';
import { MOVING_KINDS, faults, watchLife } from './life.ts';
import { startPostgres } from './postgres.ts';
import { watchStalls } from './stalls.ts';
import type { Stalls } from './stalls.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    postgres: { type: 'boolean', default: false },
    drain: { type: 'string', default: '2.5' },
    /** Changes by people in a second, and creates pushed. */
    changes: { type: 'string', default: '20' },
    creates: { type: 'string', default: '4' },
    /** Clients of the company; other kinds scale from it. */
    size: { type: 'string', default: '300' },
    log: { type: 'string', default: 'error' },
  },
});

const MINUTE = 60_000;
/** A create whose request was lost is resent after its patience, a day; twice that parks it. */
const DRAIN_MS = Number(options.drain) * MINUTE;
const ROLES = ['pulls', 'outbound'] as const;
/** The engine's own waits stay as they are: they are the machine's, not the calendar's. */
const TIMINGS = {
  pollMs: 100 * PACE,
  heartbeatMs: 5_000 * PACE,
  takeOverMs: 5_000 * PACE,
  graceMs: 25_000 * PACE,
};

const configOf = (service: Sandbox, url: string): Config =>
  loadConfig({
    env: {},
    flags: {
      database: { url },
      source: { baseUrl: service.url, token: service.token, timeoutSeconds: 5 },
      outbound: { writes: 'on' },
      // A list loses hundreds of its records a day here.
      deletions: { holdAbove: { rows: 200, share: 0.5 }, releaseHeldAfterHours: 6 },
      schedules: { soak: { kinds: [...MOVING_KINDS], cron: '*/10 * * * *' } },
      retention: { changesDays: null, runsDays: 2, outboxDays: 2, issuesDays: 2 },
    },
  });

interface Running {
  readonly session: Session;
  readonly engine: Engine;
  readonly push: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Composes what `serve` does, on the fast calendar. */
async function startService(config: Config): Promise<Running> {
  const clock = fastClock();
  const logger = createLogger({ level: options.log, secrets: [], destination: process.stderr });
  const source = openConfiguredSource(config, { clock, logger });
  const session = await openMirror(config);
  await session.makeDurable();
  const owner = createOwner();
  const parts = { session, source, clock, logger, owner };
  await claimSource(session, { baseUrl: pullSettings(config).baseUrl, acceptNew: false });
  const mark = await openSendMark(session, config.queue.url);
  // A lease of 45 s is over in 31 ms of this calendar: one process alone need not take over from others.
  const runs = { ...runsQueue(config, parts), takeOver: () => Promise.resolve() };
  const engine = startEngine({
    queues: [runs, outboundQueue(config, { ...parts, mark })],
    notifier: createInProcessNotifier(),
    ...{ session, clock, logger, timings: TIMINGS, worker: { owner: owner.name, roles: ROLES } },
  });
  const stopSchedules = startSchedules(config, parts);
  const stopChecks = startDailyCheck({ ...parts, isDead: owner.isDead });
  let pushed = 0;
  return {
    session,
    engine,
    push: async (count) => {
      const requests = Array.from({ length: count }, () => {
        const code = `NEW-${pushed++}`;
        const kind = pushed % 2 === 0 ? 'clients' : 'providers';
        return { operation: 'create', kind, data: { code, name: `Name ${code}` }, key: code } as const;
      });
      await storeEntries(session, { kinds: allKinds(config), requests, now: clock.now() });
      engine.wake();
    },
    stop: async () => {
      await Promise.all([stopSchedules(), stopChecks()]);
      await engine.close();
      mark.close();
      await source[Symbol.asyncDispose]();
      await session.close();
    },
  };
}

const openCount = (creates: Record<string, number>): number =>
  ['ready', 'sending', 'unsettled'].reduce((sum, state) => sum + (creates[state] ?? 0), 0);

async function soak(url: string): Promise<void> {
  const minutes = Number(options.minutes);
  const service = await startSandbox({ size: Number(options.size) });
  service.setFaults(faults());
  const life = watchLife(service);
  const running = await startService(configOf(service, url));
  const { session } = running;
  const watch = watchStalls();
  const people = setInterval(life.act, 1000 / Number(options.changes));
  const began = performance.now();
  const loopDelays: Stalls[] = []; // One a minute.
  const samples: Sample[] = [await takeSample(session, 0)];
  while (performance.now() - began < minutes * MINUTE) {
    await Promise.all([running.push(Number(options.creates)), systemClock.sleep(1000)]);
    if (performance.now() - began < samples.length * MINUTE) continue;
    samples.push(await takeSample(session, samples.length));
    loopDelays.push(watch.take());
    console.error(
      JSON.stringify({ ...samples.at(-1), ...loopDelays.at(-1), creates: await countCreates(session) }),
    );
  }
  watch.stop();
  const atEnd = await countCreates(session);
  clearInterval(people);
  const drainBegan = performance.now();
  while (performance.now() - drainBegan < DRAIN_MS && openCount(await countCreates(session)) > 0)
    await systemClock.sleep(1000);
  const creates = await countCreates(session);
  const deletions = await deletedRecords(session);
  const total = Object.values(creates).reduce((sum, count) => sum + count, 0);
  const parked = Object.entries(creates).reduce(
    (sum, [state, n]) => sum + (/^parked/.test(state) ? n : 0),
    0,
  );
  const [third, last] = [samples[3]?.rssMb, samples.at(-1)?.rssMb];
  console.log(tableOf(samples));
  const figures = {
    ...{ database: session.dialect, minutes, creates, createsBeforeDrain: atEnd },
    parkedPercent: Math.round((parked / Math.max(1, total)) * 1e4) / 100,
    doubled: [...life.doubled],
    madeAgainAfterRemoval: [...life.madeAgain],
    deletions: deletions.length,
    falseDeletions: deletions.filter((record) => !life.removed.has(record)).length,
    ...{
      rssAfter3Mb: third,
      rssAtEndMb: last,
      rssRatio: third && last && Math.round((last / third) * 1e3) / 1e3,
    },
    loopDelays,
    longestLoopDelayMs: Math.max(...loopDelays.map(({ maxMs }) => maxMs)),
    longestBusyMs: Math.max(...loopDelays.map(({ busyMs }) => busyMs)),
    samples,
  };
  console.log(JSON.stringify(figures));
  await running.stop();
  await service.close();
}

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-soak-'));
  try {
    await soak(`file:${join(folder, 'mirror.db')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres();
  try {
    await soak(server.url);
  } finally {
    await server.stop();
  }
}

await (options.postgres ? onPostgres() : onSqlite());
