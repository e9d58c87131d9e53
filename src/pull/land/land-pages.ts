import { arrivedTogether } from '../../lib/time/arrived-together.ts';
import { renewLease } from '../../mirror/kinds/kind-lease.ts';
import { bindSource } from '../../mirror/kinds/source-binding.ts';
import { readSending } from '../../mirror/outbox/outbox-queue.ts';
import { readSuppressed } from '../../mirror/records/erasure-store.ts';
import {
  dropPage,
  idsText,
  readDirtyRows,
  savePage,
  saveSightings,
} from '../../mirror/sightings/page-store.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../run/parts.ts';
import type { DraftedSweep, Sweep } from '../run/sweep.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sortPage } from '../../diff/judge-page.ts';
import type { Incoming, Quarantined, SortedPage } from '../../diff/judge-page.ts';
import { isSameOrder } from '../../lib/json/json.ts';
import type { TextList } from '../../lib/text/text-list.ts';
import type { NewSighting } from '../../mirror/sightings/page-store.ts';
import { hasOtherWrites } from '../run/sweep.ts';
import { landRecords } from './land-records.ts';
import type { LandedRecords } from './land-records.ts';

/** Fixed cost of landing a page, in rows. */
const PAGE_WEIGHT = 10;

/** The largest weight of a transaction: a code-sorted list changes all of the index, and every commit waits for the disk. */
export const TOGETHER = {
  most: 8 * (100 + PAGE_WEIGHT),
  weigh: ({ isKnown, rows }: ListResponse): number => PAGE_WEIGHT + (isKnown ? 0 : rows),
  lingerMs: 100,
};

interface Arriving {
  readonly sweep: Sweep;
  readonly tally: { readonly add: (landing: Landing) => void };
  readonly responses: AsyncIterable<ListResponse>;
  /** Aborted if landing fails: then requests under way are not awaited. */
  readonly stop?: AbortController;
  /** Called after each transaction, and awaited, with the last response that landed. */
  readonly onLanded?: (last: ListResponse) => unknown;
}

/**
 * Lands responses as they arrive, some in one transaction, and counts them.
 *
 * @returns The last of them; null where none came.
 * @throws {LeaseError} If another owner has taken the sweep over.
 */
export async function landArriving(
  { session, clock }: Pick<PullParts, 'session' | 'clock'>,
  { sweep, tally, responses, stop, onLanded }: Arriving,
): Promise<ListResponse | null> {
  let last: ListResponse | null = null;
  for await (const batch of arrivedTogether(responses, TOGETHER)) {
    const landings = await landPages(session, sweep, { responses: batch, now: clock.now() }).catch(
      (error: unknown) => {
        stop?.abort(); // Stop before the loop ends: its end awaits the requests under way.
        throw error;
      },
    );
    for (const landing of landings) tally.add(landing);
    last = batch.at(-1) ?? last;
    if (last !== null) await onLanded?.(last);
  }
  return last;
}

interface Arrivals {
  readonly responses: readonly ListResponse[];
  readonly now: Date;
}

/**
 * Lands list responses in one transaction, in their order: all of them or none.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function landPages(
  session: Session,
  sweep: Sweep,
  { responses, now }: Arrivals,
): Promise<readonly Landing[]> {
  return inDraft(session, sweep, {
    now,
    work: async (tx, draft) => {
      const landings: Landing[] = [];
      for (const response of responses) landings.push(await landPage(tx, draft, { response, now }));
      await saveSightings(
        tx,
        landings.map(({ sighting }) => sighting),
      );
      return landings;
    },
  });
}

/**
 * Runs a landing as one transaction, on a draft of the sweep's state. The draft counts only after the commit, since
 * the work may run again after a lost connection.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function inDraft<T>(
  session: Session,
  sweep: Sweep,
  { now, work }: { readonly now: Date; readonly work: (tx: Transaction, draft: DraftedSweep) => Promise<T> },
): Promise<T> {
  const { kind, lease, ticks, claim, tenants } = sweep;
  const saved = tenants.companies.size;
  const { result, state, tick } = await session.atomically(async (tx) => {
    const state = sweep.state.draft(await readSending(tx, kind.name));
    const tick = await renewLease(tx, lease, { tick: ticks.latest(), now });
    await bindSource(tx, claim, tenants);
    state.touched.add(await readDirtyRows(tx, kind.name, state.touched.latest()));
    const draft = { ...sweep, state, suppressed: await readSuppressed(tx, kind.name) };
    return { result: await work(tx, draft), state, tick };
  });
  ticks.leap(tick);
  claim.isBound = true;
  tenants.isReset = true;
  tenants.saved = saved;
  state.keep();
  return result;
}

/** A response, and the instant at which it lands. */
interface PageArrival {
  readonly response: ListResponse;
  readonly now: Date;
}

/** The result of landing a page, by record id. */
export interface Landing extends LandedRecords {
  readonly response: ListResponse;
  readonly seen: TextList;
  /** The page's entry for the page store, written together with those of the transaction's other pages. */
  readonly sighting: NewSighting;
  /** Tracked fields that some record had. */
  readonly fields: Iterable<string>;
}

const NOTHING: LandedRecords = {
  ...{ created: [], changed: [], restored: [], mended: [], overtaken: [] },
  quarantined: [],
};

/** Lands one list response within a transaction: its records and its digest. */
export async function landPage(
  tx: Transaction,
  sweep: DraftedSweep,
  { response, now }: PageArrival,
): Promise<Landing> {
  const { page: number, keys, sent, answered, rows } = response;
  const { newest, fields: tracked } = sweep.state;
  const page = sweep.pages.get(number);
  // The same bytes hold the same records: only their sighting is new.
  if (response.isKnown && page !== undefined && !hasOtherWrites(keys, page, sweep.state)) {
    newest.sent = Math.max(newest.sent, sent);
    return {
      ...NOTHING,
      response,
      seen: keys,
      fields: page.fields,
      sighting: sightingOf(sweep, response, page.ids),
    };
  }
  const { seen, unclear, fields: shown, ...sorted } = contentOf(response);
  await yieldToEventLoop(); // A record of 100,000 fields takes long in each of these steps.
  const landed = await landRecords(tx, sweep, { ...sorted, answer: { sent, answered, isListed: true, now } });
  const fields = [...shown].filter((name) => tracked.has(name));
  const ids = idsText(seen);
  const allIds = unclear.length === 0 ? ids : idsText([...seen, ...unclear]);
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === rows && landed.overtaken.length === 0;
  await rememberPage(tx, sweep, { response, ids: isWhole ? ids : null, fields });
  newest.sent = Math.max(newest.sent, sent);
  return { ...landed, response, seen, fields, sighting: sightingOf(sweep, response, allIds) };
}

interface ShownPage {
  readonly response: ListResponse;
  /** Null where a record was not landed: the page must be parsed again. */
  readonly ids: string | null;
  readonly fields: readonly string[];
}

async function rememberPage(
  tx: Transaction,
  { kind }: Sweep,
  { response: { page, sent, answered, digest }, ids, fields }: ShownPage,
): Promise<void> {
  if (digest === null || ids === null) await dropPage(tx, kind.name, page);
  else await savePage(tx, kind.name, { page, ...digest, ids, fields, sent, response: answered });
}

function sightingOf({ kind, runId, began, ticks }: Sweep, response: ListResponse, ids: string): NewSighting {
  const { page, sent, answered, rows, end, meta } = response;
  return {
    ...{ kind: kind.name, runId, sweep: began, page, sent, answered, ids, rows },
    endRows: end?.rows ?? null,
    total: meta?.total ?? null,
    sentAt: ticks.instantOf(sent),
  };
}

/** The part of a page that must be landed. */
interface PageContent extends SortedPage {
  /** Ids of the records that have rows, or get them, in the order of the page. */
  readonly seen: TextList;
  /** Ids of records that are known to be in the list, although no row can be made of them. */
  readonly unclear: readonly string[];
  /** Fields that some record had. */
  readonly fields: ReadonlySet<string>;
}

const HAS_ID: ReadonlySet<string> = new Set<Quarantined['code']>(['two_versions', 'too_deep']);

/** Takes the content of a page that was parsed. */
function contentOf(response: ListResponse): PageContent {
  const sorted = sortPage(response.read(), response.texts?.());
  return {
    ...sorted,
    seen: sorted.incoming.map(({ id }) => id),
    unclear: sorted.quarantined.flatMap(({ id, code }) => (id !== null && HAS_ID.has(code) ? [id] : [])),
    fields: fieldsOf(sorted.incoming),
  };
}

/** Most records of a page have the same fields in the same order: an equal field list is checked once. */
function fieldsOf(records: readonly Incoming[]): ReadonlySet<string> {
  const fields = new Set<string>();
  let before: readonly string[] = [];
  for (const { record } of records) {
    const names = Object.keys(record);
    if (!isSameOrder(names, before)) for (const name of names) fields.add(name);
    before = names;
  }
  return fields;
}
