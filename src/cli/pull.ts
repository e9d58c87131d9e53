import type { Command } from 'commander';
import { pullOnce, type PullSummary } from '../app/pull.ts';
import { requireListedKinds } from '../config/known-kinds.ts';
import { describeOutcome } from '../words/outcome-texts.ts';
import { isLeftToPerson } from '../store/records/deletion-store.ts';
import { disappearedTexts } from './decisions/deletions.ts';
import { createCommand, exitCodeOfPull, type CommonOptions, type CommandContext } from './parts/command.ts';
import { textTable, type Printed } from './parts/io.ts';
import { showingProgress } from './parts/progress.ts';

export function pullCommand(context: CommandContext): Command {
  return createCommand('pull', 'read the lists of the service into the mirror')
    .argument('[kind...]', 'record kinds (default: all)')
    .option('--new-source', 'accept another base URL or company for this mirror')
    .action(async (kinds: string[], options: CommonOptions & { newSource?: true }) => {
      const config = context.settings(options);
      const of = requireListedKinds(config, kinds).length;
      const { newSource: acceptNewSource = false } = options;
      const { signal } = context.io;
      const report = await showingProgress(context.io, { of }, ({ onProgress, stderr }) => {
        const logger = context.logger(config, stderr);
        return pullOnce(config, { kinds, acceptNewSource, logger, onProgress, signal });
      });
      context.printResult(options, report, pullTexts(report));
      context.exit(exitCodeOfPull(report));
    });
}

const COUNTS = [
  'rows',
  'created',
  'updated',
  'deleted',
  'restored',
  'unchanged',
  'quarantined',
  'pages',
] as const;

/** Prints the result of a pull: one line per kind, then the state of the copy, the next pull's part, faults and advice. */
function* pullTexts({ runId, durationMs, disappeared, ...report }: PullSummary): Iterable<Printed> {
  const kinds = report.kinds.map((kind) => ({
    ...kind,
    isLeftToPerson: isLeftToPerson(disappeared, kind.kind),
  }));
  const rows = kinds.map((kind) => {
    const counts = COUNTS.map((name) => kind[name]);
    return [kind.kind, describeOutcome(kind).label, ...counts, (kind.durationMs / 1000).toFixed(2)];
  });
  yield textTable(['kind', 'state', ...COUNTS, 'seconds'], rows);
  yield `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`;
  yield* outcomeLines(kinds);
  const faults = kinds.filter((kind) => kind.detail !== null && kind.state !== 'complete');
  for (const [detail, group] of Map.groupBy(faults, (kind) => kind.detail))
    yield `${namesOf(group)}: ${detail ?? ''}`;
  yield* disappearedTexts(disappeared);
}

type PulledKind = PullSummary['kinds'][number] & { readonly isLeftToPerson: boolean };

/** One line for all kinds that ended alike: what the mirror holds now, and what the next pull adds or repeats. */
function* outcomeLines(kinds: readonly PulledKind[]): Iterable<string> {
  const alike = Map.groupBy(kinds, (kind) => JSON.stringify(describeOutcome({ ...kind, rows: null })));
  for (const group of alike.values()) {
    const rows = group.reduce((sum, each) => sum + each.rows, 0);
    const [first] = group;
    if (first === undefined) continue;
    const { known, next } = describeOutcome({ ...first, rows, isOfSeveral: group.length > 1 });
    const names = group.length === kinds.length && kinds.length > 1 ? 'All kinds' : namesOf(group);
    yield `${names}: ${known ?? ''}.${next === null ? '' : ` ${next}`}`;
  }
}

const namesOf = (kinds: readonly PulledKind[]): string =>
  kinds.map((pulledKind) => pulledKind.kind).join(', ');
