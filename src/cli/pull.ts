import type { Command } from 'commander';
import { pull } from '../app/pull.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { createCommand, loggerOf, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { exitCodeOfPull } from './print/exit-codes.ts';
import { printJson } from './print/io.ts';
import { createProgress } from './print/progress.ts';
import { printPull } from './print/pull-report.ts';

interface PullOptions extends CommonOptions {
  readonly newSource?: true;
}

export function pullCommand(context: CommandContext): Command {
  return createCommand('pull', 'read the lists of the service into the mirror')
    .argument('[kind...]', 'record kinds (default: all)')
    .option('--new-source', 'accept another base URL or company for this mirror')
    .action((kinds: string[], options: PullOptions) => runPull(context, kinds, options));
}

async function runPull(
  context: CommandContext,
  kinds: readonly string[],
  options: PullOptions,
): Promise<void> {
  const config = settingsOf(context, options);
  const progress = createProgress(context.io, { of: listedKinds(config, kinds).length });
  try {
    const report = await pull(config, {
      kinds,
      acceptNewSource: options.newSource ?? false,
      logger: loggerOf(context, config, progress.stderr),
      onProgress: progress.onProgress,
      signal: context.io.signal,
    });
    progress.stop();
    if (options.json) printJson(context.io.stdout, report);
    else printPull(context.io.stdout, report);
    context.exit(exitCodeOfPull(report));
  } finally {
    progress.stop();
  }
}
