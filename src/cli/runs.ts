import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { SyncError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { outcomeWords } from '../mirror/kinds/outcome-words.ts';
import { findRun, listRuns } from '../mirror/runs/run-store.ts';
import type { KindReport, Run } from '../mirror/runs/run-store.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { wholeNumber } from './parts/input.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';

const RUNS_LISTED = 20;

interface ListOptions extends CommonOptions {
  readonly limit: number;
}

export function runsCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the latest runs')
    .option('--limit <n>', 'how many', wholeNumber, RUNS_LISTED)
    .action((_: ListOptions, command: Command) => runList(context, command.optsWithGlobals()));
  const show = createCommand('show', 'show one run, kind by kind')
    .argument('<id>', 'the number of the run', wholeNumber)
    .action((id: number, _: CommonOptions, command: Command) =>
      runShow(context, id, command.optsWithGlobals()),
    );
  return createCommand('runs', 'show past runs and how they ended')
    .addCommand(list, { isDefault: true })
    .addCommand(show);
}

async function runList(context: CommandContext, options: ListOptions): Promise<void> {
  const config = settingsOf(context, options);
  await using session = await openExistingMirror(config);
  const runs = await listRuns(session, { limit: options.limit, now: systemClock.now() });
  if (options.json) {
    printJson(context.io.stdout, { runs });
    return;
  }
  const all = listedKinds(config).map(({ name }) => name);
  const rows = runs.map((run) => [
    run.id,
    run.command,
    run.state,
    run.startedAt,
    run.finishedAt,
    all.every((name) => run.kinds.includes(name)) ? 'all' : run.kinds.join(' '),
  ]);
  printLine(
    context.io.stdout,
    textTable(['run', 'command', 'state', 'started (UTC)', 'finished (UTC)', 'kinds'], rows),
  );
}

/** @throws {SyncError} `run.absent` if there is no such run. */
async function runShow(context: CommandContext, id: number, options: CommonOptions): Promise<void> {
  await using session = await openExistingMirror(settingsOf(context, options));
  const run = await findRun(session, id, systemClock.now());
  if (run === null)
    throw new SyncError(`There is no run ${id}.`, {
      code: 'run.absent',
      hint: 'bms-sync runs lists those that are kept.',
    });
  if (options.json) printJson(context.io.stdout, run);
  else printRun(context.io.stdout, run);
}

function printRun(stdout: Output, run: Run & { readonly reports: readonly KindReport[] }): void {
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
  const rows = run.reports.map((kind) => [
    kind.kind,
    outcomeWords(kind).label,
    kind.rows,
    kind.created,
    kind.updated,
    kind.unchanged,
    kind.quarantined,
    kind.requests,
    kind.retries,
    kind.durationMs,
  ]);
  printLine(stdout, textTable(header, rows));
  for (const { kind, detail } of run.reports) if (detail !== null) printLine(stdout, `${kind}: ${detail}`);
}
