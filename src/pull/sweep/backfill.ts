import { isListed, withUsableRetrieve, type Kind, type ListedKind } from '../../catalog/kind.ts';
import { errorText } from '../../lib/sync-error.ts';
import { OtherSourceError } from '../../db/session/errors.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { spansOf } from '../../diff/spans.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { findSurplus, removeSurplus } from '../deletions/surplus-rows.ts';
import { liveRows, liveRowsOf } from '../deletions/tombstone-store.ts';
import { refill } from '../../store/schema/redecode.ts';
import { readSightings } from '../../store/sightings/sighting-store.ts';
import { releaseKind } from '../../store/kinds/kind-lease.ts';
import { saveKindReport, type KindReport } from '../../store/runs/run-store.ts';
import { openSourceBinding, readCompanies } from '../source-binding.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PageRange } from '../../source/paging/walk-steps.ts';
import { withReading } from './open-reading.ts';
import { addDiscoveredColumns } from './end-sweep.ts';
import { confirmCompany, requireCompanies, requireCompany } from './recognize-company.ts';
import type { PullParts, PullSettings } from '../parts.ts';
import { countTraffic, prepareReports, recordRun, type RunFacts } from '../record-run.ts';
import { landResponses } from '../land/land-pages.ts';
import { landTogether } from '../land/land-together.ts';
import { createTally, type Tally } from '../land/tally.ts';
import { splitPage } from '../../diff/compare-page.ts';
import { answerOf, groupAnswers, landGroup, type AnswerToLand } from '../land/land-records.ts';
import { withLease, type KindReading } from '../reading.ts';
import type { Transaction } from '../../db/session/session.ts';

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
  /** Rows whose columns had other values than their records. */
  readonly repaired: number;
  /** Requested records that the service does not have. */
  readonly missing: readonly string[];
  /** Records that were read and are kept out by `forget --suppress`: they count as no rows. */
  readonly suppressed: readonly string[];
}

type BackfillEnding = Pick<KindReport, 'state' | 'reason' | 'detail'>;

/** A backfill under way. */
interface BackfillWork {
  readonly reading: KindReading;
  readonly tally: Tally;
  readonly missing: string[];
}

/**
 * Reads records again on request and lands them. Concludes nothing about other records.
 * @throws {LeaseError} If another process sweeps this kind.
 * @throws {MirrorError} {OtherSourceError}
 */
export async function backfill(parts: PullParts, request: BackfillRequest): Promise<BackfillReport> {
  const { session, clock, owner } = parts;
  const { kind } = request;
  const traffic = countTraffic(parts, kind.name);
  const begun = { ...request, command: 'backfill', kinds: [kind] };
  const { result, ...facts } = await recordRun(parts, begun, async (runId) => {
    const binding = await openSourceBinding(session, request.baseUrl, false);
    if ((await readCompanies(session, kind, false)).isLearning) await confirmCompany(parts, binding, null);
    return withReading(parts, { kind, runId, binding, rules: request }, 'part', async (reading) => {
      const startedAt = clock.now();
      const missing: string[] = [];
      const work = { reading, tally: createTally(), missing };
      const { lease } = reading;
      // With the standing of the last sweep: a backfill proves nothing about the whole list.
      const release = (tx: Transaction): Promise<void> =>
        releaseKind(tx, lease, { ...lease.before, isComplete: false, now: clock.now() });
      const ending = await readExtent(parts, request, work).catch(async (error: unknown) => {
        if (error instanceof OtherSourceError) await session.atomically(release); // It is still ours.
        throw error;
      });
      const isComplete = ending.state === 'complete';
      const corrected = isComplete ? await correctRows(parts, request, work) : { surplus: 0, repaired: 0 };
      const keptOut = await readSuppressed(session, kind.name);
      const suppressed = work.tally.ids().filter((id) => keptOut.has(id));
      const counts = work.tally.counts();
      const [rows, unchanged] = [counts.rows - suppressed.length, counts.unchanged - suppressed.length];
      const report = { kind: kind.name, ...ending, ...counts, rows, unchanged, ...traffic() };
      const detail = ending.detail ?? (absentTexts({ missing, suppressed }).join(' ') || null);
      const kept = { ...report, detail, certifiedAt: null, deleted: corrected.surplus };
      if (isComplete) await addDiscoveredColumns(parts, reading.kind);
      await session.atomically(async (tx) => {
        await release(tx);
        await saveKindReport(tx, { runId, owner }, kept, startedAt);
      });
      const state = ending.reason === 'interrupted' ? 'interrupted' : isComplete ? 'done' : 'incomplete';
      return { state, result: { ...report, missing, suppressed, ...corrected } };
    });
  });
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
    let detail = null;
    if ('pages' in extent) detail = isListed(kind) ? await readPages(parts, work, kind, extent.pages) : null;
    else await readIds(parts, work, kind, extent.ids);
    return { state: 'complete', reason: null, detail };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { state: error.state, reason: error.reason, detail: errorText(error) };
  }
}

/** Reads pages of the list and lands them; returns that they reach beyond the list, where they do. */
async function readPages(
  parts: PullParts,
  { reading, tally }: BackfillWork,
  kind: ListedKind,
  range: PageRange,
): Promise<string | null> {
  const { ticks, companies } = reading;
  const read = (signal: AbortSignal) =>
    requireCompanies(parts.source.pages(kind, range, { tick: ticks.next, signal }), companies);
  const onLanded = ({ page, walk: { lastPage } }: ListResponse): void => {
    parts.onProgress?.({ kind: kind.name, pages: page, lastPage });
  };
  const last = await landResponses(parts, { reading, tally, read, onLanded });
  const lastPage = last?.walk.lastPage ?? null;
  if (lastPage === null || range.to === Infinity || range.to <= lastPage) return null;
  return `The list has only ${lastPage} ${lastPage === 1 ? 'page' : 'pages'}.`;
}

/**
 * Fills the columns and nested rows of all records that were read, from `_raw`; after the whole list, live rows that it did not show
 * and that are not records become tombstones. Returns the numbers of both.
 */
async function correctRows(
  parts: PullParts,
  { kind, extent }: BackfillRequest,
  { reading, tally }: BackfillWork,
): Promise<Pick<BackfillReport, 'surplus' | 'repaired'>> {
  const { session, clock } = parts;
  const readIds = tally.ids();
  const repaired = await refill(session, await readMirroredKind(session, kind), readIds, clock.now());
  if ('ids' in extent || extent.pages.from > 1 || extent.pages.to < Infinity) return { surplus: 0, repaired };
  const shown = new Set(readIds);
  const { lastShown } = spansOf(await readSightings(session, kind.name), []);
  const evidence = { knownFrom: reading.lease.knownFrom, lastShown };
  let surplus = 0;
  for await (const rows of liveRows(session, kind.name)) {
    const unseen = rows.filter((row) => !shown.has(row.id)).map((row) => row.id);
    if (unseen.length === 0) continue;
    const response = reading.ticks.next();
    surplus += await withLease(parts, reading, async (tx, now) => {
      const live = await liveRowsOf(tx, kind.name, unseen);
      const ids = [...(await findSurplus(tx, kind.name, live, evidence))];
      for (const batch of inChunks(ids)) await removeSurplus(tx, kind.name, { ids: batch, response, now });
      return ids.length;
    });
  }
  return { surplus, repaired };
}

const RETRIEVED_AT_ONCE = 50;

/** Reads records by their ids and lands them. A kind without single retrieval is read page by page instead. */
async function readIds(parts: PullParts, work: BackfillWork, kind: Kind, ids: readonly string[]) {
  const askable = withUsableRetrieve(kind);
  if (askable === null) return isListed(kind) ? findInList(parts, work, kind, new Set(ids)) : undefined;
  const { ticks, companies } = work.reading;
  const options = { tick: ticks.next, signal: parts.signal };
  let retrieved = 0;
  for (const batch of inChunks(ids, RETRIEVED_AT_ONCE)) {
    const answers = await Promise.all(batch.map((id) => parts.source.retrieve(askable, id, options)));
    const records = answers.flatMap((answer) => answer.record ?? []);
    requireCompany(companies, { isUnchanged: false, read: () => records });
    const shown = answers.flatMap(({ record, ...ticks }) =>
      record === null ? [] : [answerOf(splitPage([record]), ticks)],
    );
    work.missing.push(...batch.filter((_, index) => answers[index]?.record === null));
    await landAnswers(parts, work, shown, false);
    retrieved += batch.length;
    parts.onProgress?.({ kind: kind.name, pages: retrieved, lastPage: ids.length });
  }
}

async function findInList(parts: PullParts, work: BackfillWork, kind: ListedKind, wanted: Set<string>) {
  const { ticks, companies } = work.reading;
  const options = { tick: ticks.next, signal: parts.signal };
  const pages = parts.source.pages(kind, { from: 1, to: Infinity }, options);
  for await (const response of requireCompanies(pages, companies)) {
    const { incoming, quarantined } = splitPage(response.read());
    const isWanted = ({ id }: { readonly id: string | null }): boolean => id !== null && wanted.has(id);
    const page = { incoming: incoming.filter(isWanted), quarantined: quarantined.filter(isWanted) };
    for (const { id } of [...page.incoming, ...page.quarantined]) wanted.delete(id ?? '');
    await landAnswers(parts, work, [answerOf(page, response)], true);
    parts.onProgress?.({ kind: kind.name, pages: response.page, lastPage: response.walk.lastPage });
    if (wanted.size === 0) return;
  }
  for (const id of wanted) work.missing.push(id);
}

async function landAnswers(
  parts: PullParts,
  { reading, tally }: BackfillWork,
  answers: readonly AnswerToLand[],
  isListed: boolean,
): Promise<void> {
  for (const group of groupAnswers(answers)) {
    const options = { now: parts.clock.now(), isListed };
    const landings = await landTogether(parts.session, reading, options, (tx, landing) =>
      landGroup(tx, landing, group),
    );
    for (const [index, landed] of landings.entries()) tally.addRecords(group[index]?.seen ?? [], landed);
  }
}
