import { Command, InvalidArgumentError } from 'commander';
import { loadConfig, secretsOf } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import { logText } from '../lib/text/log-text.ts';
import { createLogger } from '../lib/log/logger.ts';
import type { Logger } from '../lib/log/logger.ts';
import type { ExitCode } from './print/exit-codes.ts';
import type { Io, Output } from './print/io.ts';

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
    .option('--config <file>', 'settings file (YAML)');
}

/** Reads the settings of a command from its options and the environment. */
export function settingsOf({ io, protect }: CommandContext, { config: file }: CommonOptions): Config {
  const config = loadConfig({ env: io.env, file });
  protect(secretsOf(config));
  return config;
}

/** Logs go to stderr, on a terminal as text, and through the progress display where there is one: stdout belongs to the command's answer. */
export function loggerOf({ io }: CommandContext, config: Config, stderr: Output = io.stderr): Logger {
  return createLogger({
    level: config.log.level,
    secrets: secretsOf(config),
    destination: { write: (line) => void stderr.write(stderr.isTTY === true ? logText(line) : line) },
  });
}

/** Parses a command-line number; commander names the option in its message. */
export function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number.');
}

export function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port from 0 to 65535.');
}
