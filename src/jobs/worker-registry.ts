import type { Clock } from '../lib/clock.ts';
import type { Session } from '../mirror/session.ts';
import { registerWorker, removeWorker, seeWorker } from '../mirror/worker-store.ts';

/** This process's entry among the workers: other processes take its rows over once it is not seen any more. */
export interface WorkerRegistry {
  readonly owner: string;
  enter(): Promise<void>;
  see(): Promise<void>;
  /** Only with no row in hand: rows of an owner without an entry are never taken over. */
  leave(): Promise<void>;
}

export interface RegistryParts {
  readonly session: Session;
  readonly owner: string;
  readonly roles: readonly string[];
  readonly clock: Clock;
}

export function createWorkerRegistry({ session, owner, roles, clock }: RegistryParts): WorkerRegistry {
  const worker = { owner, roles };
  return {
    owner,
    enter: () => registerWorker(session, worker, clock.now()),
    see: () => seeWorker(session, worker, clock.now()),
    leave: () => removeWorker(session, owner),
  };
}
