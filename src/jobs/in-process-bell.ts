import type { Bell, OnRing } from './bell.ts';
import type { Ring, WorkQueue } from './work-queue.ts';

/** One queue's rings that wait, and its hands. */
interface Line {
  readonly ring: (rings: readonly Ring[]) => void;
  /** Drops what waits and lets what is in hand end. */
  readonly close: () => Promise<void>;
}

/** The bell of a process that works alone: rings wait in memory. */
export function createInProcessBell(): Bell {
  const lines = new Map<string, Line>();
  return {
    ring: (queue, rings) => {
      const line = lines.get(queue.name);
      line?.ring(rings);
      return Promise.resolve(line !== undefined);
    },
    listen: (queue, onRing) => {
      lines.set(queue.name, openLine(queue, onRing));
      return Promise.resolve();
    },
    beat: () => Promise.resolve('heard'),
    restart: () => Promise.resolve(),
    close: async () => {
      await Promise.all([...lines.values()].map((line) => line.close()));
    },
  };
}

function openLine({ concurrency }: WorkQueue, onRing: OnRing): Line {
  const waiting = new Map<number, Ring>(); // By row: a newer epoch takes the place of the older one.
  const inHand = new Set<Promise<void>>();
  let isClosed = false;
  const start = (): void => {
    for (const [id, ring] of waiting) {
      if (isClosed || inHand.size >= concurrency) return;
      waiting.delete(id);
      const end = onRing(ring).then(() => {
        inHand.delete(end);
        start();
      });
      inHand.add(end);
    }
  };
  return {
    ring: (rings) => {
      for (const ring of rings) waiting.set(ring.id, ring);
      start();
    },
    close: async () => {
      isClosed = true;
      waiting.clear();
      await Promise.all(inHand);
    },
  };
}
