import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SyncError, errorCode } from '../../lib/sync-error.ts';
import { refusedError, tooLargeError, tooLongError, type SqlAnswer, type SqlQuestion } from './question.ts';
import type { ChildAnswer, ChildQuestion } from './sqlite-child.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'; // From src, or from dist.
const CHILD = fileURLToPath(new URL(`./sqlite-child.${EXTENSION}`, import.meta.url));
/** The limit for the whole process, Node included. SQLite limits each value, but not the memory to compile a select. */
const MOST_MEMORY_KB = 90_000;
const CHECK_MS = 20;
const HEAP = '--max-old-space-size=64';

/**
 * Answers a select over a SQLite mirror in a process of its own, which is ended after `timeoutMs`, and on Linux when it takes too
 * much memory.
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
  const watch = setInterval(() => {
    if (question.views !== null && ownMemoryKb(child.pid) > MOST_MEMORY_KB) child.kill('SIGKILL');
  }, CHECK_MS);
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
    clearInterval(watch);
    child.kill('SIGKILL');
  }
}

/** The memory that a process shares with no other; 0 if the system does not report it, or the process has ended. */
function ownMemoryKb(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(/RssAnon:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes(errorCode(error))) throw error;
    return 0;
  }
}

const unguardedError = (version: string): SyncError =>
  new SyncError(`query is off: the SQLite of Node ${version} cannot check which tables a query reads.`, {
    code: 'mcp.unguarded',
    hint: 'Use the newest Node 24. The other tools work.',
  });
