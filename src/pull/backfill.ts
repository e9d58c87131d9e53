import { isListed, withUsableRetrieve, type Kind, type ListedKind } from '../catalog/kind.ts';
import { errorText } from '../lib/sync-error.ts';
import { OtherSourceError } from '../db/session/errors.ts';
import { inChunks } from '../db/session/sql-text.ts';
import { spansOf } from '../diff/spans.ts';
import { readMirroredKind } from '../store/kinds/field-store.ts';
import { readSuppressed } from '../store/records/erasure-store.ts';
import { findSurplus, removeSurplus } from '../store/records/surplus-rows.ts';
import { liveRows, liveRowsOf } from '../store/records/tombstone-store.ts';
import { refill } from '../store/schema/redecode.ts';
import { readSightings } from '../store/sightings/sighting-store.ts';
import { releaseKind } from '../store/kinds/kind-lease.ts';
import { saveKindReport, type KindReport } from '../store/runs/run-store.ts';
import { openSourceBinding, readCompanies } from '../store/kinds/source-binding.ts';
import { SourceError } from '../source/http/errors.ts';
import type { ListResponse } from '../source/paging/list-responses.ts';
import type { PageRange } from '../source/paging/walk-steps.ts';
import { beginSweep } from './sweep/begin-sweep.ts';
import { addDiscoveredColumns } from './sweep/end-sweep.ts';
import { verifyTenant, requireCompanies, requireCompany } from './land/guard-source.ts';
import type { PullParts, PullSettings } from './run/parts.ts';
import { countTraffic, prepareReports, recordRun, type RunFacts } from './run/record-run.ts';
import { landResponses } from './land/land-pages.ts';
import { landTogether } from './land/land-together.ts';
import { createTally, type Tally } from './land/tally.ts';
import { splitPage } from '../diff/compare-page.ts';
import { answerOf, groupAnswers, landGroup, type AnswerToLand } from './land/land-records.ts';
import { withLease, type Sweep } from './run/sweep.ts';

/** The part of a list to read again: some records, some pages, or all of it. */
export type Extent = { readonly ids: readonly string[] } | { readonly pages: PageRange };

export interface BackfillRequest extends PullSettings {
  /** The requested run that this work belongs to, if there is one. */
  readonly runId?: number;
  readonly kind: Kind;
  readonly extent: Extent;
  /** The extent as the caller wrote it. */
  readonly request: string;
}

export interface BackfillReport extends RunFacts, Omit<KindReport, 'certifiedAt' | 'deleted' | 'durationMs'> {
  /** Live rows without a record in the service, as far as is known, which became tombstones. */
  readonly surplus: number;
  /** Requested records that the service does not have. */
  readonly missing: readonly string[];
  /** Records that were read and are kept out by `forget --suppress`: they count as no rows. */
  readonly suppressed: readonly string[];
}

type BackfillEnding = Pick<KindReport, 'state' | 'reason' | 'detail'>;

/**
 * Reads records again on request and lands them. Concludes nothing about other records.
 *
 * @throws {LeaseError} If another process sweeps this kind.
 * @throws {MirrorError} {OtherSourceError}
 */
export async function backfill(parts: PullParts, request: BackfillRequest): Promise<BackfillReport> {
  const { kind } = request;
  const traffic = countTraffic(parts);
  const { result, ...facts } = await recordRun(
    parts,
    { ...request, command: 'backfill', kinds: [kind] },
    async (runId) => {
      const binding = await openSourceBinding(parts.session, request.baseUrl, false);
      if ((await readCompanies(parts.session, kind, false)).isLearning) await verifyTenant(parts, binding);
      const reading = { kind, runId, binding, rules: request, isPartial: true } as const;
      const { sweep, stopHeartbeat } = await beginSweep(parts, reading);
      const startedAt = parts.clock.now();
      const work = { sweep, startedAt, tally: createTally(), missing: [], surplus: 0 };
      let ending: BackfillEnding;
      try {
        ending = await readExtent(parts, request, work);
        if (ending.state === 'complete') await correctRows(parts, request, work);
      } catch (error) {
        if (error instanceof OtherSourceError) await endBackfill(parts, work, 'refused'); // The lease is still ours.
        throw error;
      } finally {
        stopHeartbeat();
      }
      const keptOut = await readSuppressed(parts.session, kind.name);
      const suppressed = work.tally.ids().filter((id) => keptOut.has(id));
      const counts = work.tally.counts();
      const report = {
        kind: kind.name,
        ...ending,
        detail: ending.detail ?? (absentTexts({ missing: work.missing, suppressed }).join(' ') || null),
        ...counts,
        rows: counts.rows - suppressed.length,
        unchanged: counts.unchanged - suppressed.length,
        ...traffic(),
      };
      await endBackfill(parts, work, ending.state, report);
      const isInterrupted = ending.reason === 'interrupted';
      const state = isInterrupted ? 'interrupted' : ending.state === 'complete' ? 'done' : 'incomplete';
      const { missing, surplus } = work;
      return { state, result: { ...report, ...ending, missing, suppressed, surplus } };
    },
  );
  await prepareReports(parts, [kind]);
  return { ...result, ...facts };
}

const SHOWN_IDS = 20;

/** The requested records that are not in the mirror, and why, for the run's report. */
export function absentTexts({ missing, suppressed }: Pick<BackfillReport, 'missing' | 'suppressed'>) {
  const causes = Object.entries({ 'Not in the service': missing, 'Kept out: forgotten': suppressed });
  return causes.flatMap(([cause, ids]) => {
    const shown = ids.slice(0, SHOWN_IDS).join(', ');
    const end = ids.length > SHOWN_IDS ? ', …' : '.';
    return ids.length === 0 ? [] : [`${cause} (${ids.length}): ${shown}${end}`];
  });
}

async function readExtent(
  parts: PullParts,
  { kind, extent }: BackfillRequest,
  work: BackfillWork,
): Promise<BackfillEnding> {
  try {
    if ('ids' in extent) await backfillIds(parts, work, kind, extent.ids);
    else if (isListed(kind)) {
      const { source, onProgress, signal } = parts;
      const { sweep, tally } = work;
      const { ticks, tenants } = sweep;
      const pages = source.pages(kind, extent.pages, { tick: ticks.next, signal });
      const responses = requireCompanies(pages, { kind, tenants });
      const onLanded = ({ page, walk: { lastPage } }: ListResponse): void => {
        onProgress?.({ kind: kind.name, pages: page, lastPage });
      };
      const last = await landResponses(parts, { sweep, tally, responses, onLanded });
      return { state: 'complete', reason: null, detail: beyondText(extent.pages, last) };
    }
    return { state: 'complete', reason: null, detail: null };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { state: error.state, reason: error.reason, detail: errorText(error) };
  }
}

/** That the wanted pages reach beyond the list, by what the service has named; null if they do not, or it names nothing. */
function beyondText({ to }: PageRange, last: ListResponse | null): string | null {
  const lastPage = last?.walk.lastPage ?? null;
  if (lastPage === null || to === Infinity || to <= lastPage) return null;
  return `The list has only ${lastPage} ${lastPage === 1 ? 'page' : 'pages'}.`;
}

/**
 * Fills the columns and nested rows of all records that were read, from `_raw`; after the whole list, live rows that it did not show
 * and that are not records become tombstones.
 */
async function correctRows(parts: PullParts, request: BackfillRequest, work: BackfillWork): Promise<void> {
  const { kind, extent } = request;
  const { session, clock } = parts;
  const { sweep, tally } = work;
  const readIds = tally.ids();
  await refill(session, await readMirroredKind(session, kind), readIds, clock.now());
  if ('ids' in extent || extent.pages.from > 1 || extent.pages.to < Infinity) return;
  const shown = new Set(readIds);
  const { lastShown } = spansOf(await readSightings(session, kind.name), []);
  for await (const rows of liveRows(session, kind.name)) {
    const unseen = rows.filter((row) => !shown.has(row.id)).map((row) => row.id);
    if (unseen.length === 0) continue;
    const response = sweep.ticks.next();
    work.surplus += await withLease(parts, sweep, async (tx, now) => {
      const live = await liveRowsOf(tx, kind.name, unseen);
      const { knownFrom } = sweep.lease;
      const ids = [...(await findSurplus(tx, kind.name, live, { knownFrom, lastShown }))];
      for (const batch of inChunks(ids)) await removeSurplus(tx, kind.name, { ids: batch, response, now });
      return ids.length;
    });
  }
}

/** Releases the lease with the standing of the last sweep: a backfill proves nothing about the whole list. */
async function endBackfill(
  parts: PullParts,
  work: BackfillWork,
  state: BackfillEnding['state'] | 'refused',
  report?: Omit<KindReport, 'certifiedAt' | 'deleted'>,
): Promise<void> {
  const { session, clock, owner } = parts;
  const { lease, kind } = work.sweep;
  if (state === 'complete') await addDiscoveredColumns(parts, kind);
  await session.atomically(async (tx) => {
    await releaseKind(tx, lease, {
      ...lease.before,
      isComplete: false,
      hasChanges: work.tally.changes() > 0,
      now: clock.now(),
    });
    if (report === undefined) return;
    const ended = { ...report, certifiedAt: null, deleted: work.surplus };
    await saveKindReport(tx, { runId: work.sweep.runId, owner }, ended, work.startedAt);
  });
}

const RETRIEVED_AT_ONCE = 50;

/** Reads records by their ids and lands them. A kind without single retrieval is read page by page instead. */
async function backfillIds(
  parts: PullParts,
  work: BackfillWork,
  kind: Kind,
  ids: readonly string[],
): Promise<void> {
  const askable = withUsableRetrieve(kind);
  if (askable === null) return isListed(kind) ? findInList(parts, work, kind, new Set(ids)) : undefined;
  const { ticks, tenants } = work.sweep;
  let retrieved = 0;
  for (const batch of inChunks(ids, RETRIEVED_AT_ONCE)) {
    const options = { tick: ticks.next, signal: parts.signal };
    const answers = await Promise.all(batch.map((id) => parts.source.retrieve(askable, id, options)));
    const records = answers.flatMap((answer) => answer.record ?? []);
    requireCompany({ kind, tenants }, { isUnchanged: false, read: () => records });
    const shown = answers.flatMap(({ record, ...ticks }) =>
      record === null ? [] : [answerOf(splitPage([record]), ticks)],
    );
    for (const [index, id] of batch.entries()) if (answers[index]?.record === null) work.missing.push(id);
    await landAnswers(parts, work, shown, false);
    retrieved += batch.length;
    parts.onProgress?.({ kind: kind.name, pages: retrieved, lastPage: ids.length });
  }
}

async function findInList(
  parts: PullParts,
  work: BackfillWork,
  kind: ListedKind,
  wanted: Set<string>,
): Promise<void> {
  const { ticks, tenants } = work.sweep;
  const options = { tick: ticks.next, signal: parts.signal };
  const pages = parts.source.pages(kind, { from: 1, to: Infinity }, options);
  for await (const response of requireCompanies(pages, { kind, tenants })) {
    const { incoming, quarantined } = splitPage(response.read());
    const isWanted = (record: { readonly id: string | null }): boolean =>
      record.id !== null && wanted.has(record.id);
    const page = { incoming: incoming.filter(isWanted), quarantined: quarantined.filter(isWanted) };
    for (const { id } of [...page.incoming, ...page.quarantined]) if (id !== null) wanted.delete(id);
    await landAnswers(parts, work, [answerOf(page, response)], true);
    parts.onProgress?.({ kind: kind.name, pages: response.page, lastPage: response.walk.lastPage });
    if (wanted.size === 0) return;
  }
  for (const id of wanted) work.missing.push(id);
}

async function landAnswers(
  parts: PullParts,
  { sweep, tally }: BackfillWork,
  answers: readonly AnswerToLand[],
  isListed: boolean,
): Promise<void> {
  for (const group of groupAnswers(answers)) {
    const options = { now: parts.clock.now(), isListed };
    const landings = await landTogether(parts.session, sweep, options, (tx, landing) =>
      landGroup(tx, landing, group),
    );
    for (const [index, landed] of landings.entries()) tally.addRecords(group[index]?.seen ?? [], landed);
  }
}

/** A backfill under way. */
interface BackfillWork {
  readonly sweep: Sweep;
  readonly startedAt: Date;
  readonly tally: Tally;
  readonly missing: string[];
  surplus: number;
}
