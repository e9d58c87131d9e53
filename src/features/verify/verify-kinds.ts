import { createHash } from 'node:crypto';
import type { ListedKind } from '../../catalog/kind.ts';
import { OtherSourceError } from '../../db/session/errors.ts';
import { spansOf } from '../../diff/spans.ts';
import { errorText } from '../../lib/sync-error.ts';
import { SourceError } from '../../source/http/errors.ts';
import { openSourceBinding } from '../../pull/source-binding.ts';
import { readStanding } from '../../store/kinds/kind-standing.ts';
import { readAbsences } from '../../store/records/deletion-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { findSurplus } from '../../pull/deletions/surplus-rows.ts';
import { liveRowsOf } from '../../pull/deletions/tombstone-store.ts';
import { isReadToEnd, saveKindReport, type KindReport } from '../../store/runs/run-store.ts';
import { readSightings } from '../../store/sightings/sighting-store.ts';
import { withoutOffKinds } from '../../pull/optional-kinds.ts';
import { pullKinds, unsweptReport } from '../../pull/sweep/pull-kinds.ts';
import type { PullParts, PullSettings } from '../../pull/parts.ts';
import { countTraffic, recordRun } from '../../pull/record-run.ts';
import { OTHER_SOURCE } from '../../pull/sweep/read-list.ts';
import { compareList, type Finding, type Looked } from './compare-list.ts';
import { repairCommand, shortenDifference } from './show-differences.ts';

export type KindComparison = ReturnType<typeof resultOf>;

/** The counts in the order in which they are shown: each record is in one of them. */
export function countsOf({ same, moved, unlisted, differs, missing, surplus, quarantined }: KindComparison) {
  const parts = Object.entries({ missing, surplus }).filter(([, n]) => n > 0);
  const of = parts.length === 0 ? '' : ` (${parts.map(([name, n]) => `${n} ${name}`).join(', ')})`;
  return { same, moved, unlisted, differs: `${differs}${of}`, quarantined };
}

export type VerifyReport = Awaited<ReturnType<typeof verifyKinds>>;

/**
 * Compares the mirror with the service, kind by kind, as one run; a kind that cannot be read never
 * stops the others. Differing records are pulled, as a run of its own, and compared again.
 *
 * @throws {OtherSourceError} If the mirror holds another source's data.
 */
export async function verifyKinds(parts: PullParts, kinds: readonly ListedKind[], settings: PullSettings) {
  const request = { ...settings, command: 'verify', kinds };
  const { result, ...facts } = await recordRun(parts, request, async (runId) => {
    await openSourceBinding(parts.session, settings.baseUrl, false);
    const comparisons: KindComparison[] = [];
    for (const kind of await withoutOffKinds(parts, kinds)) {
      const startedAt = parts.clock.now();
      const traffic = countTraffic(parts, kind.name);
      const comparison = await verifyKind(parts, kind, settings);
      comparisons.push(comparison);
      const report = { ...reportOf(kind, comparison), ...traffic() };
      const run = { runId, owner: parts.owner };
      await parts.session.atomically((tx) => saveKindReport(tx, run, report, startedAt));
    }
    const isInterrupted = comparisons.some((comparison) => comparison.reason === 'interrupted');
    const isDone = comparisons.every((comparison) => comparison.reason === null);
    return { state: isInterrupted ? 'interrupted' : isDone ? 'done' : 'incomplete', result: comparisons };
  });
  return { ...facts, kinds: result };
}

/** A comparison as the run keeps it: its counts in words too. The rows that are not unchanged differ: `readDiffering`. */
function reportOf(kind: ListedKind, comparison: KindComparison): KindReport {
  const { reason, detail, same, moved, unlisted, differs, quarantined } = comparison;
  const counts = Object.entries(countsOf(comparison))
    .map((pair) => pair.join(' '))
    .join(', ');
  const why = { reason, detail: detail === null ? counts : `${counts}. ${detail}` };
  const unchanged = same + moved + unlisted;
  const report = { ...unsweptReport(kind, why), rows: unchanged + differs, unchanged, quarantined };
  if (reason !== null) return report;
  return { ...report, state: 'complete', reason: differs > 0 ? 'rows_differ' : null };
}

type Verdict = 'moved' | 'unlisted' | 'value' | 'missing' | 'surplus';

/** A comparison under way. */
interface Comparison extends Looked {
  /** The records in which the first look found a difference. */
  readonly verdicts: Map<string, Verdict>;
  /** By record and field: pages that overlap show a record twice. */
  readonly differences: Map<string, Finding>;
}

/** Why the list could not be compared to its end; null = it was. */
type Ending = Pick<KindReport, 'reason' | 'detail'>;

async function verifyKind(
  parts: PullParts,
  kind: ListedKind,
  settings: PullSettings,
): Promise<KindComparison> {
  const looked = { compared: new Set<string>(), quarantined: new Set<string>() };
  const comparison: Comparison = { ...looked, verdicts: new Map(), differences: new Map() };
  const ending = await lookTwice(parts, kind, settings, comparison).catch((error: unknown): Ending => {
    // A list of another company stops only its own kind.
    if (error instanceof OtherSourceError) return { reason: OTHER_SOURCE, detail: errorText(error) };
    if (!(error instanceof SourceError)) throw error;
    return { reason: error.reason, detail: errorText(error) };
  });
  return resultOf(kind, comparison, ending);
}

const MAX_DIFFERENCES = 100;

/**
 * Compares all records, and those that differ once more, after a pull. A difference counts only if both looks find it and the
 * service sent the same value both times: all others may have changed during the comparison.
 */
async function lookTwice(
  parts: PullParts,
  kind: ListedKind,
  settings: PullSettings,
  comparison: Comparison,
): Promise<Ending> {
  if (parts.signal?.aborted)
    return { reason: 'interrupted', detail: 'The run was interrupted before this kind.' };
  const { verdicts, differences } = comparison;
  const first = new Set<bigint>();
  for await (const finding of compareList(parts, kind, comparison, null)) {
    first.add(hashOf(finding));
    verdicts.set(finding.id, 'moved');
  }
  if (verdicts.size === 0) return { reason: null, detail: await explainAbsent(parts, kind, []) };
  const surplus = await readSurplus(parts, kind.name, [...verdicts.keys()]);
  const { kinds } = await pullKinds(parts, { ...settings, kinds: [kind], acceptNewSource: false });
  const unread = kinds.find((report) => !isReadToEnd(report));
  if (unread !== undefined) return unread;
  for await (const finding of compareList(parts, kind, comparison, new Set(verdicts.keys()))) {
    if (!first.has(hashOf(finding))) continue;
    const { id, field } = finding;
    const verdict = verdictOn(finding, surplus);
    verdicts.set(id, verdict);
    if (verdict !== 'unlisted' && differences.size < MAX_DIFFERENCES)
      differences.set(`${id} ${field}`, { id, ...shortenDifference(finding) });
  }
  return { reason: null, detail: await explainAbsent(parts, kind, idsWith(verdicts, 'unlisted')) };
}

/** Why rows that have left the list are still in the mirror, and others are kept out; null if there are none. */
async function explainAbsent({ session }: PullParts, { name }: ListedKind, ids: readonly string[]) {
  const absences = await readAbsences(session, name);
  const causes = Map.groupBy(ids, (id) => LEFT[absences.get(id)?.state ?? ''] ?? 'to be confirmed');
  const left = [...causes].map(([cause, of]) => `${of.length} ${cause}`).join(', ');
  const suppressed = (await readSuppressed(session, name)).size;
  const notes = [
    ...(ids.length > 0 ? [`rows that have left the list: ${left}`] : []),
    ...(suppressed > 0 ? [`${suppressed} kept out: forgotten`] : []),
  ];
  return notes.join('; ') || null;
}

const LEFT: Readonly<Record<string, string>> = {
  rejected: 'kept by a decision',
  held: 'held for a decision',
};

const idsWith = (verdicts: Comparison['verdicts'], verdict: Verdict): string[] =>
  [...verdicts.keys()].filter((id) => verdicts.get(id) === verdict);

/** The rows that a backfill of all would remove; any other that the list lacks was a record, and awaits its proof. */
async function readSurplus({ session }: PullParts, kind: string, ids: readonly string[]) {
  const { lastShown } = spansOf(await readSightings(session, kind), []);
  const { knownFrom } = await readStanding(session, kind);
  return findSurplus(session, kind, await liveRowsOf(session, kind, ids), { knownFrom, lastShown });
}

function verdictOn({ id, field, service }: Finding, surplus: ReadonlySet<string>): Verdict {
  if (field !== 'id') return 'value';
  if (service !== null) return 'missing';
  return surplus.has(id) ? 'surplus' : 'unlisted';
}

/**
 * 64 bits of a hash: even the findings of a mirror that is wrong from end to end must fit into memory, and a million of them collide
 * once in 37 million times. Equal findings have the same record, the same field and the same value of the service.
 */
function hashOf({ id, field, service }: Finding): bigint {
  const text = JSON.stringify([id, field, service]);
  return createHash('sha256').update(text).digest().readBigInt64BE();
}

/**
 * The result for one kind: every record of the list and every live row is counted once. If a list or the pull ended early, a
 * difference found once is none yet.
 */
function resultOf(
  kind: ListedKind,
  { compared, quarantined, verdicts, differences }: Comparison,
  { reason, detail }: Ending,
) {
  const idsOf = (verdict: Verdict) => idsWith(verdicts, verdict);
  const [moved, unlisted] = [idsOf('moved').length, idsOf('unlisted').length];
  const [missing, surplus] = [idsOf('missing'), idsOf('surplus').length];
  const open = moved + unlisted;
  const openText = open === 0 ? '' : ` ${open} that did not agree could not be looked at again.`;
  return {
    kind: kind.name,
    /** Records that agreed at the first comparison. */
    same: [...compared].filter((id) => !verdicts.has(id)).length,
    /** Records that agreed only after the pull, because they had changed meanwhile. */
    moved: reason === null ? moved : 0,
    /** Rows that have left the list and are still in the mirror, for the cause in `detail`. */
    unlisted: reason === null ? unlisted : 0,
    /** Records that differ although they were pulled, missing and surplus ones included. */
    differs: verdicts.size - open,
    missing: missing.length,
    surplus,
    quarantined: quarantined.size,
    reason,
    detail: reason === null ? detail : `${detail ?? ''}${openText}`.trim(),
    /** The command that reads the differing records again; null if there are none. */
    repair:
      surplus > 0
        ? `bms-sync backfill ${kind.name} --all`
        : repairCommand(kind.name, [...idsOf('value'), ...missing]),
    /** The first of them, values shortened. */
    differences: [...differences.values()],
  };
}
