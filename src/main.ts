#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import type { Output } from './cli/parts/io.ts';

/** The only file that reads the environment, listens for signals, and sets the exit code. */

// Before anything else loads: under an older Node the driver of SQLite ends the process without a word.
const NEEDED = { major: 22, minor: 19 };
const ONE_PRESS_MS = 500;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor))
  process.exit(await startNewer());

/** Starts this program again under the Node that npm brings to a checkout; an installed package has none. */
async function startNewer(): Promise<number> {
  const starter = new URL('../scripts/node/start.mjs', import.meta.url);
  if (!existsSync(starter)) {
    process.stderr.write(
      `Error: bms-sync needs Node ${NEEDED.major}.${NEEDED.minor} or later, and this is ${process.version}. Install Node 24.\n`,
    );
    return 1;
  }
  const { startAgain } = (await import(starter.href)) as {
    startAgain: (argv: readonly string[]) => Promise<number>;
  };
  return await startAgain([...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}

// Passes a signal to the restarted process.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel?.unref();

const { runCommandLine } = await import('./cli/program.ts');
const { addEnvFile: withEnvFile } = await import('./config/environment.ts');
const { describeFileFault: fileFault } = await import('./lib/sync-error.ts');
const { trustAuthorities } = await import('./lib/net/extra-authorities.ts');

const stop = new AbortController();
let grace = { seconds: 25, code: 3 }; // Until the settings are read.
// Once: a second Ctrl-C finds no listener and ends the process at once. A terminal that is closed sends SIGHUP.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    stop.abort();
    setTimeout(cutOff, grace.seconds * 1000).unref();
  });
}

/** Ends the process in the middle of its work: whatever it waits for may never answer. */
function cutOff(): void {
  process.stderr.write(
    `Error: Running work did not end within ${grace.seconds} s (shutdown.graceSeconds) and was cut off. The next process continues it.\n`,
  );
  process.exit(grace.code);
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

/** Creates an output that remembers why its last text could not be written. The listener keeps such an error from ending the process. */
function createOutput(stream: NodeJS.WriteStream): Output {
  let fault: string | null = null;
  stream.on('error', (error: Error) => {
    fault = error.message;
  });
  return {
    isTTY: stream.isTTY,
    write: (text, done) =>
      stream.write(text, (error) => {
        fault = error?.message ?? null;
        done?.(error);
      }),
    fault: () => fault,
  };
}

/**
 * Returns the environment with `.env`. An unreadable file ends the program before any command runs. A removed working folder
 * does, too: Node would try endlessly to create a folder in it.
 */
function environment(): ReturnType<typeof withEnvFile> {
  try {
    process.cwd();
  } catch (error) {
    process.stderr.write(`Error: The working folder ${fileFault(error)}. Go to a folder that exists (cd).\n`);
    process.exit(2);
  }
  try {
    const env = withEnvFile(process.env);
    const { NODE_EXTRA_CA_CERTS: authorities } = env;
    if (authorities !== undefined && authorities !== process.env['NODE_EXTRA_CA_CERTS'])
      trustAuthoritiesOfFile(authorities);
    return env;
  } catch (error) {
    process.stderr.write(`Error: The file .env ${fileFault(error)}. Correct it, or move it away.\n`);
    process.exit(2);
  }
}

/** Node itself reads this variable when it starts, before `.env` is known. */
function trustAuthoritiesOfFile(file: string): void {
  try {
    trustAuthorities(file);
  } catch (error) {
    process.stderr.write(
      `Warning: The file ${file}, which NODE_EXTRA_CA_CERTS names, ${fileFault(error)}.\n`,
    );
  }
}

// npm, and the start above, pass on a signal that a terminal has sent to this process already: one Ctrl-C must not count as two.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  const ignore = (): void => {
    setTimeout(() => process.off(signal, ignore), ONE_PRESS_MS).unref();
  };
  process.on(signal, ignore);
}

// V8 lets the space of new objects grow with every burst of them. If it stays as it is once the program is loaded, a pull of 100,000
// rows takes 259 instead of 370 MB, and no more time.
setFlagsFromString('--semi-space-growth-factor=1');

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: environment(),
  // Only a command that reads it opens it; Ctrl-C ends the wait for more.
  stdin: {
    [Symbol.asyncIterator]: () => addAbortSignal(stop.signal, process.stdin)[Symbol.asyncIterator](),
  },
  stdout: process.stdout,
  stderr: createOutput(process.stderr),
  signal: stop.signal,
  setGrace: (seconds, code = 3) => {
    grace = { seconds, code };
  },
  // A container may have no other folder that it can write.
  setTempFolder: (folder) => {
    process.env['SQLITE_TMPDIR'] ??= folder;
    process.env['TMPDIR'] ??= folder;
  },
});
for (const stream of [process.stdout, process.stderr])
  await new Promise((resolve) => stream.write('', resolve)); // Waits for what was written before.
if (!output.isCutShort) process.exitCode = exitCode;
process.exit(); // A timer or connection that a library has left behind would keep the process.
