import type { DueWork, WorkQueue, WorkRef, WorkResult } from '../../lib/work-queue.ts';

/**
 * Notifies worker pools that rows are due. It is a hint: it may lose notifications, double them, or be away for days, because
 * the dispatcher polls the rows anyway.
 */
export interface Notifier {
  /** Never throws, never takes longer than `Timings.notifyMs`; false where it could not be sent. @param log The mirror's identity. */
  notify(queue: WorkQueue, rows: readonly DueWork[], log: string): Promise<boolean>;
  /** Passes the notifications of a queue to a handler, at most `queue.concurrency` at once. */
  subscribe(queue: WorkQueue, handler: WorkHandler): void;
  /** The queues' own metrics in Prometheus's text format. @throws Where they cannot be read. */
  readonly metrics?: () => Promise<string>;
  /** Stops accepting notifications; keeps its connections until running handlers have ended. */
  close(): Promise<void>;
}

/** Works a row; never throws. */
export type WorkHandler = (ref: WorkRef) => Promise<WorkResult>;

/** Creates the notifier of a process that works alone. */
export function createInProcessNotifier(): Notifier {
  const handlers = new Map<string, WorkHandler>();
  return {
    notify: (queue, rows) => {
      const handler = handlers.get(queue.name);
      for (const row of rows) void handler?.(row);
      return Promise.resolve(handler !== undefined);
    },
    subscribe: (queue, handler) => handlers.set(queue.name, handler),
    close: () => {
      handlers.clear();
      return Promise.resolve();
    },
  };
}
