import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { allowedFor } from '../canary/watch-programs.ts';
import { watch } from '../canary/watch.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The stderr of a reading that went well: a slow machine shows its progress. */
export const ONLY_PROGRESS: unknown = expect.stringMatching(
  /^(?:\S+(?: \(\d+ of \d+\))?(?: {2}[\d,]+ rows)?(?: {2}page \d+(?: of \d+)?)?(?: {2}and \d+ more)?\n)*$/,
);

export type Env = Readonly<Record<string, string>>;

/** The settings that point a command at a sandbox and a SQLite file; `serve` reads nothing between sweeps. */
export function settingsFor({ url, token }: Pick<Sandbox, 'url' | 'token'>, path: string): Env {
  const still = { BMS__FRESHNESS__REQUESTS_PER_MINUTE: 'null' };
  return { BMS_BASE_URL: url, BMS_TOKEN: token, DATABASE_URL: `file:${path}`, ...still };
}

/** Runs a command in this process, with nothing in its environment but `env`, and nothing piped in but `stdin`. */
export async function run(
  argv: readonly string[],
  env: Env = {},
  signal = new AbortController().signal,
  stdin: readonly (string | Uint8Array)[] = [],
): Promise<Ended> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const code = await runCommandLine(argv, {
    env,
    stdin: Readable.from(stdin),
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    signal,
  });
  const ended = { code, stdout: stdout.join(''), stderr: stderr.join('') };
  for (const stream of ['stdout', 'stderr'] as const)
    watch.look(
      {
        place: 'output of commands in the tests',
        what: () => `${stream} of ${argv.join(' ')}`,
        allowed: allowedFor(argv),
      },
      ended[stream],
    );
  return ended;
}

export interface KindReport {
  readonly kind: string;
  readonly state: 'certified' | 'complete' | 'invalid' | 'aborted' | 'busy';
  readonly reason: string | null;
  readonly detail: string | null;
  readonly certifiedAt: string | null;
  readonly pages: number;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly restored: number;
  readonly unchanged: number;
  readonly quarantined: number;
  readonly requests: number;
  readonly retries: number;
  readonly durationMs: number;
}

export interface PullReport {
  readonly runId: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly kinds: readonly KindReport[];
}

/** Reads stdout as the one JSON document that `--json` promises: a second one, or a stray line, does not parse. */
export function document({ stdout }: Pick<Ended, 'stdout'>): unknown {
  return JSON.parse(stdout);
}

/** The answer of `pull --json`. */
export function json(ended: Pick<Ended, 'stdout'>): PullReport {
  return document(ended) as PullReport;
}

/** The report of one kind in the answer of `pull --json`. */
export function kindIn(ended: Pick<Ended, 'stdout'>, kind: string): KindReport {
  const report = json(ended).kinds.find((one) => one.kind === kind);
  if (report === undefined) throw new Error(`${kind} is not in ${ended.stdout}`);
  return report;
}
