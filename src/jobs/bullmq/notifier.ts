import type { Job } from 'bullmq';
import type { Clock } from '../../lib/time/clock.ts';
import { createFaultLog } from '../../lib/log/fault-log.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { LATE, within } from '../../lib/time/deadline.ts';
import type { Notifier, WorkHandler } from '../notifier.ts';
import { TIMINGS } from '../timings.ts';
import type { Timings } from '../timings.ts';
import { jobOf, readJob, createReopening } from './queue-client.ts';
import { openPostgresClient } from './postgres-client.ts';
import type { ClientOptions, QueueClient, Reopening } from './queue-client.ts';
import { openRedisClient } from './redis-client.ts';
import { createOutageLog } from '../../lib/log/outage-log.ts';
import { sleepUnlessStopped } from '../../lib/time/clock.ts';

interface BullmqParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings?: Partial<Timings>;
  /** The beginning of the queues' names: two mirrors that share a store need two of them. */
  readonly prefix?: string;
}

/**
 * Creates the notifier of processes that share work: each notification is a BullMQ job in Redis (`redis://`, `rediss://`) or
 * PostgreSQL (`postgres://`).
 *
 * @throws {UsageError} `jobs.bad_address` where the address is none of these.
 */
export function createBullmqNotifier(url: string, parts: BullmqParts): Notifier {
  const timings = { ...TIMINGS, ...parts.timings };
  const openClient = openerOf(url);
  const clients = new Map<string, Reopening>(); // By the name of their queue.
  const metrics = (): Promise<string> => allMetrics(clients);
  const faultLog = createFaultLog(parts);
  const { faults, stop } = createQueueWatch({ ...parts, timings, faults: faultLog, probe: metrics });
  const open = createOpener((options) => openClient(url, options), { ...parts, timings, faults });
  let isClosed = false;
  const openQueue = (queue: string, consumer: Consumer | null): Reopening => {
    const client = open(queue, consumer);
    client.get(); // Connects at once.
    clients.set(queue, client);
    return client;
  };
  return {
    subscribe: ({ name, concurrency }, handler) => {
      openQueue(name, { concurrency, handler });
    },
    notify: async (queue, refs) => {
      if (isClosed) return false;
      const client = (clients.get(queue.name) ?? openQueue(queue.name, null)).get();
      if (client === null) return false;
      try {
        await inTime(client.add(refs.map((ref) => jobOf(queue, ref))), parts.clock, timings.notifyMs);
        return true;
      } catch (error) {
        faults(`notifying ${queue.name}`, error);
        return false;
      }
    },
    metrics,
    close: async () => {
      isClosed = true;
      await stop();
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** How this process works a queue. */
interface Consumer {
  readonly concurrency: number;
  readonly handler: WorkHandler;
}

interface OpenerParts extends Pick<BullmqParts, 'clock' | 'logger' | 'prefix'> {
  readonly timings: Timings;
  readonly faults: FaultLog;
}

/** Opens queues by their names; without a consumer, jobs are only added. */
function createOpener(
  open: (options: ClientOptions) => QueueClient,
  { clock, logger, prefix = 'bms', timings, faults }: OpenerParts,
): (queue: string, consumer: Consumer | null) => Reopening {
  return (queue, consumer) => {
    const running = new Set<Promise<void>>();
    const name = `${prefix}-${queue}`;
    const onJob = consumer && consume(consumer.handler, running, createDropLog(logger, name));
    const options = { name, concurrency: consumer?.concurrency ?? 1, commandMs: timings.notifyMs, onJob };
    return createReopening({
      ...{ name, clock, timings, faults },
      running: async () => {
        await Promise.all(running);
      },
      open: (onFault) => open({ ...options, onFault }),
    });
  };
}

/** @throws If a queue does not tell them. */
async function allMetrics(clients: ReadonlyMap<string, Reopening>): Promise<string> {
  return joined(await Promise.all([...clients].map(([name, client]) => metricsOf(name, client))));
}

/** @throws If it takes longer. */
async function inTime(work: Promise<void>, clock: Clock, ms: number): Promise<void> {
  if ((await within(clock, ms, work)) === LATE) throw new Error(`no answer within ${ms / 1000} s`);
}

async function metricsOf(queue: string, client: Reopening): Promise<string> {
  const present = client.get();
  if (present === null) throw new Error(`the queue ${queue} is being opened again`);
  return present.metrics();
}

/** Passes jobs of ours to the handler, and drops the others. */
function consume(
  handler: WorkHandler,
  running: Set<Promise<void>>,
  drop: () => void,
): (job: Job) => Promise<void> {
  return async (job) => {
    const ref = readJob(job);
    if (ref === null) {
      drop();
      return;
    }
    const work = handler(ref);
    running.add(work);
    await work;
    running.delete(work);
  };
}

/** Logs the 1st, 10th, 100th … foreign job: a client that can add one can add a million. */
function createDropLog(logger: Logger, queue: string): () => void {
  let dropped = 0;
  return () => {
    dropped += 1;
    if (Number.isInteger(Math.log10(dropped)))
      logger.warn({ queue, dropped }, 'jobs that are not ours were dropped');
  };
}

/** Joins the metrics of several queues, so that each comment appears once, before all its samples. */
function joined(texts: readonly string[]): string {
  const rows = texts.flatMap((text) => text.split('\n')).filter((row) => row !== '');
  const isComment = (row: string): boolean => row.startsWith('#');
  const comments = [...new Set(rows.filter(isComment))];
  return [...comments, ...rows.filter((row) => !isComment(row)), ''].join('\n');
}

function openerOf(url: string): (url: string, options: ClientOptions) => QueueClient {
  if (/^rediss?:\/\//.test(url)) return openRedisClient;
  if (/^postgres(?:ql)?:\/\//.test(url)) return openPostgresClient;
  throw new UsageError('QUEUE_URL is not an address that a queue can be kept at.', {
    code: 'jobs.bad_address',
    hint: 'Write redis://HOST:6379, rediss://… or postgres://USER:PASSWORD@HOST:5432/DATABASE; or leave it out for a single process.',
  });
}

interface QueueWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: Timings;
  /** Logs faults of a store that answers. */
  readonly faults: FaultLog;
  /** Asks the store for something. @throws If it does not answer. */
  readonly probe: () => Promise<unknown>;
}

/** Tells in the log when the queue's store goes away and comes back. */
interface QueueWatch {
  readonly faults: FaultLog;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a watch that asks the store itself after a fault: libraries report faults in too many forms to tell by them whether
 * it is away. While it is away it is asked again now and then, because nothing else may use it for hours.
 */
export function createQueueWatch(parts: QueueWatchParts): QueueWatch {
  const { clock, timings, faults: log } = parts;
  const outage = createOutageLog(parts, { event: 'queue', name: 'the queue' });
  const stopping = new AbortController();
  let asking: Promise<void> | null = null;

  const ask = async (work: string, error: unknown): Promise<void> => {
    const begunAt = clock.now().getTime();
    if (await answers(parts)) log(work, error);
    else outage.failed(error, begunAt);
    while (outage.isOn()) {
      await sleepUnlessStopped(timings.reopenMs, { clock, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (await answers(parts)) outage.answered();
      else outage.failed(error, begunAt);
    }
  };
  return {
    faults: (work, error) => {
      if (stopping.signal.aborted) return;
      asking ??= ask(work, error).finally(() => {
        asking = null;
      });
    },
    stop: async () => {
      stopping.abort();
      await asking;
    },
  };
}

async function answers({ clock, timings, probe }: QueueWatchParts): Promise<boolean> {
  try {
    return (await within(clock, timings.notifyMs, probe())) !== LATE;
  } catch {
    return false; // The fault that led here says why.
  }
}
