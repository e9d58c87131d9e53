#!/usr/bin/env node
import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';

/** The only file that reads the environment, listens for signals, and sets the exit code. */

// Before anything else loads: under an older Node the driver of SQLite ends the process without a word.
const NEEDED = { major: 22, minor: 19 };
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  process.stderr.write(
    `Error: bms-sync needs Node ${NEEDED.major}.${NEEDED.minor} or later, and this is ${process.version}; in a checkout, npx bms-sync has its own.\n`,
  );
  process.exit(1);
}
const { runCommandLine } = await import('./cli/program.ts');
const { withEnvFile } = await import('./config/environment.ts');
const { fileFault } = await import('./lib/sync-error.ts');

const stop = new AbortController();
// Once: a second Ctrl-C finds no listener and ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort();
  });
}

const output = { isCutShort: false };
// The reader of our output may close it early: `bms-sync status | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || output.isCutShort) return;
  output.isCutShort = true;
  const why = error.code === 'ENOSPC' ? 'its disk is full' : error.message;
  process.stderr.write(
    `Error: The output could not be written: ${why}. Free space there, or write it elsewhere.\n`,
  );
  process.exitCode = 1;
});

/** The environment with `.env`; a file that cannot be read ends the program before any command does. */
function environment(): ReturnType<typeof withEnvFile> {
  try {
    return withEnvFile(process.env, (text) => process.stderr.write(`Warning: ${text}\n`));
  } catch (error) {
    process.stderr.write(`Error: The file .env ${fileFault(error)}. Correct it, or move it away.\n`);
    process.exit(2);
  }
}

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: environment(),
  // Only a command that reads it opens it; Ctrl-C ends the wait for more.
  stdin: {
    isTTY: isatty(0),
    [Symbol.asyncIterator]: () => addAbortSignal(stop.signal, process.stdin)[Symbol.asyncIterator](),
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
});
if (!output.isCutShort) process.exitCode = exitCode;
