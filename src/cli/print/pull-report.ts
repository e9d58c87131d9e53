import { isLeftToPerson, outcomeWords } from '../../app/pull.ts';
import type { PullSummary } from '../../app/pull.ts';
import { groupBy } from '../../lib/group-by.ts';
import { printDisappeared } from './disappeared.ts';
import { printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

interface PulledKind extends ReportedKind {
  readonly isLeftToPerson: boolean;
}

type ReportedKind = PullSummary['kinds'][number];

const HEADER = [
  ...['kind', 'state', 'rows', 'created', 'updated', 'deleted', 'restored'],
  ...['unchanged', 'quarantined', 'pages', 'seconds'],
];

/** Prints a pull for a person: one line a kind, then the present knowledge, the next pull's part, faults and advice. */
export function printPull(stdout: Output, report: PullSummary): void {
  const { runId, durationMs, disappeared } = report;
  const kinds = report.kinds.map((kind) => ({
    ...kind,
    isLeftToPerson: isLeftToPerson(disappeared, kind.kind),
  }));
  const rows = kinds.map((kind) => [
    ...[kind.kind, outcomeWords(kind).label],
    ...[kind.rows, kind.created, kind.updated, kind.deleted, kind.restored],
    ...[kind.unchanged, kind.quarantined, kind.pages],
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
  const alike = groupBy(kinds, (kind) => JSON.stringify(outcomeWords({ ...kind, rows: null })));
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
  return [...groupBy(told, ({ detail }) => detail)].map(
    ([detail, group]) => `${namesOf(group)}: ${detail ?? ''}`,
  );
}

const namesOf = (kinds: readonly PulledKind[]): string => kinds.map(({ kind }) => kind).join(', ');
