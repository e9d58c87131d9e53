import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished } from 'vitest';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import type { Notifier } from '../../../src/runs/engine/notifier.ts';
import { startEngine, type Engine } from '../../../src/runs/engine/engine.ts';
import { TIMINGS, type Timings } from '../../../src/runs/engine/timings.ts';
import type { WorkRef, WorkQueue, WorkResult } from '../../../src/lib/work-queue.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { createLogger, type Logger } from '../../../src/lib/log/logger.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { kindNamed, tempMirror } from '../../store/temp-mirror.ts';
import { byTheClock } from '../../support/tiers.ts';

/** A hundredth of the engine's times, about. */
export const QUICK: Timings = {
  ...TIMINGS,
  pollMs: 20,
  renotifyMs: 150,
  fallbackMs: 600,
  unsentFallbackMs: 150,
  notifyMs: 300,
  reopenMs: 50,
  takeOverMs: 100,
  graceMs: 2_000,
};

/** The longest that a row may wait with these times: 75 s with the real ones. */
const LONGEST_WAIT_MS = QUICK.fallbackMs + QUICK.renotifyMs + QUICK.notifyMs + 1_000; // The last for a busy machine.

export interface Log {
  readonly logger: Logger;
  readonly lines: Record<string, unknown>[];
}

export function memoryLog(): Log {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { logger: createLogger({ level: 'debug', secrets: [], destination: { write } }), lines };
}

/** A mirror of one kind, and a table of work in it. */
export async function workSession(): Promise<Session> {
  const session = await tempMirror([kindNamed('departments')]);
  await session.atomically((tx) =>
    tx.execute(
      `create table work (id integer primary key, state text not null, epoch integer not null, owner text, worked integer not null)`,
    ),
  );
  return session;
}

export interface Work {
  readonly queue: WorkQueue;
  insert(count: number): Promise<readonly number[]>;
  /** Resolves once so many rows are done. */
  done(count: number): Promise<void>;
  /** How often each row was worked. */
  counts(): Promise<readonly number[]>;
  /** Milliseconds from insertion to work, by row. */
  readonly waits: Map<number, number>;
  /** The refs that `work` was called with. */
  readonly heard: WorkRef[];
}

export interface WorkOptions {
  readonly name?: string;
  readonly concurrency?: number;
  readonly owner?: string;
  /** Works a row. */
  readonly handle?: (id: number, signal: AbortSignal) => Promise<void> | void;
  /** What working a row comes to. */
  readonly result?: (id: number) => WorkResult;
  readonly takeOver?: () => Promise<void>;
}

const DONE = { state: 'done', verdict: null, hasFailed: false };

/** A queue over the table of work, as the outbox is one over its table. */
export function workQueue(session: Session, options: WorkOptions = {}): Work {
  const { name = 'work', concurrency = 4, owner = 'test', handle, result = () => DONE } = options;
  const born = new Map<number, number>();
  const waits = new Map<number, number>();
  const heard: WorkRef[] = [];
  const counter = createCounter();
  const change = async (statement: ReturnType<typeof sql>): Promise<boolean> =>
    session.atomically(async (tx) => (await tx.query(statement)).length > 0);
  const queue: WorkQueue = {
    name,
    concurrency,
    due: async (limit) => {
      const rows = await session.query(
        sql`select id, epoch from work where state = 'ready' order by id limit ${limit}`,
      );
      return rows.map((row) => ({ id: Number(row['id']), epoch: Number(row['epoch']), task: 'test work' }));
    },
    raise: async ({ id, epoch }) => {
      const raised = await change(sql`
        update work set epoch = epoch + 1 where id = ${id} and epoch = ${epoch} and state = 'ready' returning id`);
      return raised ? { id, epoch: epoch + 1 } : null;
    },
    work: async (ref, signal) => {
      heard.push(ref);
      const { id, epoch } = ref;
      const claimed = await change(sql`
        update work set state = 'claimed', owner = ${owner}
        where id = ${id} and epoch = ${epoch} and state = 'ready' returning id`);
      if (!claimed) return null;
      waits.set(id, performance.now() - (born.get(id) ?? 0));
      try {
        await handle?.(id, signal);
      } catch (error) {
        await change(sql`update work set state = 'ready', epoch = epoch + 1 where id = ${id} returning id`);
        throw error;
      }
      await change(sql`update work set state = 'done', worked = worked + 1 where id = ${id} returning id`);
      counter.add();
      return result(id);
    },
    releaseStaleClaims: options.takeOver ?? (() => Promise.resolve()),
  };
  return {
    queue,
    waits,
    heard,
    insert: (count) =>
      session.atomically(async (tx) => {
        const ids: number[] = [];
        for (let i = 0; i < count; i += 1) {
          const [row] = await tx.query(
            sql`insert into work (state, epoch, worked) values ('ready', 0, 0) returning id`,
          );
          ids.push(Number(row?.['id']));
        }
        for (const id of ids) born.set(id, performance.now());
        return ids;
      }),
    done: counter.reached,
    counts: async () =>
      (await session.query(sql`select worked from work order by id`)).map((row) => Number(row['worked'])),
  };
}

function createCounter(): { readonly add: () => void; readonly reached: (count: number) => Promise<void> } {
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let sum = 0;
  return {
    add: () => {
      sum += 1;
      for (const { count, resolve } of waiting) if (sum >= count) resolve();
    },
    reached: (count) =>
      new Promise((resolve) => {
        if (sum >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

export interface Started {
  readonly session: Session;
  readonly notifier: Notifier;
  readonly work: readonly Work[];
  readonly log: Log;
  readonly timings?: Partial<Timings>;
  readonly owner?: string;
}

/** Starts an engine that is closed when the test ends. */
export function startTestEngine(parts: Started): Engine {
  const { session, notifier, work, log, timings = {}, owner = 'test' } = parts;
  const mirror = { session, clock: systemClock, logger: log.logger };
  const engine = startEngine(mirror, { owner, roles: ['outbox'] }, notifier, { ...QUICK, ...timings });
  for (const { queue } of work) engine.add(queue);
  onTestFinished(() => engine.close());
  return engine;
}

/** A queue's name of its own in a store that tests share. */
export const ownPrefix = (): string => `t${randomUUID().slice(0, 8)}`;

/** A process's way to notify through a Redis, under a prefix that tests do not share. */
export const bullmqNotifier = (url: string, { logger }: Log, prefix?: string, timings = QUICK): Notifier =>
  createBullmqNotifier(url, { clock: systemClock, logger, timings, ...(prefix !== undefined && { prefix }) });

/** No row has waited longer than `LONGEST_WAIT_MS`. */
export function expectSoon({ waits }: Work): void {
  expect(Math.max(...waits.values())).toBeLessThan(byTheClock(LONGEST_WAIT_MS));
}
