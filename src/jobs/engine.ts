import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Bell } from './bell.ts';
import { createDesk } from './desk.ts';
import type { Desk } from './desk.ts';
import { createFaultLog } from './fault-log.ts';
import type { FaultLog } from './fault-log.ts';
import { PACE } from './pace.ts';
import type { Pace } from './pace.ts';
import { repeat } from './repeat.ts';
import type { Repeating } from './repeat.ts';
import { createBellWatch } from './watch-bell.ts';
import { LATE, within } from './within.ts';
import type { WorkQueue } from './work-queue.ts';
import type { WorkerRegistry } from './worker-registry.ts';

export interface EngineParts {
  readonly queues: readonly WorkQueue[];
  /** The engine closes it. */
  readonly bell: Bell;
  readonly workers: WorkerRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pace?: Partial<Pace>;
}

export interface Engine extends AsyncDisposable {
  /** Looks for due rows now: to be called after one was inserted here. */
  wake(): void;
  /** Takes no more work and waits for what is in hand; after the grace, tells it to stop. */
  close(): Promise<void>;
  /** Rejects with `jobs.queue_dead` when the bell takes rings and brings none for good: the process should end. */
  readonly failed: Promise<never>;
}

/** What the engine's pieces share. */
interface Floor extends Omit<EngineParts, 'pace'> {
  readonly pace: Pace;
  readonly faults: FaultLog;
  /** Aborted when work in hand must stop. */
  readonly stop: AbortController;
  /** Aborted when no more work is taken. */
  readonly closing: AbortController;
  readonly desks: readonly { readonly queue: WorkQueue; readonly desk: Desk }[];
  readonly looks: Repeating[];
  readonly chores: Repeating[];
}

/** Finds due rows, rings for them, works them, and watches the bell and other processes meanwhile. */
export function startEngine(parts: EngineParts): Engine {
  const floor = layFloor(parts);
  let onDead: (reason: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    onDead = reject;
  });
  failed.catch(() => undefined); // Nobody is obliged to listen.
  const begun = begin(floor, onDead).catch(onDead);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shut(floor, begun));
  return {
    wake: () => {
      for (const look of floor.looks) look.wake();
    },
    close,
    failed,
    [Symbol.asyncDispose]: close,
  };
}

function layFloor(parts: EngineParts): Floor {
  const looks: Repeating[] = [];
  const shared = {
    ...parts,
    pace: { ...PACE, ...parts.pace },
    faults: createFaultLog(parts),
    stop: new AbortController(),
  };
  const desks = parts.queues.map((queue, i) => {
    const onRoom = (): void => looks[i]?.wake();
    return { queue, desk: createDesk({ ...shared, queue, signal: shared.stop.signal, onRoom }) };
  });
  return { ...shared, closing: new AbortController(), desks, looks, chores: [] };
}

async function begin(floor: Floor, onDead: (reason: unknown) => void): Promise<void> {
  const { pace, bell, workers, desks, looks, chores } = floor;
  const every = (everyMs: number, name: string, work: () => Promise<void>): Repeating =>
    repeat({ clock: floor.clock, everyMs, task: guarded(floor, name, work) });
  if (!(await enter(floor))) return;
  for (const { queue, desk } of desks) {
    await bell.listen(queue, (ring) => desk.hear(ring));
    looks.push(every(pace.lookMs, `looking for ${queue.name}`, () => desk.look()));
    chores.push(every(pace.takeOverMs, `taking over ${queue.name}`, () => queue.takeOver()));
  }
  chores.push(every(pace.seeMs, 'noting that this process lives', () => workers.see()));
  chores.push(every(pace.beatMs, 'the heartbeat', createBellWatch({ ...floor, onDead })));
}

/** Enters this process among the workers, however long the database is away; false where the engine closes first. */
async function enter({ workers, clock, pace, faults, closing }: Floor): Promise<boolean> {
  while (!closing.signal.aborted) {
    try {
      await workers.enter();
      return true;
    } catch (error) {
      faults('entering this process among the workers', error);
    }
    await clock.sleep(pace.lookMs);
  }
  return false;
}

function guarded({ faults }: Floor, name: string, work: () => Promise<void>): () => Promise<void> {
  return async () => {
    try {
      await work();
    } catch (error) {
      faults(name, error); // The next round tries again.
    }
  };
}

async function shut(floor: Floor, begun: Promise<void>): Promise<void> {
  const { clock, pace, bell, desks, stop, closing, looks, chores, workers } = floor;
  closing.abort();
  await begun;
  const inHand = Promise.all([...desks.map(({ desk }) => desk.close()), bell.close()]);
  const stopped = Promise.all([...looks, ...chores].map((each) => each.stop()));
  const isLate = (await within(clock, pace.graceMs, inHand)) === LATE;
  if (isLate) stop.abort();
  await Promise.all([inHand, stopped]);
  // Work that was cut off may have left rows in hand: those are for others to take over, by our entry.
  if (!isLate) await guarded(floor, 'leaving the workers', () => workers.leave())();
}
