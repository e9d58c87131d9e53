import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SyncError, isOurs } from '../../../lib/sync-error.ts';
import { refusedError, tooLargeError, tooLongError, type SqlQuestion } from './question.ts';
import type { ChildAnswer, ChildQuestion } from './sqlite-child.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'; // From src, or from dist.
const CHILD = fileURLToPath(new URL(`./sqlite-child.${EXTENSION}`, import.meta.url));
/** The limit for the whole process, Node included. SQLite limits each value, but not the memory to compile a select. */
const MOST_MEMORY_KB = 120_000;
const MOST_TEMPORARY_BYTES = 256_000_000;
const CHECK_MS = 20;
const HEAP = '--max-old-space-size=64';

/**
 * Answers a select over a SQLite mirror in a process of its own, which is ended after `timeoutMs`, and on Linux when it takes too
 * much memory or disk.
 *
 * @throws {SyncError} `mcp.refused`, `mcp.too_long`, `mcp.too_large`; `mcp.unguarded` if Node's SQLite has no authorizer.
 */
export async function readSqlite(path: string, question: SqlQuestion, ended: AbortSignal) {
  const child = fork(CHILD, { execArgv: [HEAP], env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const late = AbortSignal.any([ended, AbortSignal.timeout(question.timeoutMs)]);
  late.addEventListener('abort', () => child.kill('SIGKILL'));
  const watch = setInterval(() => {
    if (isTooLarge(child.pid)) child.kill('SIGKILL');
  }, CHECK_MS);
  try {
    child.send({ ...question, path } satisfies ChildQuestion, () => undefined); // One that gets no question has ended.
    const ended = once(child, 'exit').then((): readonly [null] => [null]);
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as readonly [ChildAnswer | null];
    if (answer === null) throw late.aborted ? tooLongError(question.timeoutMs) : tooLargeError();
    if (answer.is === 'answer') return answer.answer;
    throw answer.is === 'refused' ? refusedError(answer.reason) : unguardedError(answer.reason);
  } finally {
    clearInterval(watch);
    child.kill('SIGKILL');
  }
}

/** Whether a process takes too much memory that it shares with no other, or too much disk; false if the system reports neither. */
function isTooLarge(pid: number | undefined): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const memoryKb = Number(/RssAnon:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    return memoryKb > MOST_MEMORY_KB || temporaryBytes(`/proc/${pid}/fd`) > MOST_TEMPORARY_BYTES;
  } catch (error) {
    if (isOurs(error)) throw error;
    return false; // It has ended, or closed a file; only root may look at a process that is just ending.
  }
}

/** The size of the files that a process uses and has already deleted, as SQLite does with those that it sorts in. */
const temporaryBytes = (folder: string): number =>
  readdirSync(folder)
    .map((name) => `${folder}/${name}`)
    .filter((file) => readlinkSync(file).endsWith(' (deleted)'))
    .reduce((sum, file) => sum + statSync(file).size, 0);

const unguardedError = (version: string): SyncError =>
  new SyncError(`query is off: the SQLite of Node ${version} cannot check which tables a query reads.`, {
    code: 'mcp.unguarded',
    hint: 'Use the newest Node 24. The other tools work.',
  });
