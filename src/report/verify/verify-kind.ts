import { createHash } from 'node:crypto';
import type { ListedKind } from '../../catalog/kind.ts';
import { errorText } from '../../lib/sync-error.ts';
import { truncate } from '../../lib/text/text.ts';
import type { Difference } from './compare-record.ts';
import type { SourceError } from '../../source/http/errors.ts';
import { readExplainedIds } from './mirror-rows.ts';
import { readKind, type AuditFinding, type AuditParts, type KindReading } from './read-kind.ts';

/** The result for one kind: every record of the list and every live row is counted once. */
export interface KindComparison {
  readonly kind: string;
  /** Records that agreed at the first comparison. */
  readonly same: number;
  /** Records that agreed only after the pull, because they had changed meanwhile; and rows whose absence waits for proof. */
  readonly moved: number;
  /** Records that differ although they were pulled, missing and surplus ones included. */
  readonly differs: number;
  readonly missing: number;
  readonly surplus: number;
  readonly quarantined: number;
  /** A stable word: why the list could not be compared to its end; null = it was. */
  readonly reason: string | null;
  /** The result in words for a person, with further remarks. */
  readonly detail: string | null;
  /** The command that reads the differing records again; null if there are none, or only rows without a record. */
  readonly repair: string | null;
  /** The first of them, values shortened. */
  readonly differences: readonly (Difference & { readonly id: string })[];
}

/** How the pull between the readings ended. */
export interface PullOutcome {
  /** Null where it reached the end of the list. */
  readonly reason: string | null;
  readonly detail: string | null;
}

const MAX_DIFFERENCES = 100;

/**
 * Compares a kind with the service, by two readings with a pull between them. A difference counts only if both readings find it
 * and the service sent the same value both times: all others may have changed during the comparison.
 */
export async function verifyKind(
  parts: AuditParts,
  kind: ListedKind,
  pull: (kind: ListedKind) => Promise<PullOutcome>,
): Promise<KindComparison> {
  const firstFindings = new Set<bigint>(); // Hashes: even a mirror that is wrong from end to end must fit into memory.
  const suspects = new Set<string>();
  const surplus = new Set<string>(); // Rows without a record in the service.
  const confirmed = createConfirmed();
  const reading = await readKind(parts, kind, (finding) => {
    firstFindings.add(hashOf(finding));
    suspects.add(finding.id);
    if (finding.is === 'surplus') surplus.add(finding.id);
  });
  const first = { kind, reading, suspects, confirmed };
  if (reading.fault !== null) return abortedResult(first, outcomeOf(reading.fault));
  if (suspects.size === 0) return comparisonResult(first);

  // Surplus rows that the mirror can explain: the list had them a short time ago, or their absence is noted.
  const explainedIds = await readExplainedIds(parts.session, kind.name, surplus);
  const outcome = await pull(kind);
  if (outcome.reason !== null) return abortedResult(first, outcome);
  const again = await readKind(parts, kind, (finding) => {
    suspects.add(finding.id);
    if (!firstFindings.has(hashOf(finding))) return;
    if (finding.is === 'surplus' && explainedIds.has(finding.id)) {
      confirmed.waiting.add(finding.id);
      return;
    }
    const { is, id, ...difference } = finding;
    const { ids, shownDifferences } = confirmed;
    ids.add(id);
    if (is !== 'value') confirmed[is].add(id);
    if (shownDifferences.size < MAX_DIFFERENCES)
      shownDifferences.set(`${id} ${difference.field}`, { id, ...shortenDifference(difference) });
  });
  const second = { ...first, reading: again };
  return again.fault === null ? comparisonResult(second) : abortedResult(second, outcomeOf(again.fault));
}

/**
 * 64 bits of a hash: a million findings collide once in 37 million times. Equal findings have the same record, the same field and
 * the same value of the service.
 */
function hashOf(finding: AuditFinding): bigint {
  const text = JSON.stringify([finding.id, finding.is, finding.field, finding.service]);
  return createHash('sha256').update(text).digest().readBigInt64BE();
}

const outcomeOf = (fault: SourceError): PullOutcome => ({ reason: fault.reason, detail: errorText(fault) });

/** The differences that the second reading found again. */
type Confirmed = ReturnType<typeof createConfirmed>;

const createConfirmed = () => ({
  ids: new Set<string>(),
  missing: new Set<string>(),
  surplus: new Set<string>(),
  waiting: new Set<string>(), // Rows whose deletion only lacks its proof.
  shownDifferences: new Map<string, KindComparison['differences'][number]>(), // By record and field: pages that overlap show a record twice.
});

interface Comparison {
  readonly kind: ListedKind;
  readonly reading: KindReading;
  /** The records in which some reading found a difference. */
  readonly suspects: ReadonlySet<string>;
  readonly confirmed: Confirmed;
}

function comparisonResult({ kind, reading, suspects, confirmed }: Comparison): KindComparison {
  const waiting = confirmed.waiting.size;
  return {
    kind: kind.name,
    same: [...reading.compared].filter((id) => !suspects.has(id)).length,
    moved: suspects.size - confirmed.ids.size,
    differs: confirmed.ids.size,
    missing: confirmed.missing.size,
    surplus: confirmed.surplus.size,
    quarantined: reading.quarantined,
    reason: null,
    detail:
      waiting === 0
        ? null
        : `${waiting} records are no longer in the list; their deletion is not confirmed yet`,
    repair: repairCommand(kind.name, confirmed),
    differences: [...confirmed.shownDifferences.values()],
  };
}

/** The result if a list or the pull ended early: a difference found once is not a result yet. */
function abortedResult(comparison: Comparison, outcome: PullOutcome): KindComparison {
  const open = comparison.suspects.size - comparison.confirmed.ids.size;
  const left = open === 0 ? '' : ` ${open} that did not agree could not be looked at again.`;
  return {
    ...comparisonResult(comparison),
    moved: 0,
    reason: outcome.reason,
    detail: `${outcome.detail ?? ''}${left}`.trim(),
  };
}

const LONGEST = 80;
const LEAD_IN = 20;

/** Shortens the two values of a difference for display, from a little before the first differing character. */
function shortenDifference(difference: Difference): Difference {
  const { field, service, mirror } = difference;
  const a = service ?? '';
  const b = mirror ?? '';
  let firstDifference = 0;
  while (firstDifference < a.length && a[firstDifference] === b[firstDifference]) firstDifference++;
  const from = Math.max(a.length, b.length) > LONGEST ? Math.max(0, firstDifference - LEAD_IN) : 0;
  const cut = (text: string | null): string | null => {
    if (text === null) return null;
    const rest = from === 0 ? text : `…${text.slice(from).replace(/^[\udc00-\udfff]/, '')}`;
    return rest.length > LONGEST ? `${truncate(rest, LONGEST - 1)}…` : rest;
  };
  return { field, service: cut(service), mirror: cut(mirror) };
}

/** Above this length, reading the whole list is as fast as listing the ids. */
const LONGEST_LIST = 2_000;

/** The command that reads the differing records again: by their ids, or the whole list if there are many or rows too many. */
function repairCommand(kind: string, confirmed: Confirmed): string | null {
  if (confirmed.ids.size === 0) return null;
  if (confirmed.surplus.size > 0) return `bms-sync backfill ${kind} --all`;
  const ranges: { from: bigint; to: bigint }[] = []; // `1,5-9`: neighbours as ranges.
  for (const id of [...confirmed.ids].map(BigInt).sort((a, b) => (a < b ? -1 : 1))) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to + 1n === id) last.to = id;
    else ranges.push({ from: id, to: id });
  }
  const list = ranges
    .map((range) => (range.from === range.to ? `${range.from}` : `${range.from}-${range.to}`))
    .join();
  return `bms-sync backfill ${kind} ${list.length <= LONGEST_LIST ? `--ids ${list}` : '--all'}`;
}
