import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Row } from '../session/session.ts';
import type { ThreadAnswer, ThreadQuestion } from './reader-thread.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'; // From src, or from dist.
const THREAD = fileURLToPath(new URL(`./reader-thread.${EXTENSION}`, import.meta.url));

/** A read-only connection. */
export type SqliteReader = ReturnType<typeof openThreadReader>;

/**
 * Reads in a thread of its own, so that a long select stops no other work of the process: one of 174 ms held everything up for as
 * long, and for 10 ms from a thread. A select costs 15 µs more. A thread that has died is replaced by the next select.
 */
export function openThreadReader(path: string) {
  const waiting: PromiseWithResolvers<Row[]>[] = []; // The thread answers in order.
  let thread: Worker | null = null;
  const start = (): Worker => {
    const started = new Worker(THREAD, { workerData: { path } });
    const fail = (error: unknown): void => {
      thread = null;
      for (const { reject } of waiting.splice(0)) reject(error);
    };
    started.on('message', (answer: ThreadAnswer) => {
      const asked = waiting.shift();
      if ('rows' in answer) asked?.resolve(answer.rows);
      else asked?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
    });
    started.on('error', fail);
    started.on('exit', () => {
      if (thread === started) fail(new Error('The thread that reads the mirror has ended.'));
    });
    return started;
  };
  const ask = async (question: ThreadQuestion): Promise<Row[]> => {
    (thread ??= start()).postMessage(question);
    const answer = Promise.withResolvers<Row[]>();
    waiting.push(answer);
    return answer.promise;
  };
  return {
    read: (sql: string, params: readonly unknown[]) => ask({ sql, params }),
    checkpoint: async () => {
      await ask('checkpoint');
    },
    close: async () => {
      await thread?.terminate();
    },
  };
}
