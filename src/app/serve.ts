import { once } from 'node:events';
import { createSender } from '../feed/webhooks/sender.ts';
import type { Sender } from '../feed/webhooks/sender.ts';
import { syncEndpoints } from '../feed/webhooks/sync-endpoints.ts';
import { startDailyCheck } from '../checks/database-file.ts';
import { checkRedis, isRedis } from '../checks/queue.ts';
import type { Config } from '../config/settings.ts';
import { startEngine } from '../jobs/engine.ts';
import { createInProcessNotifier } from '../jobs/notifier.ts';
import type { Notifier } from '../jobs/notifier.ts';
import { systemClock, instantOf } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { WorkQueue } from '../lib/work-queue.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { registerAlone } from '../mirror/runs/worker-store.ts';
import type { Worker } from '../mirror/runs/worker-store.ts';
import type { Session } from '../mirror/session/session.ts';
import { watchWrites } from '../mirror/session/write-watch.ts';
import { freezeIfRestored } from '../outbound/freeze.ts';
import { openSendMark } from '../outbound/send-mark.ts';
import { createOwner } from '../pull/run/parts.ts';
import { startSnapshots } from '../report/keep-snapshot.ts';
import { watchDatabase, watchService } from '../runs/outages.ts';
import type { Source } from '../source/source.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { pullSettings } from './pull.ts';
import { outboundQueue, runsQueue } from './queues.ts';
import type { ServiceParts } from './queues.ts';
import type { Role } from './roles.ts';
import { startSchedules, startFreshness, allSchedules } from './schedules.ts';
import { notifyDeliverers, wakeDeliverers, watchEvents, webhooksQueue, endpointsOf } from './webhooks.ts';
import type { EventSignal } from './webhooks.ts';
import type { HttpParts } from './serve-http.ts';
import { isAllOverruled } from '../checks/plans.ts';
import { nextSlots } from '../jobs/schedule.ts';
import type { ScheduleSlot } from '../jobs/schedule.ts';

interface ServeCommand {
  readonly logger: Logger;
  readonly roles: readonly Role[];
  /** The arguments with which Node runs this program, before the name of a command; null writes no snapshots. */
  readonly program: readonly string[] | null;
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
  await using opened = openConfiguredSource(config, { clock, logger: outcomesOnly(logger) });
  const source = watchService(opened, watching);
  await using mirror = await openMirror(config);
  const { session: plain, writes } = watchWrites(watchDatabase(mirror, watching), clock);
  const { session, events } = watchEvents(plain);
  await session.makeDurable(); // A send that the journal forgets would be made again.
  const parts: ServiceParts = { session, source, clock, logger, owner: createOwner() };
  // Entries meant for one service must not be sent to another.
  await claimSource(session, { baseUrl: pullSettings(config).baseUrl, acceptNew: false });
  const worker = workerOf(config, parts, roles);
  if (session.dialect === 'sqlite') await refuseSecond(parts, worker);
  const mark = await openSendMark(config);
  try {
    await freezeIfRestored(session, { mark, now: clock.now(), logger });
    await warnOfQueue(config, logger);
    await work(config, { ...parts, worker, mark, writes, plain, events, untold: opened }, command);
  } finally {
    mark.close();
  }
  logger.info({ event: 'serve.stopped' }, 'stopped');
}

/** A logger for parts whose retries are no outcome: they are told at the level debug only. */
function outcomesOnly(logger: Logger): Logger {
  return logger.isLevelEnabled('debug') ? logger : logger.child({}, { level: 'error' });
}

interface WorkParts extends ServiceParts, Pick<HttpParts, 'writes' | 'mark'> {
  readonly worker: Worker;
  /** The session without the watch on events: planning a delivery is no event. */
  readonly plain: Session;
  readonly events: EventSignal;
  /** The source without the watch on outages: a reading between sweeps tries once, which shows none. */
  readonly untold: Source;
}

async function work(
  config: Config,
  parts: WorkParts,
  { roles, program, signal, onListening }: Omit<ServeCommand, 'logger'>,
): Promise<void> {
  const { session, owner, logger, clock, plain } = parts;
  await using sender = createSender({ clock, allowHosts: config.webhooks.allowHosts });
  const queues = queuesOf(config, { ...parts, sender }, { roles, signal });
  const notifier = await openNotifier(config, logger);
  const timings = { graceMs: config.shutdown.graceSeconds * 1000 };
  const delivers = roles.includes('webhooks');
  if (delivers) await syncEndpoints(plain, endpointsOf(config), clock.now());
  await using engine = startEngine({ ...parts, queues, notifier, timings });
  const stopNotifying = delivers
    ? wakeDeliverers(parts, engine)
    : notifyDeliverers({ ...parts, session: plain }, notifier);
  const closeHttp = await openHttp(config, roles, {
    ...parts,
    onListening,
    wakeEngine: engine.wake,
    queueMetrics: notifier.metrics,
  });
  const stopSchedules = startSchedules(config, parts, roles);
  const stopFreshness = startFreshness(config, { ...parts, source: parts.untold }, roles);
  const stopSnapshots =
    program !== null && roles.includes('pulls') ? startSnapshots(config, { ...parts, program }) : null;
  const stopChecks = startDailyCheck({ ...parts, isDead: owner.isDead });
  tellStart(logger, config, { owner: owner.name, roles, mirror: session.location, now: parts.clock.now() });
  try {
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({ event: 'serve.stopping' }, 'stopping: finishing the running work');
  } finally {
    await Promise.all([stopSchedules(), stopFreshness(), stopSnapshots?.(), stopChecks()]);
    await Promise.all([closeHttp(), stopNotifying()]);
  }
}

function queuesOf(
  config: Config,
  parts: WorkParts & { readonly sender: Sender },
  { roles, signal }: Pick<ServeCommand, 'roles' | 'signal'>,
): readonly WorkQueue[] {
  return [
    ...(roles.includes('pulls') ? [runsQueue(config, { ...parts, signal })] : []),
    ...(roles.includes('outbound') ? [outboundQueue(config, parts)] : []),
    ...(roles.includes('webhooks')
      ? [webhooksQueue(config, { ...parts, session: parts.plain, stopping: signal })]
      : []),
  ];
}

async function openNotifier({ queue }: Config, logger: Logger): Promise<Notifier> {
  if (queue.url === null) return createInProcessNotifier();
  const { createBullmqNotifier } = await import('../jobs/bullmq/notifier.ts'); // 30 MB that only a queue is worth.
  return createBullmqNotifier(queue.url, { clock: systemClock, logger });
}

/** Serves the HTTP API where that is one of the roles; returns what ends it. */
async function openHttp(
  config: Config,
  roles: readonly Role[],
  parts: HttpParts,
): Promise<() => Promise<void>> {
  if (!roles.includes('http')) return () => Promise.resolve();
  const { serveHttp } = await import('./serve-http.ts'); // Fastify and the metrics: no other role needs them.
  return serveHttp(config, parts);
}

/** With writes off this process does not count as `outbound`: a push would wait for it in vain. */
function workerOf({ outbound }: Config, { owner }: ServiceParts, roles: readonly Role[]): Worker {
  return {
    owner: owner.name,
    roles: roles.filter((role) => role !== 'outbound' || outbound.writes === 'on'),
  };
}

async function refuseSecond({ session, clock, owner }: ServiceParts, worker: Worker): Promise<void> {
  const other = await registerAlone(session, worker, { now: clock.now(), isDead: owner.isDead });
  if (other === null) return;
  throw new SyncError(`${other} serves ${session.location} already.`, {
    code: 'serve.running',
    hint: 'A SQLite mirror has one background service; several processes share a mirror in PostgreSQL.',
  });
}

/** Logs at start-up the queue settings that cost work or time later. */
async function warnOfQueue({ queue }: Config, logger: Logger): Promise<void> {
  if (queue.url === null || !isRedis(queue.url)) return;
  for (const { ok, code, detail, hint } of await checkRedis(queue.url))
    if (!ok) logger.warn({ code, hint }, detail);
}

interface Starting {
  readonly owner: string;
  readonly roles: readonly Role[];
  /** Where the mirror is, without a password. */
  readonly mirror: string;
  readonly now: Date;
}

/** Tells in the log what the background service is going to do. */
export function tellStart(logger: Logger, config: Config, { owner, roles, mirror, now }: Starting): void {
  const pulls = roles.includes('pulls');
  const slots = pulls ? nextSlots(allSchedules(config), now) : [];
  const schedules = slots.map(({ name, cron, kinds, at }) => ({ name, cron, kinds, next: isoOf(at) }));
  const { writes } = config.outbound;
  const facts = { event: 'serve.started', owner, roles, mirror, schedules, writes };
  const told = [
    `serving ${roles.join(', ')}`,
    ...(pulls ? [pullsText(slots), ...betweenText(config)] : []),
    ...(roles.includes('outbound') ? [WRITES[writes]] : []),
  ];
  logger.info(facts, told.join('; '));
  if (pulls && isAllOverruled(config, slots))
    logger.warn(
      'schedules.all is not in force, because another schedule is set: give it another name, such as everything',
    );
}

const WRITES = {
  on: 'writes are on: entries of the outbox are sent',
  off: 'writes are off: entries of the outbox are kept, and nothing is sent (outbound.writes)',
};

const isoOf = (at: string): string => instantOf(at).toISOString();

function betweenText({ freshness: { requestsPerMinute: budget } }: Config): readonly string[] {
  return budget === null ? [] : [`up to ${budget} requests a minute read pages between sweeps`];
}

function pullsText(slots: readonly ScheduleSlot[]): string {
  const pulls = slots.filter(({ verifies }) => !verifies);
  const [first] = pulls;
  if (first === undefined) return 'nothing is pulled by itself, because no schedule is set (schedules)';
  return `${pulls.length === 1 ? 'the schedule' : `${pulls.length} schedules, the next one`} ${first.name} is due at ${isoOf(first.at)}`;
}
