import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sortPage } from '../../diff/judge-page.ts';
import type { Incoming, Quarantined, SortedPage } from '../../diff/judge-page.ts';
import { isSameOrder } from '../../lib/json/json.ts';
import type { TextList } from '../../lib/text/text-list.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { dropPage, idsText, savePage } from '../../mirror/sightings/page-store.ts';
import type { NewSighting } from '../../mirror/sightings/sighting-store.ts';
import type { ListResponse } from '../../source/paging/sweep.ts';
import { hasOtherWrites } from '../state/sweep.ts';
import type { DraftedSweep, Sweep } from '../state/sweep.ts';
import { landRecords } from './land-records.ts';
import type { LandedRecords } from './land-records.ts';

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
