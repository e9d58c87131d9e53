import type { Command } from 'commander';
import { pull } from '../app/pull.ts';
import type { PullSummary } from '../app/pull.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { outcomeWords } from '../mirror/kinds/outcome-words.ts';
import { isLeftToPerson } from '../mirror/records/deletion-store.ts';
import { printDisappeared } from './deletions.ts';
import { createCommand, loggerOf, settingsOf, exitCodeOfPull } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';
import { showingProgress } from './parts/progress.ts';

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
  const of = listedKinds(config, kinds).length;
  const report = await showingProgress(context.io, { of }, ({ onProgress, stderr }) =>
    pull(config, {
      kinds,
      acceptNewSource: options.newSource ?? false,
      logger: loggerOf(context, config, stderr),
      onProgress,
      signal: context.io.signal,
    }),
  );
  if (options.json) printJson(context.io.stdout, report);
  else printPull(context.io.stdout, report);
  context.exit(exitCodeOfPull(report));
}

interface PulledKind extends ReportedKind {
  readonly isLeftToPerson: boolean;
}

type ReportedKind = PullSummary['kinds'][number];

const HEADER = [
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

/** Prints a pull for a person: one line a kind, then the present knowledge, the next pull's part, faults and advice. */
function printPull(stdout: Output, report: PullSummary): void {
  const { runId, durationMs, disappeared } = report;
  const kinds = report.kinds.map((kind) => ({
    ...kind,
    isLeftToPerson: isLeftToPerson(disappeared, kind.kind),
  }));
  const rows = kinds.map((kind) => [
    kind.kind,
    outcomeWords(kind).label,
    kind.rows,
    kind.created,
    kind.updated,
    kind.deleted,
    kind.restored,
    kind.unchanged,
    kind.quarantined,
    kind.pages,
    (kind.durationMs / 1000).toFixed(2),
  ]);
  printLine(stdout, textTable(HEADER, rows));
  printLine(stdout, `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`);
  for (const line of outcomeLines(kinds)) printLine(stdout, line);
  for (const line of detailLines(kinds)) printLine(stdout, line);
  printDisappeared(stdout, disappeared);
}

/** One line for all kinds that ended alike: what the mirror holds now, and what the next pull adds or repeats. */
function outcomeLines(kinds: readonly PulledKind[]): string[] {
  const alike = Map.groupBy(kinds, (kind) => JSON.stringify(outcomeWords({ ...kind, rows: null })));
  return [...alike.values()].map((group) => {
    const [first] = group;
    if (first === undefined) return '';
    const rows = group.reduce((sum, each) => sum + each.rows, 0);
    const { known, next } = outcomeWords({ ...first, rows, isOfSeveral: group.length > 1 });
    const names = group.length === kinds.length && kinds.length > 1 ? 'All kinds' : namesOf(group);
    return [`${names}: ${known ?? ''}.`, ...(next === null ? [] : [next])].join(' ');
  });
}

/** Faults and their places, with advice; one line for all kinds that say the same. */
function detailLines(kinds: readonly PulledKind[]): string[] {
  const told = kinds.filter(({ state, detail }) => detail !== null && state !== 'complete');
  return [...Map.groupBy(told, ({ detail }) => detail)].map(
    ([detail, group]) => `${namesOf(group)}: ${detail ?? ''}`,
  );
}

const namesOf = (kinds: readonly PulledKind[]): string => kinds.map(({ kind }) => kind).join(', ');
