import { EventEmitter, once } from 'node:events';
import { startDailyCheck } from '../checks/database-file.ts';
import { checkQueue } from '../checks/queue.ts';
import { checkAdminToken } from '../checks/secret-files.ts';
import { watchReplacement } from '../checks/replaced-database.ts';
import { describeSending } from '../checks/schedules.ts';
import { rolesText } from '../checks/serving.ts';
import { startStaleWatch } from '../checks/stale-kinds.ts';
import type { Config } from '../config/settings.ts';
import * as features from '../features.ts';
import { createSender } from '../events/webhooks/sender.ts';
import { startEngine } from '../runs/engine/engine.ts';
import { startRunRequests } from '../runs/request-runs.ts';
import { createInProcessNotifier, type Notifier } from '../runs/engine/notifier.ts';
import type { Logger } from '../lib/log/logger.ts';
import { THIS_PROCESS, describeOwner } from '../lib/owner.ts';
import { SyncError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { openSourceBinding } from '../pull/source-binding.ts';
import { listLiveOwners, registerOnlyWorker, type Worker } from '../store/runs/worker-store.ts';
import { readFrozen } from '../store/outbox/freeze-store.ts';
import { probeBlocks } from '../store/outbox/outbox-queue.ts';
import type { ProcessContext } from '../db/mirror-context.ts';
import { watchInserts, watchWrites } from '../db/session/write-watch.ts';
import { freezeIfRestored, type OpenSendCounter } from '../outbound/freeze.ts';
import { openSendCounter } from '../outbound/send-counter.ts';
import type { PullParts } from '../pull/parts.ts';
import { watchDatabase, watchService } from '../runs/outages.ts';
import type { Session } from '../db/session/session.ts';
import type { ServingProcess } from '../http/server.ts';
import type { Source } from '../source/source.ts';
import { describePulls, startFreshness } from './scheduled-pulls.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { pullSettings } from './pull.ts';
import { schedulesOf } from './schedules.ts';
import { sendingRules } from './sending-rules.ts';
import { createWebhookQueue } from '../events/webhooks/webhook-queue.ts';
import { outboundQueue, runsQueue } from './queues.ts';
import type { OpenDashboard } from './serve-http.ts';

/** The roles of a background process; several processes may share the work. */
export const ROLES = ['pulls', 'outbound', 'webhooks', 'http'] as const;
export type Role = (typeof ROLES)[number];

interface ServeCommand {
  readonly logger: Logger;
  /** Why the last line of the log could not be written; null where it was. */
  readonly logFault?: ServingProcess['logFault'];
  readonly roles: readonly Role[];
  /** Ends the service once it fires: running work is finished, no more is claimed. */
  readonly signal: AbortSignal;
  /** Called once the HTTP API listens. */
  readonly onListening?: (dashboard: OpenDashboard) => void;
}

/**
 * Works due runs and outbox entries, and serves the HTTP API, until the signal fires.
 * @throws {OtherSourceError} If the mirror holds the data of another base URL. @throws {SyncError} `serve.running` if another
 * process serves the same SQLite file.
 */
export async function serve(config: Config, command: ServeCommand): Promise<void> {
  const { logger, roles } = command;
  const clock = systemClock;
  const owner = THIS_PROCESS;
  // Logs retries at debug only.
  const quietLogger = logger.isLevelEnabled('debug') ? logger : logger.child({}, { level: 'error' });
  await using rawSource = openConfiguredSource(config, { clock, logger: quietLogger });
  await using mirror = await openMirror(config, {
    beforeWriting: (session) => refuseSecondServe({ session, clock, logger, owner }),
    readsInThread: true,
    keepsSettings: true,
  });
  if (config.deletions.releaseHeldAfterHours !== null)
    logger.warn('deletions.releaseHeldAfterHours does nothing any more: held deletions wait for a person');
  await using watched = watchMirror({ session: mirror, clock, logger, owner }, config.database.url);
  const { session } = watched;
  await session.makeDurable(); // Without durable commits, a crash could repeat a send.
  const source = watchService(rawSource, { clock, logger });
  // Entries meant for one service must not be sent to another.
  await openSourceBinding(session, pullSettings(config).baseUrl, false);
  const parts: PullParts = { session, source, clock, logger, owner };
  const worker = await joinWorkers(config, parts, roles);
  const sendCounter = await openSendCounter(session, config.queue.url);
  try {
    await freezeIfRestored(session, sendCounter, clock.now(), logger);
    await session.atomically(probeBlocks); // The token may be another one by now.
    const checks = [...checkAdminToken(config.server.adminToken), ...(await checkQueue(config.queue.url))];
    for (const { ok, code, detail, hint } of checks) if (!ok) logger.warn({ code, hint }, detail); // They cost work or time later.
    await work(config, { parts, rawSource, worker, sendCounter, watched }, command);
  } finally {
    sendCounter.close();
  }
  logger.info({ event: 'serve.stopped' }, 'stopped');
}

/**
 * Watches an open mirror: its session logs outages, and refuses writes once the database was replaced; `commits` emits `events`
 * when this process has committed change events.
 */
function watchMirror(rawSource: ProcessContext, url: string) {
  const { clock, logger, owner } = rawSource;
  const guarded = watchReplacement(rawSource, url, owner);
  const counted = watchWrites(watchDatabase(guarded.session, { clock, logger }), clock);
  const commits = new EventEmitter();
  const session = watchInserts(counted.session, 'changes', () => commits.emit('events'));
  return { session, writes: counted.writes, commits, [Symbol.asyncDispose]: guarded[Symbol.asyncDispose] };
}

/** What the roles of a service share. */
interface Service {
  readonly parts: PullParts;
  /** The source without outage logging, for single-page reads. */
  readonly rawSource: Source;
  readonly worker: Worker;
  readonly sendCounter: OpenSendCounter;
  readonly watched: ReturnType<typeof watchMirror>;
}

/** Share of the grace period for running work. The rest is for recording aborted work and closing connections. */
const WORKING_SHARE = 0.8;

async function work(config: Config, service: Service, command: ServeCommand): Promise<void> {
  const { parts, rawSource, worker, sendCounter, watched } = service;
  const { roles, signal, logFault, onListening } = command;
  await using sender = createSender(parts.clock, sendingRules(config));
  const notifier = await openNotifier(config, parts.logger);
  const graceMs = config.shutdown.graceSeconds * 1000 * WORKING_SHARE;
  await using engine = startEngine(parts, worker, notifier, { graceMs });
  watched.commits.on('events', () => engine.wake('webhooks'));
  const process: ServingProcess = {
    ...parts,
    writes: watched.writes,
    sendCounter: sendCounter,
    wakeEngine: engine.wake,
    queueMetrics: notifier.metrics,
    logFault,
  };
  const stops = [startDailyCheck(parts)];
  try {
    // The server first: where it cannot listen, nothing else begins.
    if (roles.includes('http')) stops.push(await (await loadHttp()).serveHttp(config, process, onListening));
    if (roles.includes('pulls')) {
      engine.add(runsQueue(config, parts));
      const schedules = schedulesOf(config);
      stops.push(startRunRequests(parts, schedules), startStaleWatch(parts, schedules));
      stops.push(startFreshness(config, { ...parts, source: rawSource }));
    }
    if (roles.includes('outbound')) engine.add(outboundQueue(config, parts, sendCounter));
    if (roles.includes('webhooks')) {
      const { retrySeconds } = config.webhooks;
      const rules = { retrySeconds, reader: sendingRules(config), random: Math.random };
      engine.add(createWebhookQueue(parts, sender, rules, signal));
      for (const start of await features.loadAll(features.WORK))
        stops.push(...start(config, parts, features.needsOfFeatures));
    }
    await logStart(config, parts, worker.roles);
    if (!signal.aborted) await once(signal, 'abort');
    parts.logger.info({ event: 'serve.stopping' }, 'stopping: finishing the running work');
  } finally {
    await Promise.all([...stops.map((stop) => stop()), engine.close()]);
  }
}

/** Loads Fastify. Apart, because tsc leaves a dynamic import beside `await using` as it is. */
const loadHttp = () => import('./serve-http.ts');

async function openNotifier(config: Config, logger: Logger): Promise<Notifier> {
  if (config.queue.url === null) return createInProcessNotifier();
  const { createBullmqNotifier } = await import('../runs/bullmq/notifier.ts'); // 30 MB that only a queue is worth.
  return createBullmqNotifier(config.queue.url, { clock: systemClock, logger });
}

/** Makes this process a worker: the only one of a SQLite mirror. */
async function joinWorkers(config: Config, context: ProcessContext, roles: readonly Role[]): Promise<Worker> {
  const { session, owner } = context;
  // With writes off, this process is not registered as `outbound`, so that push --wait does not wait for it.
  const counted = roles.filter((role) => role !== 'outbound' || config.outbound.writes === 'on');
  const schedules = roles.includes('pulls') ? JSON.stringify(schedulesOf(config)) : null;
  const worker = { owner, roles: counted, schedules };
  if (session.dialect !== 'sqlite') return worker;
  const otherOwner = await registerOnlyWorker(session, worker);
  if (otherOwner === null) return worker;
  throw alreadyRunning(otherOwner, session);
}

/** @throws {SyncError} `serve.running` before anything is changed, where another process serves the same SQLite file. */
async function refuseSecondServe(context: ProcessContext): Promise<void> {
  const { session } = context;
  if (session.dialect !== 'sqlite') return;
  const [otherOwner] = await session.atomically(listLiveOwners);
  if (otherOwner !== undefined) throw alreadyRunning(otherOwner, session);
}

const alreadyRunning = (otherOwner: string, session: Session): SyncError =>
  new SyncError(`${session.location} is already served by ${describeOwner(otherOwner)}.`, {
    code: 'serve.running',
    hint: 'A SQLite mirror has one background service; several processes share a mirror in PostgreSQL. If that one was killed in another container, start again in 45 s.',
  });

/** Logs what this process is going to do. */
async function logStart(config: Config, context: ProcessContext, roles: Worker['roles']): Promise<void> {
  const { writes } = config.outbound;
  const pulls = roles.includes('pulls') ? describePulls(config, context.clock.now()) : null;
  const { schedules = [], unscheduled = [] } = pulls ?? {};
  const { location: mirror } = context.session;
  const frozen = await readFrozen(context.session);
  const facts = { owner: context.owner, roles, mirror, schedules, unscheduled, writes, frozen };
  const words = [`serving ${rolesText(roles)} as ${describeOwner(context.owner)}`, ...(pulls?.words ?? [])];
  if (writes === 'off' || roles.includes('outbound')) words.push(describeSending(writes, frozen !== null));
  context.logger.info({ event: 'serve.started', ...facts }, words.join('; '));
}
