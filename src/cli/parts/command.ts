import { Command } from 'commander';
import type { PullSummary } from '../../app/pull.ts';
import { unknownVariables } from '../../config/environment.ts';
import { loadConfig, secretsOf, type ConfigInputs } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import { createLogger, logText, type Logger } from '../../lib/log/logger.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { printJson, printLine, type Io, type Output, type Printed } from './io.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: true;
  readonly config?: string;
}

/** The dependencies of a command besides its own arguments. */
export interface CommandContext {
  readonly io: Io;
  /** Ends the command with this code. */
  readonly exit: (code: ExitCode) => void;
  /** Registers secrets once they are known, so that no output of the command shows them. */
  readonly protect: (secrets: readonly string[]) => void;
}

export function createCommand(name: string, summary: string): Command {
  return new Command(name)
    .description(summary)
    .option('--json', 'print one JSON document on stdout')
    .option('--config <file>', 'settings file (YAML); BMS_CONFIG names one for every command');
}

/**
 * Reads the settings of a command from its options and the environment.
 *
 * @param flags Settings that an argument of the command gives.
 */
export function settingsOf(
  { io, protect }: CommandContext,
  { config: file }: CommonOptions,
  flags: ConfigInputs['flags'] = {},
): Config {
  const config = loadConfig({ env: io.env, file, flags });
  protect(secretsOf(config));
  io.setGrace?.(config.shutdown.graceSeconds);
  return config;
}

/** Logs go to stderr, on a terminal as text, and through the progress display where there is one: stdout belongs to the command's answer. */
export function loggerOf({ io }: CommandContext, config: Config, stderr: Output = io.stderr): Logger {
  const logger = createLogger({
    level: config.log.level,
    secrets: secretsOf(config),
    destination: { write: (line) => void stderr.write(stderr.isTTY === true ? logText(line) : line) },
  });
  for (const told of unknownVariables(io.env)) logger.warn({ event: 'settings.unknown_variable' }, told);
  return logger;
}

/** Prints the answer of a command: with `--json` the document, otherwise the texts for a person. */
export function answer(
  { io }: CommandContext,
  { json }: CommonOptions,
  document: unknown,
  texts: Iterable<Printed>,
): void {
  if (json) printJson(io.stdout, document);
  else for (const text of texts) printLine(io.stdout, text);
}

/** The exit codes of the commands. */
export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3, internal: 70 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof SyncError ? EXIT.failed : EXIT.internal;
}

type PullEnd = { readonly kinds: readonly Pick<PullSummary['kinds'][number], 'state' | 'reason'>[] };

/** A pull that got nothing at all has failed; one that got some kinds and not others is incomplete. */
export function exitCodeOfPull({ kinds }: PullEnd): ExitCode {
  // A kind that another process is reading lacks nothing: it is read.
  if (kinds.every(({ state }) => ['complete', 'certified', 'busy'].includes(state))) return EXIT.done;
  const isBarred = kinds.every(
    ({ state, reason }) =>
      state === 'busy' || (state === 'aborted' && reason !== 'interrupted') || reason === 'other_source',
  );
  return isBarred ? EXIT.failed : EXIT.incomplete;
}
