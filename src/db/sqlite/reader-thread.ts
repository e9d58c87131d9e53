import { parentPort, workerData } from 'node:worker_threads';
import { errorCode } from '../../lib/sync-error.ts';
import type { Row } from '../session/session.ts';
import { openReader, runSync } from './connection.ts';

/** A select for the thread; each is answered once, in their order. */
export interface ThreadQuestion {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** The rows, or what the driver threw: an error that is posted loses its code. */
export type ThreadAnswer = { readonly rows: Row[] } | { readonly code: string; readonly message: string };

const reader = openReader((workerData as { readonly path: string }).path);

parentPort?.on('message', ({ sql, params }: ThreadQuestion) => {
  parentPort?.postMessage(answer(sql, params));
});

function answer(sql: string, params: readonly unknown[]): ThreadAnswer {
  try {
    return { rows: runSync(reader, sql, params) };
  } catch (error) {
    return { code: errorCode(error), message: String(error) };
  }
}
