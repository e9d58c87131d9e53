import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import type { Ended, Env } from './command-line.ts';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended & { readonly signal: NodeJS.Signals | null }>;
}

export interface ProgramOptions {
  /** Everything in its environment but PATH. */
  readonly env?: Env;
  readonly cwd?: string;
  readonly uid?: number;
  /** How Node starts it; the built program by default. */
  readonly main?: readonly string[];
}

/** Starts the built program as a process of its own, away from any `.env`. */
export function start(
  argv: readonly string[],
  { env = {}, cwd = tmpdir(), uid, main = [MAIN] }: ProgramOptions = {},
): Program {
  const child = spawn(process.execPath, [...main, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const ended = (async () => {
    const [stdout, stderr, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    ]);
    return { code, signal, stdout, stderr };
  })();
  return { child, ended };
}

/** Runs the built program to its end. */
export function runProgram(argv: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return start(argv, options).ended;
}
