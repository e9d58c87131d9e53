import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Kind } from '../../catalog/kind.ts';
import { isOvertaken, judge } from '../../diff/judge-page.ts';
import type { Incoming, Quarantined, SortedPage } from '../../diff/judge-page.ts';
import { judgeFirstListing } from '../../diff/shapes.ts';
import { issueKey, saveQuarantined } from '../../mirror/records/issue-store.ts';
import type { Issue } from '../../mirror/records/issue-store.ts';
import { writeRows } from '../../mirror/records/write-rows.ts';
import { dropPagesAfter } from '../../mirror/sightings/page-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { judgeAsked, readStored } from '../../mirror/records/stored-rows.ts';
import type { Judged, StoredRow } from '../../mirror/records/stored-rows.ts';
import { confirmRows, saveDirtyRows as saveTouches } from '../../mirror/records/dirty-row-store.ts';
import { findTampered } from './find-tampered.ts';
import { recallRows } from './recall-rows.ts';
import type { Sweep } from '../state/sweep.ts';
import { landFields } from './land-fields.ts';

/** The records of one response. */
export interface Shown {
  readonly records: readonly Incoming[];
  readonly sent: number;
  readonly answered: number;
  /** Shown by a list; else retrieved one by one. */
  readonly isListed: boolean;
  readonly now: Date;
}

/** The result of landing records, by id. */
export interface Landed {
  readonly created: string[];
  readonly changed: string[];
  readonly restored: string[];
  /** Unchanged by the service and restored here: another writer had altered their rows. */
  readonly mended: string[];
  /** Not written: the row is newer than the request, or an outbox entry is changing the record. */
  readonly overtaken: string[];
}

/** The result of landing one response: records by id, quarantined records by the keys of their issues. */
export interface LandedSorted extends Landed {
  readonly quarantined: readonly string[];
}

/** Lands one response within a transaction: rows for the records, issues for those that cannot become a row. */
export async function landSorted(
  tx: Transaction,
  sweep: Sweep,
  { incoming, quarantined, ...shown }: SortedPage & Omit<Shown, 'records'>,
): Promise<LandedSorted> {
  const issues = quarantined.map(quarantineIssue);
  const fresh = issues.filter((issue) => !sweep.quarantined.has(issueKey(issue)));
  await saveQuarantined(tx, sweep.kind.name, { issues: fresh, now: shown.now });
  for (const issue of fresh) sweep.quarantined.add(issueKey(issue));
  const landed = await landRecords(tx, sweep, { ...shown, records: incoming });
  return { ...landed, quarantined: issues.map(issueKey) };
}

function quarantineIssue({ id, code, raw }: Quarantined): Issue {
  return { recordId: id, field: null, code, detail: raw };
}

/** A turn of the event loop after each slice keeps requests leaving while a page lands. */
const [ROWS_A_SLICE, TEXT_A_SLICE] = [200, 150_000];

/** Cuts records into slices of about the same work, which grows with the length of their texts. */
export function* slicesOf(records: readonly Incoming[]): Generator<readonly Incoming[]> {
  let [from, text] = [0, 0];
  for (const [index, { raw }] of records.entries()) {
    const isFull = index - from >= ROWS_A_SLICE || text + raw.length > TEXT_A_SLICE;
    if (isFull && index > from) {
      yield records.slice(from, index);
      [from, text] = [index, 0];
    }
    text += raw.length;
  }
  if (from < records.length) yield records.slice(from);
}

/** Lands records within a transaction: rows, their change events, issues and new fields. */
async function landRecords(tx: Transaction, sweep: Sweep, shown: Shown): Promise<Landed> {
  const landed: Landed = { created: [], changed: [], restored: [], mended: [], overtaken: [] };
  for (const records of slicesOf(shown.records)) {
    const all = await compare(tx, sweep, { ...shown, records });
    for (const record of all) {
      const place = placeOf(record, sweep);
      if (place !== null) landed[place].push(record.id);
    }
    const news = all.filter(isJudged).filter(mustBeWritten);
    await yieldToEventLoop();
    if (news.length > 0) await writeRecords(tx, sweep, { ...shown, records: news });
    if (!shown.isListed) await confirm(tx, sweep, { ...shown, all });
    await yieldToEventLoop();
  }
  return landed;
}

/** Marks retrieved and unchanged records as new as their answer, so that an older page cannot undo them. */
async function confirm(
  tx: Transaction,
  { kind, touched }: Sweep,
  { all, answered }: Shown & { readonly all: readonly Compared[] },
): Promise<void> {
  const ids = all.filter((record) => isJudged(record) && !mustBeWritten(record)).map(({ id }) => id);
  await confirmRows(tx, kind.name, { ids, response: answered });
  await saveTouches(tx, kind.name, { ids, response: answered });
  touched.add(new Map(ids.map((id) => [id, answered])));
}

/** The count that a record adds to; a row rewritten without an event has not changed. */
function placeOf(compared: Compared, { ignoredFields }: Sweep): keyof Landed | null {
  if (!isJudged(compared)) return 'overtaken';
  const { verdict, repair } = compared;
  const otherwise = repair === undefined ? null : 'mended';
  if (verdict.is === 'unchanged') return otherwise;
  if (verdict.is !== 'changed') return verdict.is;
  return verdict.fields.some((name) => !ignoredFields.has(name)) ? 'changed' : otherwise;
}

const mustBeWritten = ({ verdict, repair }: Judged): boolean =>
  verdict.is !== 'unchanged' || repair !== undefined;

/** A record that may be older than its row has none of it compared. */
type Compared = Judged | (Incoming & { readonly verdict: { readonly is: 'overtaken' } });

const isJudged = (compared: Compared): compared is Judged => compared.verdict.is !== 'overtaken';

async function compare(tx: Transaction, sweep: Sweep, shown: Shown): Promise<Compared[]> {
  const { kind, sending, comparesColumns } = sweep;
  const { records } = shown;
  const ids = records.map(({ id }) => id);
  const rows = await readStored(tx, kind, ids);
  const recalled = await recallRows(tx, sweep, { records, rows });
  const all = records.map((received): Compared => {
    const row = rows.get(received.id);
    if (isOvertaken(row, shown.sent) || sending.has(received.id))
      return { ...received, verdict: { is: 'overtaken' } };
    const { stored, ...repair } = recalled.get(received.id) ?? { stored: row };
    const judge = shown.isListed ? judgeListed : judgeAsked;
    return { ...judge(kind, stored, received), ...repair };
  });
  if (!comparesColumns) return all;
  const unchanged = all.filter(isJudged).filter((judged) => !mustBeWritten(judged));
  const tampered = await findTampered(tx, kind, unchanged);
  return all.map((record) => tampered.get(record.id) ?? record);
}

function judgeListed(kind: Kind, stored: StoredRow | undefined, received: Incoming): Judged {
  const isFirst = stored?.listed === null && !stored.isDeleted;
  const verdict = isFirst ? judgeFirstListing(kind, stored.raw, received) : judge(kind, stored, received);
  return { ...received, stored, verdict };
}

/** Writes new and changed records, and adds their fields to the sweep's state. */
async function writeRecords(
  tx: Transaction,
  sweep: Sweep,
  { records, isListed, answered, now }: Shown & { readonly records: readonly Judged[] },
): Promise<void> {
  const { kind, runId, touched, newest, lease, ignoredFields } = sweep;
  const rewritten = await writeRows(tx, {
    ...{ kind, records, response: answered, isListed, now },
    ...{ origin: 'service', runId, standing: lease, ignoredFields },
  });
  touched.add(new Map(rewritten.map((id) => [id, answered])));
  // Pages requested after this answer but landed before it may have shown newer records.
  if (rewritten.length > 0 && newest.sent > answered) await dropPagesAfter(tx, kind.name, answered);
  await yieldToEventLoop();
  await landFields(tx, sweep, { records: records.map(({ record }) => record), now });
}
