import type { Command } from 'commander';
import { isOfAllKinds, outcomeWords, readRun, readRuns } from '../app/commands/report.ts';
import { createCommand, settingsOf, wholeNumber } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';

const RUNS_LISTED = 20;

interface ListOptions extends CommonOptions {
  readonly limit: number;
}

export function runsCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the latest runs')
    .option('--limit <n>', 'how many', wholeNumber, RUNS_LISTED)
    .action((_: ListOptions, command: Command) => listRuns(context, command.optsWithGlobals()));
  const show = createCommand('show', 'show one run, kind by kind')
    .argument('<id>', 'the number of the run', wholeNumber)
    .action((id: number, _: CommonOptions, command: Command) =>
      showRun(context, id, command.optsWithGlobals()),
    );
  return createCommand('runs', 'show past runs and how they ended')
    .addCommand(list, { isDefault: true })
    .addCommand(show);
}

async function listRuns(context: CommandContext, options: ListOptions): Promise<void> {
  const config = settingsOf(context, options);
  const runs = await readRuns(config, options.limit);
  if (options.json) {
    printJson(context.io.stdout, { runs });
    return;
  }
  const rows = runs.map((run) => [
    run.id,
    run.command,
    run.state,
    run.startedAt,
    run.finishedAt,
    isOfAllKinds(config, run) ? 'all' : run.kinds.join(' '),
  ]);
  printLine(
    context.io.stdout,
    textTable(['run', 'command', 'state', 'started (UTC)', 'finished (UTC)', 'kinds'], rows),
  );
}

async function showRun(context: CommandContext, id: number, options: CommonOptions): Promise<void> {
  const run = await readRun(settingsOf(context, options), id);
  if (options.json) {
    printJson(context.io.stdout, run);
    return;
  }
  const { stdout } = context.io;
  printLine(
    stdout,
    `Run ${run.id}: ${run.command}, ${run.state}, from ${run.startedAt ?? '-'} to ${run.finishedAt ?? '-'} UTC`,
  );
  if (run.reason !== null) printLine(stdout, run.reason);
  const header = [
    'kind',
    'state',
    'rows',
    'created',
    'updated',
    'unchanged',
    'quarantined',
    'requests',
    'retries',
    'ms',
  ];
  printLine(
    stdout,
    textTable(
      header,
      run.reports.map((kind) => [
        kind.kind,
        outcomeWords(kind).label,
        ...[kind.rows, kind.created, kind.updated, kind.unchanged, kind.quarantined],
        ...[kind.requests, kind.retries, kind.durationMs],
      ]),
    ),
  );
  for (const { kind, detail } of run.reports) if (detail !== null) printLine(stdout, `${kind}: ${detail}`);
}
