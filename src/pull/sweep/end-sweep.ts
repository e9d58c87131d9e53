import { withUsableRetrieve, type Kind } from '../../catalog/kind.ts';
import type { Spans } from '../../diff/spans.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { discoverColumns } from '../../views/discover-columns.ts';
import { MirrorError } from '../../db/session/errors.ts';
import { saveVolatileFields } from '../../store/runs/volatile-fields.ts';
import { findRepeatedIds } from '../../diff/repeated-ids.ts';
import { changeFields, endAllowedAgain, readVanished } from '../../store/kinds/field-store.ts';
import {
  closeQuarantined,
  saveIssuesOf,
  saveListIssue,
  type ListIssue,
} from '../../store/records/issue-store.ts';
import { findDuplicates } from '../../store/records/duplicates.ts';
import { writeMeta } from '../../store/kinds/meta.ts';
import { noteCreatesShown } from '../../store/outbox/prompt-kinds.ts';
import { CERTIFIED_SWEEP, saveHolder } from '../token-holders.ts';
import { releaseKind } from '../../store/kinds/kind-lease.ts';
import { wakeAfterSweep } from '../../store/outbox/outbox-queue.ts';
import { prunePages } from '../../store/sightings/page-store.ts';
import { redecode } from '../../store/schema/redecode.ts';
import { saveKindReport, type KindReport } from '../../store/runs/run-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import {
  findOldSightingsTick,
  readSightings,
  pruneSightings,
  clearEnds,
  forgetUnlisted,
  readUnlisted,
  saveUnlisted,
} from '../../store/sightings/sighting-store.ts';
import type { PullParts } from '../parts.ts';
import { saveNextPageSize } from './page-size.ts';
import type { ReadingEnd } from './read-list.ts';
import type { AbsenceConclusion } from '../deletions/conclude-absences.ts';
import type { Sweep } from '../reading.ts';
import type { Tally } from '../land/tally.ts';
import { findPresenceDrift } from '../../diff/field-drift.ts';
import { saveDrift } from '../../store/kinds/drift-store.ts';
import { isUnusualEnvelope } from '../../source/http/read-answer.ts';
import type { Certification } from '../../diff/certify.ts';
import { MAX_CONTROL_FAILURES } from '../../diff/decide-deletions.ts';

/** Complete sweeps without a certificate after which the baseline ends. */
const BASELINE_SWEEPS = 3;

/** Ends a sweep: gives discovered fields their columns, notes the findings about the list, releases the lease. */
export async function endSweep(
  parts: PullParts,
  sweep: Sweep,
  result: {
    readonly tally: Tally;
    readonly ending: ReadingEnd;
    readonly concluded: AbsenceConclusion;
    readonly report: KindReport;
    readonly startedAt: Date;
  },
): Promise<void> {
  const { session, clock, owner } = parts;
  const { kind, lease, began, runId, maxWholeRows } = sweep;
  const { tally, ending, concluded, report, startedAt } = result;
  const isComplete = ending.state === 'complete';
  if (isComplete) await addDiscoveredColumns(parts, kind);
  const standing = nextStanding(sweep, tally, ending, clock.now());
  await session.atomically(async (tx) => {
    const now = clock.now();
    await releaseKind(tx, lease, {
      ...standing,
      state: report.state,
      reason: report.reason,
      isComplete,
      controlFailures: concluded.controlFailures,
      now,
    });
    if (ending.state === 'complete') {
      const { certification, spans } = ending.list;
      await noteDrift(tx, sweep, tally, now);
      const { rows, created } = tally.counts();
      const swept = { changed: tally.fieldsChanged, rows: rows - created, ignored: sweep.ignoredFields };
      await saveVolatileFields(tx, kind.name, swept, now);
      const canHaveDoubles = !ending.list.isOfThisSweep && tally.isDoubled();
      const doubled = canHaveDoubles ? findRepeatedIds(await readSightings(tx, kind.name), began) : [];
      await saveIssuesOf(tx, kind.name, { code: 'on_two_pages', found: doubled, now });
      await saveIssuesOf(tx, kind.name, { code: 'twins', found: await findDuplicates(tx, kind), now });
      await noteListIssues(tx, kind.name, certification, { concluded, standing, now });
      const { wholeRows } = tally.list;
      if (wholeRows > maxWholeRows) await writeMeta(tx, `whole.${kind.name}`, String(wholeRows));
      await endAllowedAgain(tx, kind, now);
      const isShown = (id: string): boolean => spans.lastAnswered(spans.ids.find(id)) > began;
      await noteCreatesShown(tx, kind.name, { startedAt, isShown });
      await closeQuarantined(tx, kind.name, tally.quarantined, now);
      await prunePages(tx, kind.name, tally.list.lastPage, began);
      await storeUnlisted(tx, kind.name, spans);
      if (report.state === 'certified') {
        const found = await readVanished(tx, kind);
        await saveIssuesOf(tx, kind.name, { code: 'vanished_field', found, now });
      }
      await wakeAfterSweep(tx, kind.name, now);
    }
    await noteProof(tx, sweep, result, now);
    await saveNextPageSize(tx, parts, { kind, tally, ending });
    await saveKindReport(tx, { runId, owner }, report, startedAt);
  });
  if (standing.baselineAt !== null) await session.makeDurable();
}

/** Notes whose list it was; one of two tokens, or of a broken sweep, ends nowhere. */
async function noteProof(
  tx: Transaction,
  { kind, began }: Sweep,
  { ending, tally }: { readonly ending: ReadingEnd; readonly tally: Tally },
  now: Date,
) {
  const hasTwoTokens = ending.state === 'complete' && ending.list.hasTwoTokens === true;
  if (ending.state === 'invalid' || hasTwoTokens) await clearEnds(tx, kind.name, began);
  const isWhole = ending.state === 'complete' && !hasTwoTokens;
  const canRetrieve = withUsableRetrieve(kind) !== null; // Else two sweeps without a certificate prove nothing.
  const counts = isWhole && ending.list.isOfThisSweep ? CERTIFIED_SWEEP : Number(isWhole && canRetrieve);
  for (const holder of tally.holders) await saveHolder(tx, kind.name, { holder, counts }, now);
}

/** The standing afterwards. A hole may have hidden rows, and a broken sweep proves nothing. */
function nextStanding(sweep: Sweep, tally: Tally, ending: ReadingEnd, now: Date) {
  const { lease, began } = sweep;
  if (ending.state !== 'complete') return lease;
  const { list } = ending;
  const certifiedAt = list.certifiedAt ?? lease.certifiedAt; // Not the later one: a clock may have been set back.
  const isConcluded = certifiedAt !== null || lease.completeSweeps + 1 >= BASELINE_SWEEPS;
  return {
    certifiedAt,
    baselineAt: lease.baselineAt ?? (isConcluded ? formatInstant(now) : null),
    lastCompleteSweep: tally.list.hasHoles || list.hasTwoTokens ? null : began,
    uncertifiedSweeps: list.isOfThisSweep ? 0 : lease.uncertifiedSweeps + 1,
    ...tally.list.shape,
  };
}

/** Stores the rows that no remaining sighting shows, and prunes old sightings. */
async function storeUnlisted(tx: Transaction, kind: string, spans: Spans): Promise<void> {
  const oldest = await findOldSightingsTick(tx, kind);
  if (oldest === null) return;
  await saveUnlisted(tx, kind, spans.idsLastAnsweredUpTo(oldest));
  const unlisted = await readUnlisted(tx, kind);
  const isShown = (id: string): boolean => spans.lastAnswered(spans.ids.find(id)) > oldest;
  await forgetUnlisted(tx, kind, unlisted.filter(isShown));
  await pruneSightings(tx, kind, oldest);
}

/**
 * Gives discovered fields their columns; does not wait long for a reader that locks the table. The elements of an array show
 * their fields only once they are decoded into its table, so it goes on until nothing new shows.
 */
export async function addDiscoveredColumns({ session, clock, logger }: PullParts, kind: Kind): Promise<void> {
  try {
    let before: Kind | null = null;
    for (let known = kind; known !== before;) {
      before = known;
      known = await discoverColumns(session, before, clock.now());
      await redecode(session, known, { now: clock.now() });
    }
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === 'mirror.locked')) throw error;
    logger.warn({ kind: kind.name }, 'a reader locks the table; its new columns are added in the next sweep');
  }
}

/** Notes drift in the service's answers: fields that appeared or vanished, and changes of envelope and paging. */
async function noteDrift(tx: Transaction, sweep: Sweep, tally: Tally, now: Date): Promise<void> {
  const { kind, lease, hasHoles: hadHoles } = sweep;
  const drifts = findPresenceDrift(sweep.fields, tally.fields);
  const fieldsWith = (code: string) =>
    drifts.filter((drift) => drift.code === code).map((drift) => drift.field);
  await changeFields(tx, kind.name, fieldsWith('vanished_field'), { vanishedAt: formatInstant(now) });
  await changeFields(tx, kind.name, fieldsWith('returned_field'), { vanishedAt: null });
  const { shape } = tally.list;
  if (tally.list.hasHoles && !hadHoles) await saveDrift(tx, [{ kind: kind.name, ...HOLES }], now);
  const isFirst = lease.completeSweeps === 0; // The baseline for later ones, but for lists that come in no array.
  const isOdd = isUnusualEnvelope(shape.envelope ?? '');
  const fieldDrifts = isFirst ? [] : drifts.map((drift) => ({ kind: kind.name, ...drift }));
  const shapeDrifts = (
    [
      ['envelope', 'envelope'],
      ['pageSize', 'page_size'],
    ] as const
  )
    .filter(([part]) => (!isFirst || (isOdd && part === 'envelope')) && lease[part] !== shape[part])
    .map(([part, code]) => {
      const detail = `was ${lease[part] ?? 'unknown'}, now ${shape[part] ?? 'unknown'}`;
      return { kind: kind.name, code, field: null, detail };
    });
  await saveDrift(tx, [...fieldDrifts, ...shapeDrifts], now);
}

const HOLES = {
  code: 'holes',
  field: null,
  detail: 'a short page had others with rows after it: this list is read to an empty page from now on',
} as const;

/** Opens the issues of a whole list and closes the solved ones. */
async function noteListIssues(
  tx: Transaction,
  kind: string,
  certification: Certification,
  findings: {
    readonly concluded: AbsenceConclusion;
    readonly standing: { readonly certifiedAt: string | null; readonly baselineAt: string | null };
    readonly now: Date;
  },
): Promise<void> {
  const { concluded, standing, now } = findings;
  const isUncertified = standing.baselineAt !== null && standing.certifiedAt === null;
  const hasTooMany = !certification.certified && certification.reason === 'too_many_rows';
  const details: Record<ListIssue, string | null> = {
    baseline_uncertified: isUncertified ? 'three complete sweeps did not certify the list' : null,
    too_many_rows: hasTooMany ? certification.detail : null,
    retrieve_unusable:
      concluded.controlFailures >= MAX_CONTROL_FAILURES
        ? 'a record that the list shows could not be read by its own path in three sweeps'
        : null,
  };
  for (const [code, detail] of Object.entries(details))
    await saveListIssue(tx, kind, { code: code as ListIssue, detail, now });
}
