import { splitPage, type SplitPage } from '../../diff/compare-page.ts';
import { formatIds } from '../../diff/page-ids.ts';
import { isSameOrder } from '../../lib/json/json.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import { batchByArrival } from '../../lib/time/batch-by-arrival.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { excludedSince } from '../../store/kinds/exclusions.ts';
import { keepsSearchText } from '../../store/kinds/search-state.ts';
import { renewLease } from '../../store/kinds/kind-lease.ts';
import { bindSource } from '../../store/kinds/source-binding.ts';
import { readSending } from '../../store/outbox/outbox-queue.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { hasOpenFieldIssues } from '../../store/records/issue-store.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import {
  readDirtyRows,
  saveSightings,
  type NewSighting,
  type StoredPage,
} from '../../store/sightings/page-store.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../run/parts.ts';
import { applyEffects, hasOtherWrites, noEffects, noteWrites, type Sweep } from '../run/sweep.ts';
import { landRecords, emptyLanding, type LandedRecords } from './land-records.ts';
import { createRowBuffer, type LandingSweep } from './row-buffer.ts';

/** Fixed cost of landing a page, in rows. */
const PAGE_WEIGHT = 10;

/** Known pages land without a turn of the event loop: fewer share a transaction than their cost would allow. */
const KNOWN_WEIGHT = 40;

/** Longer rows weigh as many: a transaction is held in memory until it has landed. */
const ROW_BYTES = 1_000;

/**
 * The weight of a transaction: 8 pages of 100 rows of a kilobyte are waited for, up to 32 are taken from a service that answers
 * at once. In a list that is sorted by code, the ids of a few pages are spread over the whole index, and every commit writes
 * all that has changed of it to the log.
 */
export const BATCH_LIMITS = {
  targetWeight: 8 * (100 + PAGE_WEIGHT),
  lingerMs: 100,
  maxWeight: 32 * (100 + PAGE_WEIGHT),
  pauseMs: 2, // The next pages are not requested while these land.
  weigh: (response: ListResponse): number =>
    response.isUnchanged
      ? KNOWN_WEIGHT
      : PAGE_WEIGHT + Math.max(response.rows, (response.pageHash?.bytes ?? 0) / ROW_BYTES),
};

/**
 * Lands responses as they arrive, some in one transaction, and counts them.
 *
 * @returns The last of them; null where none came.
 * @throws {LeaseError} If another owner has taken the sweep over.
 */
export async function landResponses(
  parts: Pick<PullParts, 'session' | 'clock'>,
  options: {
    readonly sweep: Sweep;
    readonly tally: { readonly add: (landing: Landing) => void };
    readonly responses: AsyncIterable<ListResponse>;
    /** Aborted if landing fails: then requests under way are not awaited. */
    readonly stop?: AbortController;
    /** Called after each transaction, and awaited, with the last response that landed. */
    readonly onLanded?: (last: ListResponse) => unknown;
  },
): Promise<ListResponse | null> {
  const { sweep, tally, responses, stop, onLanded } = options;
  const stopOnError = (error: unknown): never => {
    stop?.abort(); // Stop before the loop ends: its end awaits the requests under way.
    throw error;
  };
  let last: ListResponse | null = null;
  const batches = parseBatches(sweep, batchByArrival(responses, BATCH_LIMITS), stopOnError);
  for await (const batch of readAhead(batches)) {
    const now = parts.clock.now();
    const landings = await landParsed(parts.session, sweep, batch, now).catch(stopOnError);
    for (const landing of landings) tally.add(landing);
    last = batch.responses.at(-1) ?? last;
    if (last !== null) await onLanded?.(last);
  }
  return last;
}

/** Responses that land together, with the records of each page that has changed. */
interface ParsedBatch {
  readonly responses: readonly ListResponse[];
  readonly parsed: ReadonlyMap<ListResponse, ParsedPage>;
}

/** Parses batches: the next one while the database writes the one before it. */
async function* parseBatches(
  sweep: Sweep,
  batches: AsyncIterable<readonly ListResponse[]>,
  onError: (error: unknown) => never,
): AsyncGenerator<ParsedBatch> {
  for await (const responses of batches) yield await parseBatch(sweep, responses).catch(onError);
}

async function parseBatch(sweep: Sweep, responses: readonly ListResponse[]): Promise<ParsedBatch> {
  const parsed = new Map<ListResponse, ParsedPage>();
  for (const response of responses)
    if (knownPage(sweep, response) === null) parsed.set(response, await parsePage(response));
  return { responses, parsed };
}

/**
 * Lands list responses in one transaction, in their order: all of them or none.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function landPages(
  session: Session,
  sweep: Sweep,
  responses: readonly ListResponse[],
  now: Date,
): Promise<readonly Landing[]> {
  return landParsed(session, sweep, await parseBatch(sweep, responses), now);
}

async function landParsed(
  session: Session,
  sweep: Sweep,
  { responses, parsed }: ParsedBatch,
  now: Date,
): Promise<readonly Landing[]> {
  return landTogether(session, sweep, { now, isListed: true }, async (tx, landing) => {
    // SQLite answers on our thread: there is nothing to wait for.
    if (tx.dialect === 'postgres') await landing.rows.readAhead(idsToReadAhead(landing, responses));
    const landings: Landing[] = [];
    for (const response of responses) {
      // A row of a known page may have been written meanwhile; then it is parsed after all.
      const known = parsed.has(response) ? null : knownPage(landing, response);
      if (known !== null) landings.push(landKnown(landing, response, known));
      else {
        const page = parsed.get(response) ?? (await parsePage(response));
        landings.push(await landPage(tx, landing, response, page));
      }
    }
    const sightings = landings.map((landing) => landing.sighting);
    await saveSightings(tx, sightings);
    return landings;
  });
}

/** The records of a page, sorted, and the facts for its sighting. */
interface ParsedPage extends SplitPage {
  readonly seen: readonly string[];
  readonly ids: string;
  readonly fields: ReadonlySet<string>;
}

async function parsePage(response: ListResponse): Promise<ParsedPage> {
  await ownEventLoopTurn(); // Apart from the reading of its answer.
  const sorted = splitPage(response.read(), response.texts);
  const seen = sorted.incoming.map((incoming) => incoming.id);
  const fields = new Set<string>();
  let before: readonly string[] = []; // Most records have the same fields in the same order: these are checked once.
  for (const { record } of sorted.incoming) {
    const names = Object.keys(record);
    if (isSameOrder(names, before)) continue;
    for (const name of names) fields.add(name);
    before = names;
  }
  return { ...sorted, seen, ids: formatIds(seen), fields };
}

/** The stored page whose bytes, and so whose records, a response shows again, while its rows are as it left them; else null. */
function knownPage(
  sweep: Sweep & Partial<Pick<LandingSweep, 'effects' | 'sending'>>,
  response: ListResponse,
): StoredPage | null {
  const known = response.isUnchanged ? sweep.pages.get(response.page) : undefined;
  return known === undefined || hasOtherWrites(response.keys, known, sweep) ? null : known;
}

/** Text of the pages whose rows are read at once; rows of longer pages are read with each of them. */
const MAX_READ_AHEAD_BYTES = 4_000_000;

/** The ids of the records that are compared with their rows; none where the pages, or those stored of them, are long. */
function idsToReadAhead(sweep: Sweep, responses: readonly ListResponse[]): readonly string[] {
  const parsed = responses.filter((response) => !response.isUnchanged);
  let text = 0;
  for (const { page, pageHash } of parsed)
    text += Math.max(pageHash?.bytes ?? Infinity, sweep.pages.get(page)?.bytes ?? 0);
  if (text > MAX_READ_AHEAD_BYTES) return [];
  return parsed.flatMap((response) => response.keys.filter((key) => /^[1-9]\d{0,14}$/.test(key))); // Some record may have no usable id.
}

/**
 * Runs a landing as one transaction. Its effects on the state of the sweep are applied after the commit, since the work may run
 * again after a lost connection.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function landTogether<T>(
  session: Session,
  sweep: Sweep,
  { now, isListed }: { readonly now: Date; readonly isListed: boolean },
  work: (tx: Transaction, landing: LandingSweep) => Promise<T>,
): Promise<T> {
  const { kind, lease, ticks, binding, tenants, state } = sweep;
  const savedCompanies = tenants.companies.size;
  const { result, effects, tick } = await session.atomically(async (tx) => {
    const effects = noEffects(state);
    // Sent together: PostgreSQL answers all of them in the time of one.
    const [tick, sending, dirty, suppressed, excluded, keepsSearch, hasFieldIssues] = await Promise.all([
      renewLease(tx, lease, ticks.latest(), now),
      readSending(tx, kind.name),
      readDirtyRows(tx, kind.name, state.latestWrite),
      readSuppressed(tx, kind.name),
      excludedSince(tx, kind),
      keepsSearchText(tx, kind),
      hasOpenFieldIssues(tx, kind.name),
    ]);
    await bindSource(tx, binding, tenants);
    noteWrites(effects, dirty);
    const facts = { sending, suppressed, excluded, keepsSearch, hasFieldIssues };
    const landing = { ...sweep, ...facts, effects, now, isListed };
    const rows = createRowBuffer(tx, landing);
    const result = await work(tx, { ...landing, rows });
    await rows.flush();
    return { result, effects, tick };
  });
  ticks.advanceTo(tick);
  binding.isBound = true;
  tenants.isReset = true;
  tenants.saved = savedCompanies;
  applyEffects(state, effects);
  return result;
}

/** The result of landing a page, by record id. */
export interface Landing extends LandedRecords {
  readonly response: ListResponse;
  readonly seen: readonly string[];
  /** The page's entry for the page store, written together with those of the transaction's other pages. */
  readonly sighting: NewSighting;
  /** Tracked fields that some record had. */
  readonly fields: Iterable<string>;
}

/** Lands the same bytes again: they hold the same records, and only their sighting is new. */
function landKnown(sweep: LandingSweep, response: ListResponse, page: StoredPage): Landing {
  noteSent(sweep, response);
  const sighting = toSighting(sweep, response, page.ids);
  return { ...emptyLanding(), response, seen: response.keys, fields: page.fields, sighting };
}

async function landPage(
  tx: Transaction,
  sweep: LandingSweep,
  response: ListResponse,
  parsed: ParsedPage,
): Promise<Landing> {
  await ownEventLoopTurn(); // A record of 100,000 fields takes long in each of these steps.
  const { page, sent, answered, rows, pageHash } = response;
  const { seen, ids } = parsed;
  const landed = await landRecords(tx, sweep, parsed, response);
  const fields = [...parsed.fields].filter((name) => sweep.effects.fields.has(name));
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === rows && landed.overtaken.length === 0;
  const content =
    pageHash === null || !isWhole ? null : { ...pageHash, ids, fields, sent, response: answered };
  sweep.rows.putPage(page, content);
  noteSent(sweep, response);
  // Known to be in the list, although no row can be made of them.
  const rowless = parsed.quarantined.filter((record) => ['two_versions', 'too_deep'].includes(record.code));
  const rowlessIds = rowless.flatMap((record) => record.id ?? []);
  const shownIds = rowlessIds.length === 0 ? ids : formatIds([...seen, ...rowlessIds]);
  return { ...landed, response, seen, fields, sighting: toSighting(sweep, response, shownIds) };
}

function noteSent(sweep: LandingSweep, response: ListResponse): void {
  sweep.effects.newestSent = Math.max(sweep.effects.newestSent, response.sent);
}

function toSighting(sweep: Sweep, response: ListResponse, ids: string): NewSighting {
  const { page, sent, answered, rows, end, meta } = response;
  return {
    kind: sweep.kind.name,
    runId: sweep.runId,
    sweep: sweep.began,
    page,
    sent,
    answered,
    ids,
    rows,
    endRows: end?.rows ?? null,
    total: meta?.total ?? null,
    sentAt: sweep.ticks.instantOf(sent),
  };
}
