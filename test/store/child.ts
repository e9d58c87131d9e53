import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

export interface Child {
  /** What it printed, line by line. */
  readonly lines: AsyncIterableIterator<string>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills it as `kill -9` does and resolves once it is gone. */
  kill(): Promise<void>;
  /** Resolves with its exit code and all that it printed to stderr. */
  readonly ended: Promise<{ code: number | null; errors: string }>;
}

/** The arguments of Node for a script of `children/`. */
export const scriptArguments = (script: string): string[] => [
  '--import',
  'tsx',
  join(import.meta.dirname, 'children', script),
];

/** Starts a script of `children/` as a process of its own, which does not outlive the test. */
export function startChild(script: string, ...args: readonly string[]): Child {
  return follow(
    spawn(process.execPath, [...scriptArguments(script), ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** Runs a script of `children/` to its end and returns what it printed. */
export async function runChild(script: string, ...args: readonly string[]): Promise<string[]> {
  return linesOf(startChild(script, ...args));
}

export async function linesOf(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of child.lines) lines.push(line);
  const { code, errors } = await child.ended;
  if (code !== 0) throw new Error(`The child ended with ${String(code)}: ${errors}`);
  return lines;
}

function follow(child: ChildProcess): Child {
  if (!child.stdout || !child.stderr) throw new Error('The child has no pipes.');
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = new Promise<{ code: number | null; errors: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, errors: errors.join('') });
    });
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    child.kill(name);
  };
  return { lines, signal, kill, ended };
}
