import type { Command } from 'commander';
import { pullOnce, type PullSummary } from '../app/pull.ts';
import { disappearances } from '../checks/status-document.ts';
import { requireListedKinds } from '../config/known-kinds.ts';
import { isServiceWide } from '../catalog/fault-reasons.ts';
import { describeOutcome, outcomeLabel } from '../words/outcome-texts.ts';
import { ROW_COUNTS } from '../store/runs/run-store.ts';
import { countMissing } from '../store/records/deletion-store.ts';
import { disappearedTexts } from './decisions/deletions.ts';
import { documentOf } from '../lib/json/document.ts';
import { sentence } from '../lib/text/text.ts';
import { createCommand, exitCodeOfPull, type CommonOptions, type CommandContext } from './parts/command.ts';
import { textTable, type Printed } from './parts/io.ts';
import { showingProgress } from './parts/progress.ts';

export function pullCommand(context: CommandContext): Command {
  return createCommand('pull')
    .argument('[kind...]', 'record kinds (default: all)')
    .option('--new-source', 'accept another base URL or company for this mirror')
    .action(async (kinds: string[], options: CommonOptions & { newSource?: true }) => {
      const config = await context.keptSettings(options);
      const of = requireListedKinds(config, kinds).length;
      const { newSource: acceptNewSource = false } = options;
      const { signal } = context.io;
      const report = await showingProgress(context.io, { of }, async (display) => {
        const { onProgress } = display;
        const logger = await context.logger(config, display.stderr);
        return pullOnce(config, { kinds, acceptNewSource, logger, onProgress, signal });
      });
      const disappeared = documentOf(disappearances.shape.deletions, report.disappeared);
      context.printResult(options, { ...report, disappeared }, pullTexts(report, kinds));
      context.exit(exitCodeOfPull(report));
    });
}

const COUNTS = [...ROW_COUNTS, 'pages'] as const;

/** Prints the result of a pull: faults, one line per kind, then the state of the copy, the next pull's part, and advice. */
function* pullTexts(report: PullSummary, named: readonly string[]): Iterable<Printed> {
  const { kinds, runId, durationMs, disappeared, drift = [], off = [] } = report;
  const rows = kinds.map((kind) => {
    const counts = COUNTS.map((name) => kind[name]);
    return [kind.kind, outcomeLabel(kind), ...counts, (kind.durationMs / 1000).toFixed(2)];
  });
  const subject = (group: readonly PulledKind[], several: string): string =>
    named.length === 0 && group.length === kinds.length && kinds.length > 1
      ? several
      : group.map((pulled) => pulled.kind).join(', ');
  const causes = [...causeLines(kinds, subject)];
  yield* causes;
  if (kinds.some(({ detail, reason, pages }) => detail === null || pages > 0 || !isServiceWide(reason)))
    yield* [...(causes.length > 0 ? [''] : []), textTable(['kind', 'state', ...COUNTS, 'seconds'], rows)];
  yield `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`;
  yield* outcomeLines(report, subject);
  for (const { kind, reason } of off)
    yield `${kind} is off: ${describeOutcome({ state: 'never', reason, missing: null }).why ?? ''}.`;
  for (const { kind, code, field, detail } of drift)
    yield `${kind}: ${code.replaceAll('_', ' ')}${field === null ? '' : ` ${field}`}, ${detail}.`;
  yield* disappearedTexts(disappeared);
}

/** Names a group of kinds; `several`: where they are all kinds and the command named none. */
type Subject = (group: readonly PulledKind[], several: string) => string;

type PulledKind = PullSummary['kinds'][number];

const describeUncounted = (kind: PulledKind) =>
  describeOutcome({ ...kind, rows: null, missing: null, suppressed: 0 });

/** Yields each cause of unread lists once, with the details of its lists; a cause of the whole service with the detail of one list. */
function* causeLines(kinds: readonly PulledKind[], subject: Subject): Iterable<string> {
  const faults = kinds.filter((kind) => kind.detail !== null && kind.state !== 'complete');
  const byCause = Map.groupBy(faults, (kind) => describeUncounted(kind).why);
  for (const [why, group] of byCause) {
    // An interrupted command has not seen the end, which the background service may still read.
    const isInterrupted = group.every(({ reason }) => reason === 'interrupted');
    const cause = isInterrupted
      ? 'This command did not see the end of'
      : `${sentence(why ?? '')} Not read to the end`;
    yield `${cause}: ${subject(group, 'all kinds')}.`;
    const isShared = group.every((kind) => isServiceWide(kind.reason));
    for (const { kind, detail } of group.slice(0, isShared ? 1 : undefined))
      yield `  ${isShared ? '' : `${kind}: `}${detail ?? ''}`;
  }
}

/** One line for all kinds that ended alike: what the mirror holds now, and what the next pull adds or repeats. */
function* outcomeLines({ kinds, disappeared }: PullSummary, subject: Subject): Iterable<string> {
  const alike = Map.groupBy(kinds, (kind) => JSON.stringify(describeUncounted(kind)));
  for (const group of alike.values()) {
    const rows = group.reduce((sum, kind) => sum + kind.rows, 0);
    const suppressed = group.reduce((sum, kind) => sum + kind.suppressed, 0);
    const [first] = group;
    if (first === undefined) continue;
    const names = group.map((pulled) => pulled.kind);
    const missing = countMissing(disappeared, names);
    const { known, next } = describeOutcome({
      ...first,
      ...{ rows, missing, suppressed, isOfSeveral: group.length > 1 },
    });
    if (known !== null)
      yield `${subject(group, `All ${kinds.length} kinds`)}: ${known}.${next === null ? '' : ` ${next}`}`;
  }
}
