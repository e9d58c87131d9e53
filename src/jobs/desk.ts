import type { Clock } from '../lib/clock.ts';
import type { Bell } from './bell.ts';
import type { FaultLog } from './fault-log.ts';
import { createHands } from './hands.ts';
import type { Pace } from './pace.ts';
import { decide, noteRing, noteWork } from './ring-memory.ts';
import type { Rung } from './ring-memory.ts';
import type { Ring, WorkQueue } from './work-queue.ts';

export interface DeskParts {
  readonly queue: WorkQueue;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly faults: FaultLog;
  /** Tells work in hand that its grace has run out. */
  readonly signal: AbortSignal;
  /** Called where more rows are due than a look takes in, and room has been made. */
  readonly onRoom: () => void;
}

/** Where one queue's due rows are found, rung and worked. */
export interface Desk {
  /** Looks for due rows once. */
  look(): Promise<void>;
  /** Works a row that the bell rang for. */
  hear(ring: Ring): Promise<void>;
  /** Takes no more work, and resolves once none is in hand. */
  close(): Promise<void>;
}

export function createDesk({ queue, bell, clock, pace, faults, signal, onRoom }: DeskParts): Desk {
  const memory = new Map<number, Rung>();
  const room = createRoom(pace.window, onRoom);
  const hands = createHands({ queue, faults, signal, onEnd: room.made });
  let isFirstLook = true; // Until one has come to its end.

  /** What is to be rung for a row; null where nothing is. */
  const settle = async (ring: Ring, free: number): Promise<Ring | null> => {
    if (hands.has(ring.id)) return null;
    const rung = memory.get(ring.id);
    const now = clock.monotonicMs();
    const decision = decide({ ring, rung, now, free, isFirstLook }, pace);
    if (decision === 'work' && rung !== undefined) {
      memory.set(ring.id, noteWork(rung, now));
      void hands.work(ring);
    }
    if (decision === 'raise') return queue.raise(ring);
    return decision === 'ring' ? ring : null;
  };

  const look = async (): Promise<void> => {
    const due = await queue.due(pace.window);
    room.look(due.length);
    forgetAllBut(memory, due);
    const free = hands.free(); // Before this look gives them work: all its rows may queue up for them.
    const rings: Ring[] = [];
    for (const row of due) {
      const ring = await settle(row, free);
      if (ring !== null) rings.push(ring);
    }
    isFirstLook = false;
    if (rings.length === 0) return;
    const sent = await bell.ring(queue, rings);
    const now = clock.monotonicMs();
    for (const { id, epoch } of rings) memory.set(id, noteRing(memory.get(id), { epoch, now, sent }));
  };

  return { look, hear: (ring) => hands.work(ring), close: () => hands.close() };
}

/** A row that is no longer due has been heard; should it come back, it is new. */
function forgetAllBut(memory: Map<number, Rung>, due: readonly Ring[]): void {
  const ids = new Set(due.map(({ id }) => id));
  for (const id of memory.keys()) if (!ids.has(id)) memory.delete(id);
}

/** Tells when half of what a full look took in has been worked: there is more behind it. */
function createRoom(
  window: number,
  onRoom: () => void,
): { readonly look: (rows: number) => void; readonly made: () => void } {
  let isFull = false;
  let worked = 0;
  return {
    look: (rows) => {
      isFull = rows === window;
      worked = 0;
    },
    made: () => {
      worked += 1;
      if (isFull && worked >= window / 2) onRoom();
    },
  };
}
