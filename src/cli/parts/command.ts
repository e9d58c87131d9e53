import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig, listSecrets, type ConfigInputs } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import { withKeptSettings } from '../../app/open-mirror.ts';
import { sqlitePath } from '../../db/open-session.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { printJson, printLine, type Io, type Printed } from './io.ts';
import { SUMMARIES } from './summaries.ts';

export interface CommonOptions {
  readonly json?: true;
  readonly config?: string;
}

export type CommandContext = ReturnType<typeof createContext>;
export type CreateCommand = (context: CommandContext) => Command;

/** Creates the context of a command. @param protect Gets the secrets of the settings, so that no output shows them. */
export function createContext(
  io: Io,
  exit: (code: ExitCode) => void,
  protect: (secrets: readonly string[]) => void,
) {
  /** Reads the settings from the options of a command and the environment; `flags` are settings that its arguments give. */
  const settings = (options: CommonOptions, flags: ConfigInputs['flags'] = {}): Config => {
    const config = loadConfig({ env: io.env, file: options.config, flags });
    protect(listSecrets(config));
    io.setGrace?.(config.shutdown.graceSeconds);
    const path = sqlitePath(config.database.url);
    if (path !== null) io.setTempFolder?.(dirname(resolve(path)));
    return config;
  };
  return {
    io,
    exit,
    settings,
    /** The same, with those that the mirror keeps: for every command but `serve` and `migrate`. */
    keptSettings: (options: CommonOptions): Promise<Config> =>
      withKeptSettings(settings(options), (text) => {
        printLine(io.stderr, text);
      }),
    /** Creates the log, on stderr or on a progress display: stdout belongs to the command's answer. */
    logger: async (config: Config, stderr = io.stderr): Promise<Logger> => {
      const { createLogger, formatLogLine } = await import('../../lib/log/logger.ts'); // Most commands log nothing.
      const write = (line: string): void =>
        void stderr.write(stderr.isTTY === true ? formatLogLine(line) : line);
      const isGap = (): boolean => (stderr.fault?.() ?? null) !== null;
      return createLogger({
        level: config.log.level,
        secrets: listSecrets(config),
        destination: { write },
        isGap,
      });
    },
    /** Prints the answer of a command: with `--json` the document, otherwise the texts for a person. */
    printResult: (options: CommonOptions, document: unknown, texts: Iterable<Printed>): void => {
      if (options.json) printJson(io.stdout, document);
      else for (const text of texts) printLine(io.stdout, text);
    },
  };
}

const READERS = ['pull', 'verify', 'backfill'];
const WHICH_READER = `
Take pull for what is new, as schedules do; verify to find out whether the mirror is right; and backfill
to correct the records that verify or an issue names.`;

/** Creates a command. @param summary By default the one of the general help text. */
export function createCommand(name: string, summary = SUMMARIES[name]?.[0] ?? ''): Command {
  return new Command(name)
    .description(summary)
    .addHelpText('after', READERS.includes(name) ? WHICH_READER : '')
    .option('--json', 'print one JSON document on stdout')
    .option('--config <file>', 'settings file (YAML); BMS_CONFIG sets it for every command');
}

export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3, internal: 70 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof SyncError ? EXIT.failed : EXIT.internal;
}

interface KindEnd {
  readonly state: string;
  readonly reason: string | null;
}

/** A pull that got nothing at all has failed; one that got some kinds and not others is incomplete. */
export function exitCodeOfPull({ kinds }: { readonly kinds: readonly KindEnd[] }): ExitCode {
  // A kind that another process is reading counts as read.
  if (kinds.every((kind) => ['complete', 'certified', 'busy'].includes(kind.state))) return EXIT.done;
  const hasFailed = kinds.every(
    (kind) =>
      kind.state === 'busy' ||
      (kind.state === 'aborted' && kind.reason !== 'interrupted') ||
      kind.reason === 'other_source',
  );
  return hasFailed ? EXIT.failed : EXIT.incomplete;
}
