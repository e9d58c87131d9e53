import type { Command } from 'commander';
import { pull } from '../app/pull.ts';
import type { PullReport } from '../app/pull.ts';
import { createCommand, loggerOf, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { exitCodeOfPull } from './exit-codes.ts';
import { printJson, printLine, textTable } from './print/io.ts';
import type { Output } from './print/io.ts';
import { createProgress } from './print/progress.ts';

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
  const progress = createProgress(context.io);
  try {
    const report = await pull(config, {
      kinds,
      acceptNewSource: options.newSource ?? false,
      logger: loggerOf(context, config),
      onProgress: progress.onProgress,
      signal: context.io.signal,
    });
    progress.stop();
    if (options.json) printJson(context.io.stdout, report);
    else printReport(context.io.stdout, report);
    context.exit(exitCodeOfPull(report));
  } finally {
    progress.stop();
  }
}

/** Prints a pull for a person: one line a kind, then faults and advice. */
function printReport(stdout: Output, { runId, durationMs, kinds }: PullReport): void {
  const header = [
    'kind',
    'state',
    'rows',
    'created',
    'updated',
    'deleted',
    'restored',
    'unchanged',
    'quarantined',
    'pages',
    'seconds',
  ];
  const rows = kinds.map((kind) => [
    kind.kind,
    kind.reason === null ? kind.state : `${kind.state}: ${kind.reason}`,
    ...[kind.rows, kind.created, kind.updated, kind.deleted, kind.restored],
    ...[kind.unchanged, kind.quarantined, kind.pages],
    (kind.durationMs / 1000).toFixed(2),
  ]);
  printLine(stdout, textTable(header, rows));
  printLine(stdout, `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`);
  for (const { kind, detail } of kinds) if (detail !== null) printLine(stdout, `${kind}: ${detail}`);
}
