import { sortPage } from '../diff/judge-page.ts';
import type { Quarantined } from '../diff/judge-page.ts';
import { issueKey, saveQuarantined } from '../mirror/issue-store.ts';
import type { Issue } from '../mirror/issue-store.ts';
import { dropPage, idsText, savePage } from '../mirror/page-store.ts';
import type { StoredPage } from '../mirror/page-store.ts';
import type { Transaction } from '../mirror/session.ts';
import { saveSighting } from '../mirror/sighting-store.ts';
import type { ListResponse } from '../source/source.ts';
import { landRecords } from './land-records.ts';
import type { Landed } from './land-records.ts';
import type { Sweep } from './sweep.ts';

/** A response, and the instant at which it lands. */
export interface Arrival {
  readonly response: ListResponse;
  readonly now: Date;
}

/** What became of a page, by record id. */
export interface Landing extends Landed {
  readonly response: ListResponse;
  readonly seen: readonly string[];
  /** Fields that some record had. */
  readonly fields: Iterable<string>;
  /** Keys of the records that no row could be made of. */
  readonly quarantined: readonly string[];
}

const NOTHING: Landed = { created: [], changed: [], restored: [], overtaken: [] };

/** Lands one list response within a transaction: its records, its sighting, its digest. */
export async function landPage(tx: Transaction, sweep: Sweep, arrival: Arrival): Promise<Landing> {
  const { response } = arrival;
  const page = sweep.pages.get(response.page);
  if (response.isKnown && page !== undefined && !isStale(page, sweep))
    return landKnown(tx, sweep, { response, page });
  return landParsed(tx, sweep, arrival);
}

/** A row that was written since its page was landed may differ from what the page shows. */
function isStale({ keys, response }: StoredPage, { touched }: Sweep): boolean {
  return !touched.isEmpty() && keys.some((id) => touched.lastWrite(id) > response);
}

/** The same bytes hold the same records: that they are still there is all that is new. */
async function landKnown(
  tx: Transaction,
  sweep: Sweep,
  { response, page }: { readonly response: ListResponse; readonly page: StoredPage },
): Promise<Landing> {
  await saveSighting(tx, sightingOf(sweep, response, page.ids));
  return { ...NOTHING, response, seen: page.keys, fields: page.fields, quarantined: [] };
}

async function landParsed(tx: Transaction, sweep: Sweep, { response, now }: Arrival): Promise<Landing> {
  const { incoming, quarantined } = sortPage(response.read());
  const issues = quarantined.map(quarantineIssue);
  const fresh = issues.filter((issue) => !sweep.quarantined.has(issueKey(issue)));
  await saveQuarantined(tx, sweep.kind.name, { issues: fresh, now });
  for (const issue of fresh) sweep.quarantined.add(issueKey(issue));

  const { sent, answered } = response;
  const landed = await landRecords(tx, sweep, { records: incoming, sent, answered, isListed: true, now });
  const seen = incoming.map(({ id }) => id);
  const unclear = quarantined.flatMap(({ id, code }) => (id !== null && code === 'two_versions' ? [id] : []));
  await saveSighting(tx, sightingOf(sweep, response, idsText([...seen, ...unclear])));

  const fields = new Set(incoming.flatMap(({ record }) => Object.keys(record)));
  // One id for each row: a page that shows a record twice, or one that did not become a row, must be parsed again.
  const isWhole = seen.length > 0 && seen.length === response.rows && landed.overtaken.length === 0;
  await rememberPage(tx, sweep, { response, ids: isWhole ? idsText(seen) : null, fields });
  return { ...landed, response, seen, fields, quarantined: issues.map(issueKey) };
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
  { response: { page, answered, digest }, ids, fields }: Shown,
): Promise<void> {
  if (digest === null || ids === null) await dropPage(tx, kind.name, page);
  else await savePage(tx, kind.name, { page, ...digest, ids, fields: [...fields], response: answered });
}

function quarantineIssue({ id, code, raw }: Quarantined): Issue {
  return { recordId: id, field: null, code, detail: raw };
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
