import { splitPage } from '../../diff/compare-page.ts';
import { formatIds } from '../../diff/page-ids.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import { batchByArrival } from '../../lib/time/batch-by-arrival.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import {
  dropPagesAfter,
  savePages,
  saveSightings,
  type NewPage,
  type NewSighting,
} from '../../store/sightings/page-store.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../parts.ts';
import { hasOtherWrites, type KindReading } from '../reading.ts';
import { endRunOfOthers } from '../token-holders.ts';
import {
  answerOf,
  emptyLanding,
  groupAnswers,
  landGroup,
  type AnswerToLand,
  type LandedRecords,
} from './land-records.ts';
import { landTogether, type LandingReading } from './land-together.ts';

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
 * @returns The last of them; null where none came.
 * @throws {LeaseError} If another owner has taken the kind over.
 */
export async function landResponses(
  parts: Pick<PullParts, 'session' | 'clock' | 'signal'>,
  options: {
    readonly reading: KindReading;
    readonly tally: { readonly add: (landing: Landing) => void };
    /** The signal fires if landing fails, too: then requests under way are not awaited. */
    readonly read: (signal: AbortSignal) => AsyncIterable<ListResponse>;
    /** Called after each transaction, and awaited, with the last response that landed. */
    readonly onLanded?: (last: ListResponse) => unknown;
  },
): Promise<ListResponse | null> {
  const { reading, tally, read, onLanded } = options;
  const { session, clock, signal } = parts;
  const stop = new AbortController();
  const responses = read(signal ? AbortSignal.any([stop.signal, signal]) : stop.signal);
  let last: ListResponse | null = null;
  const batches = parseBatches(reading, batchByArrival(responses, BATCH_LIMITS));
  for await (const batch of readAhead(batches)) {
    const landings = await landBatch(session, reading, batch, clock.now()).catch((error: unknown) => {
      stop.abort(); // Stop before the loop ends: its end awaits the requests under way.
      throw error;
    });
    for (const landing of landings) tally.add(landing);
    last = batch.at(-1)?.response ?? last;
    if (last !== null) await onLanded?.(last);
  }
  return last;
}

/** Parses batches: the next one while the database writes the one before it. */
async function* parseBatches(reading: KindReading, batches: AsyncIterable<readonly ListResponse[]>) {
  for await (const responses of batches) {
    const pages: PageToLand[] = [];
    for (const response of responses) pages.push(await parseUnlessKnown(reading, response));
    yield pages;
  }
}

/** Lands pages in one transaction, in their order: all of them or none. */
async function landBatch(session: Session, reading: KindReading, batch: readonly PageToLand[], now: Date) {
  return landTogether(session, reading, { now, isListed: true }, async (tx, landing) => {
    const landings: Landing[] = [];
    for (const group of groupAnswers(batch)) {
      const pages: PageToLand[] = [];
      // A row of a known page may have been written meanwhile; then it is parsed after all.
      for (const page of group)
        pages.push(page.isKnown ? await parseUnlessKnown(landing, page.response) : page);
      const landed = await landGroup(tx, landing, pages);
      landings.push(...pages.map((page, at) => toLanding(landing, page, landed[at] ?? emptyLanding())));
    }
    await endRunOfOthers(tx, reading.kind.name, new Set(batch.map(({ response }) => response.holder)), now);
    await saveContents(tx, landing, landings);
    await saveSightings(
      tx,
      landings.map(({ sighting }) => sighting),
    );
    landing.effects.newestSent = Math.max(landing.effects.newestSent, ...batch.map(({ sent }) => sent));
    return landings;
  });
}

/** A page with the records to compare: none if the page is known. */
interface PageToLand extends AnswerToLand {
  readonly response: ListResponse;
  readonly isKnown: boolean;
  readonly ids: string;
}

/** Parses a response, unless its bytes, and so its records, are those of a stored page whose rows are as it left them. */
async function parseUnlessKnown(
  reading: KindReading & Partial<Pick<LandingReading, 'effects' | 'sending'>>,
  response: ListResponse,
): Promise<PageToLand> {
  const { page, keys, isUnchanged } = response;
  const stored = reading.pages.get(page);
  if (isUnchanged && stored !== undefined && !hasOtherWrites(keys, stored, reading)) {
    const { ids, fields } = stored;
    const known = answerOf({ incoming: [], quarantined: [] }, response);
    return { ...known, response, isKnown: true, seen: keys, ids, fields };
  }
  await ownEventLoopTurn(); // Apart from the reading of its answer.
  const answer = answerOf(splitPage(response.read(), response.texts), response);
  const text = Math.max(answer.text, stored?.bytes ?? 0);
  return { ...answer, text, response, isKnown: false, ids: formatIds(answer.seen) };
}

/** The result of landing a page, by record id. */
export interface Landing extends LandedRecords {
  readonly response: ListResponse;
  readonly seen: readonly string[];
  /** The page's entry for the page store, written together with those of the transaction's other pages. */
  readonly sighting: NewSighting;
  /** Tracked fields that some record had. */
  readonly fields: Iterable<string>;
  /** Stored in place of the page's former content; null = it must be parsed again, undefined = it is known. */
  readonly content: NewPage | null | undefined;
}

function toLanding(reading: LandingReading, page: PageToLand, landed: LandedRecords): Landing {
  const { response, seen, ids, quarantined } = page;
  const shown = { ...landed, response, seen, fields: page.fields, content: undefined };
  if (page.isKnown) return { ...shown, sighting: toSighting(reading, response, ids) };
  const { sent, answered, rows, pageHash } = response;
  const fields = [...page.fields].filter((name) => reading.effects.fields.has(name));
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === rows && landed.overtaken.length === 0;
  const content =
    pageHash === null || !isWhole ? null : { ...pageHash, ids, fields, sent, response: answered };
  // Known to be in the list, although no row can be made of them.
  const rowless = quarantined.filter((record) => ['two_versions', 'too_deep'].includes(record.code));
  const rowlessIds = rowless.flatMap((record) => record.id ?? []);
  const shownIds = rowlessIds.length === 0 ? ids : formatIds([...seen, ...rowlessIds]);
  return { ...shown, fields, sighting: toSighting(reading, response, shownIds), content };
}

/**
 * Stores the contents of pages. A page that was requested after an answer, but landed before it, may have shown newer records than
 * the rows that the answer rewrote: it must be parsed again.
 */
async function saveContents(tx: Transaction, { kind, state }: LandingReading, landings: readonly Landing[]) {
  const contents = new Map<number, NewPage | null>();
  let oldestRewrite = Infinity; // The first tick of those answers that landed later and rewrote rows.
  for (const { response, content, fieldsChanged, restored } of landings.toReversed()) {
    const { page, sent, answered } = response;
    if (content !== undefined && !contents.has(page))
      contents.set(page, sent > oldestRewrite ? null : content);
    if (fieldsChanged.size + restored.length > 0) oldestRewrite = Math.min(oldestRewrite, answered);
  }
  if (oldestRewrite < state.newestSent) await dropPagesAfter(tx, kind.name, oldestRewrite);
  await savePages(tx, kind.name, contents);
}

function toSighting(reading: KindReading, response: ListResponse, ids: string): NewSighting {
  const { page, sent, answered, rows, end, meta } = response;
  return {
    kind: reading.kind.name,
    runId: reading.runId ?? 0,
    sweep: reading.began,
    page,
    sent,
    answered,
    ids,
    rows,
    endRows: end?.rows ?? null,
    total: meta?.total ?? null,
    sentAt: reading.ticks.instantOf(sent),
  };
}
