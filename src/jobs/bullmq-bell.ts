import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { Beat, Bell } from './bell.ts';
import { createLine } from './bullmq-line.ts';
import type { Line } from './bullmq-line.ts';
import { createFaultLog } from './fault-log.ts';
import type { JobStore } from './job-store.ts';
import { PACE } from './pace.ts';
import type { Pace } from './pace.ts';
import { createPostgresStore } from './postgres-store.ts';
import { createRedisStore } from './redis-store.ts';
import type { WorkQueue } from './work-queue.ts';

export interface BullmqParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pace?: Partial<Pace>;
  /** Begins the queues' names: two mirrors that share a store need two of them. */
  readonly prefix?: string;
}

/** Begins the queues' names where nobody says otherwise. */
export const PREFIX = 'bms';

/**
 * The bell of processes that share work, by BullMQ in Redis (`redis://`, `rediss://`) or PostgreSQL (`postgres://`).
 *
 * @throws {UsageError} `jobs.bad_address` where the address is none of these.
 */
export function createBullmqBell(
  url: string,
  { pace: changes, prefix = PREFIX, ...parts }: BullmqParts,
): Bell {
  const pace = { ...PACE, ...changes };
  const store = storeOf(url, pace);
  const faults = createFaultLog(parts);
  const lines = new Map<string, Line>();
  let isClosed = false;
  const lineOf = (queue: WorkQueue): Line => {
    const known = lines.get(queue.name);
    const line =
      known ?? createLine({ ...parts, store, pace, faults, queue, name: `${prefix}-${queue.name}` });
    lines.set(queue.name, line);
    return line;
  };
  return {
    ring: async (queue, rings) => !isClosed && lineOf(queue).ring(rings),
    listen: (queue, onRing) => {
      if (!isClosed) lineOf(queue).listen(onRing);
      return Promise.resolve();
    },
    beat: async () => worstOf(await Promise.all([...lines.values()].map((line) => line.beat()))),
    restart: () => {
      for (const line of lines.values()) line.restart();
      return Promise.resolve();
    },
    metrics: async () => joined(await Promise.all([...lines.values()].map((line) => line.metrics()))),
    close: async () => {
      isClosed = true;
      await Promise.all([...lines.values()].map((line) => line.close()));
    },
  };
}

/** One text of several, in which each comment stands once, before all that it is about. */
function joined(texts: readonly string[]): string {
  const rows = texts.flatMap((text) => text.split('\n')).filter((row) => row !== '');
  const isComment = (row: string): boolean => row.startsWith('#');
  const comments = [...new Set(rows.filter(isComment))];
  return [...comments, ...rows.filter((row) => !isComment(row)), ''].join('\n');
}

const WORST_FIRST: readonly Beat[] = ['lost', 'unsent', 'busy'];

function worstOf(beats: readonly Beat[]): Beat {
  return WORST_FIRST.find((beat) => beats.includes(beat)) ?? 'heard';
}

/** @throws {UsageError} `jobs.bad_address` */
export function storeOf(url: string, { ringMs }: Pace): JobStore {
  if (/^rediss?:\/\//.test(url)) return createRedisStore({ url, ringMs });
  if (/^postgres(?:ql)?:\/\//.test(url)) return createPostgresStore({ url, ringMs });
  throw new UsageError('QUEUE_URL is not an address that a queue can be kept at.', {
    code: 'jobs.bad_address',
    hint: 'Write redis://HOST:6379, rediss://… or postgres://USER:PASSWORD@HOST:5432/DATABASE; or leave it out for a single process.',
  });
}
