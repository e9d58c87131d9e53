import { UnrecoverableError, type Job } from 'bullmq';
import type { Logger } from '../../lib/log/logger.ts';
import { createProbingLog } from '../../lib/log/fault-log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { TIMED_OUT_RESULT, withTimeout } from '../../lib/time/deadline.ts';
import type { Notifier, WorkHandler } from '../engine/notifier.ts';
import { TIMINGS, type Timings } from '../engine/timings.ts';
import {
  createReopeningClient,
  jobOf,
  readJob,
  type OpenClient,
  type ReopeningClient,
} from './queue-client.ts';
import { openQueue } from './redis-queue.ts';

interface BullmqOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings?: Partial<Timings>;
  /** The beginning of the queues' names: two mirrors that share a store need two of them. */
  readonly prefix?: string;
}

/** Creates the notifier of processes that share work: each notification is a BullMQ job in Redis. */
export function createBullmqNotifier(
  url: string,
  { clock, logger, prefix = 'bms', ...notifierParts }: BullmqOptions,
): Notifier {
  const timings = { ...TIMINGS, ...notifierParts.timings };
  const queues = new Map<string, ReopeningClient>(); // By their names.
  const metrics = async (): Promise<string> => {
    const texts = [...queues].map(async ([name, queue]) => {
      const client = queue.get();
      if (client === null) throw new Error(`the queue ${name} is being opened again`);
      return client.queue.exportPrometheusMetrics();
    });
    return joinMetrics(await Promise.all(texts));
  };
  const probing = { probe: metrics, answerMs: timings.notifyMs, everyMs: timings.reopenMs };
  const faults = createProbingLog({ logger, clock }, { event: 'queue', name: 'the queue', ...probing });
  let isClosed = false;
  // Without a handler, jobs are only added.
  const openShared = (queue: string, concurrency = 1, handler: WorkHandler | null = null) => {
    const name = `${prefix}-${queue}`;
    const running = new Set<Promise<unknown>>();
    const logDropped = (dropped: number): void => {
      logger.warn({ queue: name, dropped }, 'jobs that are not ours were dropped');
    };
    const onJob = handler && consume(handler, running, logDropped);
    const options = { name, concurrency, commandMs: timings.notifyMs, onJob };
    const open: OpenClient = (onFault) => openQueue(url, { ...options, onFault });
    const opened = createReopeningClient(name, open, running, { clock, timings, faults });
    opened.get(); // Connects at once.
    queues.set(queue, opened);
    return opened;
  };
  return {
    subscribe: (queue, handler) => openShared(queue.name, queue.concurrency, handler),
    notify: async (queue, rows, log) => {
      if (isClosed) return false;
      const client = (queues.get(queue.name) ?? openShared(queue.name)).get();
      if (client === null) return false;
      try {
        const added = client.ready.then(() => client.queue.addBulk(rows.map((row) => jobOf(row, log))));
        if ((await withTimeout(clock, timings.notifyMs, added)) === TIMED_OUT_RESULT)
          throw new Error(`no answer within ${timings.notifyMs / 1000} s`);
        faults.succeeded(`notifying ${queue.name}`);
        return true;
      } catch (error) {
        faults.failed(`notifying ${queue.name}`, error);
      }
      return false;
    },
    metrics,
    close: async () => {
      isClosed = true;
      await faults.stop();
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

/** Joins the metrics of several queues, so that each comment appears once, before all its samples. */
function joinMetrics(texts: readonly string[]): string {
  const rows = texts.flatMap((text) => text.split('\n')).filter((row) => row !== '');
  const isComment = (row: string): boolean => row.startsWith('#');
  const comments = [...new Set(rows.filter(isComment))];
  return [...comments, ...rows.filter((row) => !isComment(row)), ''].join('\n');
}

/** Passes our jobs to a handler, and drops others; logs the 1st, 10th, 100th … one: a client may add a million. */
function consume(
  handler: WorkHandler,
  running: Set<Promise<unknown>>,
  onDropped: (dropped: number) => void,
): (job: Job) => Promise<unknown> {
  let dropped = 0;
  return async (job) => {
    const ref = readJob(job);
    if (ref === null) {
      dropped += 1;
      if (Number.isInteger(Math.log10(dropped))) onDropped(dropped);
      return null;
    }
    const work = handler(ref);
    running.add(work);
    const result = await work;
    running.delete(work);
    if (result?.hasFailed === true) throw new UnrecoverableError(result.verdict ?? result.state);
    return result && { state: result.state, verdict: result.verdict };
  };
}
