import { EventEmitter, once } from 'node:events';
import { startDailyCheck } from '../checks/database-file.ts';
import { checkQueue } from '../checks/queue.ts';
import { watchReplacement } from '../checks/replaced-database.ts';
import type { Config } from '../config/settings.ts';
import { startAlerts } from '../feed/alerts.ts';
import { startDigest } from '../feed/digest.ts';
import { createSender } from '../feed/webhooks/sender.ts';
import { startTests } from '../feed/webhooks/test-event.ts';
import { startEngine } from '../runs/engine/engine.ts';
import { createInProcessNotifier, type Notifier } from '../runs/engine/notifier.ts';
import type { Logger } from '../lib/log/logger.ts';
import { atMostEvery } from '../lib/log/repeat.ts';
import { SyncError } from '../lib/sync-error.ts';
import { systemClock, type Clock } from '../lib/time/clock.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { claimSource } from '../store/kinds/source-binding.ts';
import { ownersAtWork, registerAlone, type Worker } from '../store/runs/worker-store.ts';
import { probeBlocks } from '../store/outbox/outbox-queue.ts';
import { watchAppends, watchWrites } from '../db/session/write-watch.ts';
import { freezeIfRestored, type OpenMark } from '../outbound/freeze.ts';
import { openSendMark } from '../outbound/send-mark.ts';
import { createOwner, type Owner, type PullParts } from '../pull/run/parts.ts';
import { watchDatabase, watchService } from '../runs/outages.ts';
import type { Session } from '../db/session/session.ts';
import type { Source } from '../source/source.ts';
import { pullsToCome, startFreshness, startPulling } from './keep-pulling.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { pullSettings } from './pull.ts';
import { schedulesOf } from './schedules.ts';
import { sendingRules } from './sending-rules.ts';
import { outboundQueue, runsQueue, webhooksQueue } from './queues.ts';
import type { HttpParts } from './serve-http.ts';

/** The roles of a background process; several processes may share the work. */
export const ROLES = ['pulls', 'outbound', 'webhooks', 'http'] as const;
export type Role = (typeof ROLES)[number];

interface ServeCommand {
  readonly logger: Logger;
  readonly logFault?: HttpParts['logFault'];
  readonly roles: readonly Role[];
  /** Ends the service once it fires: running work is finished, no more is claimed. */
  readonly signal: AbortSignal;
  /** Called once the HTTP API listens. */
  readonly onListening?: HttpParts['onListening'];
}

/**
 * Works due runs and outbox entries, and serves the HTTP API, until the signal fires.
 *
 * @throws {OtherSourceError} If the mirror holds the data of another base URL. @throws {SyncError} `serve.running` if another
 * process serves the same SQLite file.
 */
export async function serve(config: Config, command: ServeCommand): Promise<void> {
  const { logger, roles } = command;
  const clock = systemClock;
  const watching = { clock, logger };
  // Its retries are no outcome: they are told at the level debug only.
  const outcomes = logger.isLevelEnabled('debug') ? logger : logger.child({}, { level: 'error' });
  await using opened = openConfiguredSource(config, { clock, logger: outcomes });
  const source = watchService(opened, watching);
  const owner = createOwner();
  await using mirror = await openMirror(config, (found) => refuseSecond(found, owner, clock));
  await using guarded = watchReplacement(mirror, config.database.url, { clock, logger, owner: owner.name });
  const { session: watched, writes } = watchWrites(watchDatabase(guarded.session, watching), clock);
  const commits = new EventEmitter();
  const session = watchAppends(watched, 'changes', () => commits.emit('events'));
  await session.makeDurable(); // A send that the journal forgets would be made again.
  const parts: PullParts = { session, source, clock, logger, owner };
  // Entries meant for one service must not be sent to another.
  await claimSource(session, { baseUrl: pullSettings(config).baseUrl, acceptNew: false });
  const worker = await enlist(config, parts, roles);
  const mark = await openSendMark(session, config.queue.url);
  try {
    await freezeIfRestored(session, { mark, now: clock.now(), logger });
    await session.atomically(probeBlocks); // The token may be another one by now.
    for (const { ok, code, detail, hint } of await checkQueue(config.queue.url))
      if (!ok) logger.warn({ code, hint }, detail); // They cost work or time later.
    await work(config, { ...parts, worker, mark, writes, commits, untold: opened }, command);
  } finally {
    mark.close();
  }
  logger.info({ event: 'serve.stopped' }, 'stopped');
}

interface WorkParts extends PullParts {
  readonly writes: HttpParts['writes'];
  readonly mark: OpenMark;
  readonly worker: Worker;
  /** Emits `events` when this process has committed change events. */
  readonly commits: EventEmitter;
  /** The source without the watch on outages: a reading between sweeps tries once, which shows none. */
  readonly untold: Source;
}

/** How much of the grace period is for running work; in the rest, work that is cut off is recorded and connections are closed. */
const WORKING_SHARE = 0.8;

/** Events that are committed so soon after each other share a search for due endpoints. */
const EVENTS_TOGETHER_MS = 25;

async function work(config: Config, parts: WorkParts, command: ServeCommand): Promise<void> {
  const { owner, logger, clock, commits } = parts;
  const { roles, signal, onListening, logFault } = command;
  const rules = sendingRules(config);
  await using sender = createSender(clock, rules);
  const queues: WorkQueue[] = [];
  if (roles.includes('pulls')) queues.push(runsQueue(config, { ...parts, signal }));
  if (roles.includes('outbound')) queues.push(outboundQueue(config, parts));
  if (roles.includes('webhooks')) queues.push(webhooksQueue(config, { ...parts, sender, stopping: signal }));
  const notifier = await openNotifier(config, logger);
  const timings = { graceMs: config.shutdown.graceSeconds * 1000 * WORKING_SHARE };
  await using engine = startEngine({ ...parts, queues, notifier, timings });
  const wakeWebhooks = atMostEvery(EVENTS_TOGETHER_MS, clock, () => {
    engine.wake('webhooks');
  });
  commits.on('events', wakeWebhooks);
  const http = roles.includes('http') ? await loadHttp() : null;
  const further = { onListening, logFault, wakeEngine: engine.wake, queueMetrics: notifier.metrics };
  const closeHttp = await http?.serveHttp(config, { ...parts, ...further });
  const stops = [startDailyCheck({ ...parts, isDead: owner.isDead })];
  if (roles.includes('webhooks')) {
    stops.push(startTests({ ...parts, sender, rules, signal }));
    stops.push(startAlerts(parts, config.alerts));
    const { digestAt } = config.mail;
    if (digestAt !== null)
      stops.push(startDigest(parts, { at: digestAt, timezone: config.schedules.timezone }));
  }
  if (roles.includes('pulls')) {
    stops.push(startPulling(config, parts));
    stops.push(startFreshness(config, { ...parts, source: parts.untold }));
  }
  tellStart(config, parts, roles);
  try {
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({ event: 'serve.stopping' }, 'stopping: finishing the running work');
  } finally {
    await Promise.all([...stops.map((stop) => stop()), closeHttp?.(), engine.close()]);
  }
}

/** Loads Fastify. Apart, because tsc leaves a dynamic import beside `await using` as it is. */
const loadHttp = () => import('./serve-http.ts');

async function openNotifier({ queue }: Config, logger: Logger): Promise<Notifier> {
  if (queue.url === null) return createInProcessNotifier();
  const { createBullmqNotifier } = await import('../runs/bullmq/notifier.ts'); // 30 MB that only a queue is worth.
  return createBullmqNotifier(queue.url, { clock: systemClock, logger });
}

/** Makes this process a worker: the only one of a SQLite mirror. */
async function enlist(
  config: Config,
  { session, clock, owner }: PullParts,
  roles: readonly Role[],
): Promise<Worker> {
  // With writes off it does not count as `outbound`: a push would wait for it in vain.
  const counted = roles.filter((role) => role !== 'outbound' || config.outbound.writes === 'on');
  const schedules = roles.includes('pulls') ? JSON.stringify(schedulesOf(config)) : null;
  const worker = { owner: owner.name, roles: counted, schedules };
  if (session.dialect !== 'sqlite') return worker;
  const other = await registerAlone(session, worker, { now: clock.now(), isDead: owner.isDead });
  if (other === null) return worker;
  throw runningAlready(other, session);
}

/** @throws {SyncError} `serve.running` before anything is changed, where another process serves the same SQLite file. */
async function refuseSecond(session: Session, owner: Owner, clock: Clock): Promise<void> {
  if (session.dialect !== 'sqlite') return;
  const [other] = await ownersAtWork(session, { now: clock.now(), isDead: owner.isDead });
  if (other !== undefined) throw runningAlready(other, session);
}

const runningAlready = (other: string, { location }: Session): SyncError =>
  new SyncError(`${other} serves ${location} already.`, {
    code: 'serve.running',
    hint: 'A SQLite mirror has one background service; several processes share a mirror in PostgreSQL. If that one was killed in another container, start again in 45 s.',
  });

/** Tells in the log what this process is going to do. */
function tellStart(
  config: Config,
  { logger, owner, session, clock }: WorkParts,
  roles: readonly Role[],
): void {
  const { writes } = config.outbound;
  const pulls = roles.includes('pulls') ? pullsToCome(config, clock.now()) : null;
  const schedules = pulls?.schedules ?? [];
  const facts = { owner: owner.name, roles, mirror: session.location, schedules, writes };
  const words = [`serving ${roles.join(', ')}`, ...(pulls?.words ?? [])];
  if (roles.includes('outbound')) words.push(WRITES[writes]);
  logger.info({ event: 'serve.started', ...facts }, words.join('; '));
}

const WRITES = {
  on: 'writes are on: entries of the outbox are sent',
  off: 'writes are off: entries of the outbox are kept, and nothing is sent (outbound.writes)',
};
