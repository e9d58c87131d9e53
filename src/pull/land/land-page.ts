import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { TextList } from '../../lib/text-list.ts';
import { dropPage, idsText, savePage } from '../../mirror/sightings/page-store.ts';
import type { StoredPage } from '../../mirror/sightings/page-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { NewSighting } from '../../mirror/sightings/sighting-store.ts';
import type { ListResponse } from '../../source/source.ts';
import { landSorted } from './land-records.ts';
import type { LandedSorted } from './land-records.ts';
import { hasOtherWrites } from './other-writes.ts';
import { contentOf } from './page-content.ts';
import type { Sweep } from '../state/sweep.ts';

/** A response, and the instant at which it lands. */
interface Arrival {
  readonly response: ListResponse;
  readonly now: Date;
}

/** The result of landing a page, by record id. */
export interface Landing extends LandedSorted {
  readonly response: ListResponse;
  readonly seen: TextList;
  /** The page's entry for the page store, written together with those of the transaction's other pages. */
  readonly sighting: NewSighting;
  /** Tracked fields that some record had. */
  readonly fields: Iterable<string>;
}

const NOTHING: LandedSorted = {
  ...{ created: [], changed: [], restored: [], mended: [], overtaken: [] },
  quarantined: [],
};

/** Lands one list response within a transaction: its records and its digest. */
export async function landPage(tx: Transaction, sweep: Sweep, arrival: Arrival): Promise<Landing> {
  const { response } = arrival;
  const page = sweep.pages.get(response.page);
  if (response.isKnown && page !== undefined && !hasOtherWrites(response.keys, page, sweep))
    return landKnown(sweep, response, page);
  return landShown(tx, sweep, arrival);
}

/** The same bytes hold the same records: only their sighting is new. */
function landKnown(sweep: Sweep, response: ListResponse, page: StoredPage): Landing {
  noteSent(sweep, response);
  const sighting = sightingOf(sweep, response, page.ids);
  return { ...NOTHING, response, seen: response.keys, fields: page.fields, sighting };
}

async function landShown(tx: Transaction, sweep: Sweep, { response, now }: Arrival): Promise<Landing> {
  const page = sweep.pages.get(response.page);
  const { incoming, quarantined, seen, unclear, fields: shown } = contentOf(response, page, sweep);
  const { sent, answered } = response;
  await yieldToEventLoop(); // A record of 100,000 fields takes long in each of these steps.
  const landed = await landSorted(tx, sweep, { incoming, quarantined, sent, answered, isListed: true, now });
  const fields = [...shown].filter((name) => sweep.fields.has(name));
  const ids = idsText(seen);
  const allIds = unclear.length === 0 ? ids : idsText([...seen, ...unclear]);
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === response.rows && landed.overtaken.length === 0;
  await rememberPage(tx, sweep, { response, ids: isWhole ? ids : null, fields });
  noteSent(sweep, response);
  return { ...landed, response, seen, fields, sighting: sightingOf(sweep, response, allIds) };
}

function noteSent({ newest }: Sweep, { sent }: ListResponse): void {
  newest.sent = Math.max(newest.sent, sent);
}

interface Shown {
  readonly response: ListResponse;
  /** Null where a record was not landed: the page must be parsed again. */
  readonly ids: string | null;
  readonly fields: readonly string[];
}

async function rememberPage(
  tx: Transaction,
  { kind }: Sweep,
  { response: { page, sent, answered, digest }, ids, fields }: Shown,
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
