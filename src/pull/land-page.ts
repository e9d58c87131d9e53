import { sortPage } from '../diff/judge-page.ts';
import type { Incoming, Quarantined } from '../diff/judge-page.ts';
import { dropPage, idsText, savePage } from '../mirror/page-store.ts';
import type { StoredPage } from '../mirror/page-store.ts';
import type { Transaction } from '../mirror/session.ts';
import { saveSighting } from '../mirror/sighting-store.ts';
import type { ListResponse } from '../source/source.ts';
import { landSorted } from './land-sorted.ts';
import type { LandedSorted } from './land-sorted.ts';
import type { Sweep } from './sweep.ts';

/** A response, and the instant at which it lands. */
export interface Arrival {
  readonly response: ListResponse;
  readonly now: Date;
}

/** What became of a page, by record id. */
export interface Landing extends LandedSorted {
  readonly response: ListResponse;
  readonly seen: readonly string[];
  /** Fields that some record had. */
  readonly fields: Iterable<string>;
}

const NOTHING: LandedSorted = { created: [], changed: [], restored: [], overtaken: [], quarantined: [] };

/** Lands one list response within a transaction: its records, its sighting, its digest. */
export async function landPage(tx: Transaction, sweep: Sweep, arrival: Arrival): Promise<Landing> {
  const { response } = arrival;
  const page = sweep.pages.get(response.page);
  if (response.isKnown && page !== undefined && !isStale(page, sweep))
    return landKnown(tx, sweep, { response, page });
  return landParsed(tx, sweep, arrival);
}

/** A row that another response wrote after its page was asked for may differ from what the page shows. */
function isStale({ keys, sent, response }: StoredPage, { touched }: Sweep): boolean {
  const isOthers = (write: number): boolean => write > sent && write !== response;
  return !touched.isEmpty() && keys.some((id) => isOthers(touched.lastWrite(id)));
}

/** The same bytes hold the same records: that they are still there is all that is new. */
async function landKnown(
  tx: Transaction,
  sweep: Sweep,
  { response, page }: { readonly response: ListResponse; readonly page: StoredPage },
): Promise<Landing> {
  await saveSighting(tx, sightingOf(sweep, response, page.ids));
  noteSent(sweep, response);
  return { ...NOTHING, response, seen: page.keys, fields: page.fields };
}

/** Records that are known to be in the list, although no row can be made of them. */
const HAS_ID: ReadonlySet<string> = new Set<Quarantined['code']>(['two_versions', 'too_deep']);

async function landParsed(tx: Transaction, sweep: Sweep, { response, now }: Arrival): Promise<Landing> {
  const sorted = sortPage(response.read());
  const { sent, answered } = response;
  const landed = await landSorted(tx, sweep, { ...sorted, sent, answered, isListed: true, now });
  const seen = sorted.incoming.map(({ id }) => id);
  const unclear = sorted.quarantined.flatMap(({ id, code }) => (id !== null && HAS_ID.has(code) ? [id] : []));
  await saveSighting(tx, sightingOf(sweep, response, idsText([...seen, ...unclear])));

  const fields = fieldsOf(sorted.incoming);
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === response.rows && landed.overtaken.length === 0;
  await rememberPage(tx, sweep, { response, ids: isWhole ? idsText(seen) : null, fields });
  noteSent(sweep, response);
  return { ...landed, response, seen, fields };
}

function noteSent({ newest }: Sweep, { sent }: ListResponse): void {
  newest.sent = Math.max(newest.sent, sent);
}

/** Most records of a page have the same fields in the same order: those of the record before need no second look. */
function fieldsOf(records: readonly Incoming[]): ReadonlySet<string> {
  const fields = new Set<string>();
  let before: readonly string[] = [];
  for (const { record } of records) {
    const names = Object.keys(record);
    const isSame = names.length === before.length && names.every((name, index) => name === before[index]);
    if (!isSame) for (const name of names) fields.add(name);
    before = names;
  }
  return fields;
}

interface Shown {
  readonly response: ListResponse;
  /** Null where a record was not landed: the page must be parsed again. */
  readonly ids: string | null;
  readonly fields: ReadonlySet<string>;
}

async function rememberPage(
  tx: Transaction,
  { kind }: Sweep,
  { response: { page, sent, answered, digest }, ids, fields }: Shown,
): Promise<void> {
  if (digest === null || ids === null) await dropPage(tx, kind.name, page);
  else await savePage(tx, kind.name, { page, ...digest, ids, fields: [...fields], sent, response: answered });
}

function sightingOf({ kind, runId, began, ticks }: Sweep, response: ListResponse, ids: string) {
  const { page, sent, answered, rows, end, meta } = response;
  return {
    ...{ kind: kind.name, runId, sweep: began, page, sent, answered, ids, rows },
    endRows: end?.rows ?? null,
    total: meta?.total ?? null,
    sentAt: ticks.instantOf(sent),
  };
}
