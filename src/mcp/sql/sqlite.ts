import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SyncError } from '../../lib/sync-error.ts';
import { refusedError, tooLargeError, tooLongError, type SqlAnswer, type SqlQuestion } from './question.ts';
import type { ChildAnswer, ChildQuestion } from './sqlite-child.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'; // From src, or from dist.
const CHILD = fileURLToPath(new URL(`./sqlite-child.${EXTENSION}`, import.meta.url));
const HEAP = '--max-old-space-size=64';

/**
 * Answers a select over a SQLite mirror in a process of its own, which is ended after `timeoutMs`.
 *
 * @throws {SyncError} `mcp.refused`, `mcp.too_long`, `mcp.too_large`; `mcp.unguarded` if Node's SQLite has no authorizer.
 */
export async function readSqlite(path: string, question: SqlQuestion): Promise<SqlAnswer> {
  const child = fork(CHILD, { execArgv: [HEAP], env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    child.kill('SIGKILL');
  }, question.timeoutMs);
  try {
    const answer = await new Promise<ChildAnswer | null>((resolve, reject) => {
      child.once('message', (message) => {
        resolve(message as ChildAnswer);
      });
      child.once('error', reject);
      child.once('exit', () => {
        resolve(null);
      });
      child.send({ ...question, path } satisfies ChildQuestion, (error) => {
        if (error !== null) resolve(null);
      });
    });
    if (answer === null) throw late.signal.aborted ? tooLongError(question.timeoutMs) : tooLargeError();
    if (answer.is === 'answer') return answer.answer;
    throw answer.is === 'refused' ? refusedError(answer.reason) : unguardedError(answer.reason);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

const unguardedError = (version: string): SyncError =>
  new SyncError(`query is off: the SQLite of Node ${version} cannot check which tables a query reads.`, {
    code: 'mcp.unguarded',
    hint: 'Use the newest Node 24. The other tools work.',
  });
