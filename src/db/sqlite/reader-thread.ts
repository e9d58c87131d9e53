import { parentPort, workerData } from 'node:worker_threads';
import { errorCode } from '../../lib/sync-error.ts';
import type { Row } from '../session/session.ts';
import { checkpoint, openReader, runSync } from './connection.ts';

/** A select for the thread, or a checkpoint; each is answered once, in their order. */
export type ThreadQuestion = { readonly sql: string; readonly params: readonly unknown[] } | 'checkpoint';

/** The rows, or what the driver threw: an error that is posted loses its code. */
export type ThreadAnswer = { readonly rows: Row[] } | { readonly code: string; readonly message: string };

const { path } = workerData as { readonly path: string };
const reader = openReader(path);

parentPort?.on('message', (question: ThreadQuestion) => {
  parentPort?.postMessage(answer(question));
});

function answer(question: ThreadQuestion): ThreadAnswer {
  try {
    if (question !== 'checkpoint') return { rows: runSync(reader, question.sql, question.params) };
    checkpoint(path);
    return { rows: [] };
  } catch (error) {
    return { code: errorCode(error), message: error instanceof Error ? error.message : String(error) };
  }
}
