import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../support/program.ts';
import type { Env } from '../support/command-line.ts';

/** The record that the reader of the README chooses. */
export const NAMED_CLIENT = 70_001_234;

/** Blocks that prepare a checkout; a test runs in one that is prepared. */
const PREPARES = /\bnpm ci\b/;

/** The lines that the README asks its reader to type, in its order; on PostgreSQL, the ones that choose it come first. */
export function readmeLines(database: 'sqlite' | 'postgres'): readonly string[] {
  const page = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const ours = blocks.filter((block) => !PREPARES.test(block));
  const ofPostgres = ours.filter((block) => /^createdb /m.test(block));
  const others = linesOf(ours.filter((block) => !ofPostgres.includes(block)));
  if (database === 'sqlite') return others;
  const isCommand = (line: string): boolean => /^npm (?:-s )?start /.test(line);
  const lines = linesOf(ofPostgres);
  return [...lines.filter((line) => !isCommand(line)), ...others, ...lines.filter(isCommand)];
}

const linesOf = (blocks: readonly string[]): readonly string[] =>
  blocks.flatMap((block) => block.split('\n').filter((line) => line !== ''));

/**
 * The shell around the lines: `npm start --` is the built program, `serve` runs until the walk ends, a command that follows
 * gets Ctrl-C after a while, and every command is shown before its output.
 */
const PRELUDE = `
set -e
pids=$(mktemp)
served=$(mktemp)
trap 'kill $(cat "$pids") 2>/dev/null; wait' EXIT
once_it_serves() {
  until grep -q '"serve.started"' "$served"; do [ $((waited += 1)) -lt 6000 ] || return 1; sleep 0.1; done
  cat "$served"
}
createdb() { echo "$ createdb $*"; }
npm() {
  [ "$1" != -s ] || shift
  shift 2
  echo "$ npm start -- $*"
  case "$*" in
    serve*) "$NODE" "$MAIN" "$@" > "$served" 2>&1 & echo $! >> "$pids" ;;
    *--follow*) timeout --signal INT 5 "$NODE" "$MAIN" "$@" 2>&1 || [ $? -eq 124 ] ;;
    *) "$NODE" "$MAIN" "$@" 2>&1 ;;
  esac
}
`;

interface Walk {
  /** Variables to the values that the README leaves to its reader. */
  readonly settings: Env;
  readonly cwd: string;
}

/** Types the lines one after the other; the first that fails ends the walk. Returns its end and all that was shown. */
export async function walk(
  lines: readonly string[],
  { settings, cwd }: Walk,
): Promise<{ readonly code: number | null; readonly transcript: string }> {
  const typed = lines.map((line) => withSettings(line, settings) + waitAfter(line)).join('\n');
  const child = spawn('sh', ['-c', `${PRELUDE}${typed}\n`], {
    cwd,
    env: { PATH: process.env['PATH'], NODE: process.execPath, MAIN, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [transcript, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, transcript: transcript + errors };
}

/** A reader waits until the log of the background service says that it serves. */
const waitAfter = (line: string): string => (/^npm start -- serve &/.test(line) ? '\nonce_it_serves' : '');

/** `export BMS_TOKEN=…` gets the value of this walk; every other line stays as it is written. */
function withSettings(line: string, settings: Env): string {
  const name = /^export (\w+)=/.exec(line)?.[1];
  const value = name === undefined ? undefined : settings[name];
  return value === undefined ? line : `export ${name ?? ''}='${value}'`;
}
