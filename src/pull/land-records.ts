import { setImmediate as breathe } from 'node:timers/promises';
import type { Kind } from '../catalog/kind.ts';
import { isOvertaken, judge } from '../diff/judge-page.ts';
import type { Incoming } from '../diff/judge-page.ts';
import { judgeFirstListing } from '../diff/shapes.ts';
import type { Transaction } from '../mirror/session.ts';
import { judgeAsked, readStored } from '../mirror/stored-rows.ts';
import type { Judged, StoredRow } from '../mirror/stored-rows.ts';
import { confirmRows, saveTouches } from '../mirror/touch-store.ts';
import type { Sweep } from './sweep.ts';
import { writeRecords } from './write-records.ts';

/** Records that one response showed. */
export interface Shown {
  readonly records: readonly Incoming[];
  readonly sent: number;
  readonly answered: number;
  /** A list showed them; else they were asked for one by one. */
  readonly isListed: boolean;
  readonly now: Date;
}

/** What became of records, by id. */
export interface Landed {
  readonly created: string[];
  readonly changed: string[];
  readonly restored: string[];
  /** Left alone: their rows were written after the request was sent, or a request of ours is changing them. */
  readonly overtaken: string[];
}

const ROWS_A_SLICE = 50; // A turn of the event loop after each keeps requests leaving while a page lands.

/** Lands records within a transaction: rows, their change events, issues and new fields. */
export async function landRecords(tx: Transaction, sweep: Sweep, shown: Shown): Promise<Landed> {
  const landed: Landed = { created: [], changed: [], restored: [], overtaken: [] };
  for (let from = 0; from < shown.records.length; from += ROWS_A_SLICE) {
    const records = shown.records.slice(from, from + ROWS_A_SLICE);
    const all = await compare(tx, sweep, { ...shown, records });
    for (const { id, verdict } of all) {
      const place = placeOf(verdict, sweep);
      if (place !== null) landed[place].push(id);
    }
    const news = all.filter(isJudged).filter(({ verdict }) => verdict.is !== 'unchanged');
    await breathe();
    if (news.length > 0) await writeRecords(tx, sweep, { ...shown, records: news });
    if (!shown.isListed) await confirm(tx, sweep, { ...shown, all });
    await breathe();
  }
  return landed;
}

/** A record that was asked for and found as it was is as new as its answer: an older page must not undo it. */
async function confirm(
  tx: Transaction,
  { kind, touched }: Sweep,
  { all, answered }: Shown & { readonly all: readonly Compared[] },
): Promise<void> {
  const ids = all.filter(({ verdict }) => verdict.is === 'unchanged').map(({ id }) => id);
  await confirmRows(tx, kind.name, { ids, response: answered });
  await saveTouches(tx, kind.name, { ids, response: answered });
  touched.add(new Map(ids.map((id) => [id, answered])));
}

/** Where a record counts; a row that is written anew without an event has not changed. */
function placeOf(verdict: Compared['verdict'], { ignoredFields }: Sweep): keyof Landed | null {
  if (verdict.is === 'unchanged') return null;
  if (verdict.is !== 'changed') return verdict.is;
  return verdict.fields.some((name) => !ignoredFields.has(name)) ? 'changed' : null;
}

/** A record that may be older than its row has none of it compared. */
type Compared = Judged | (Incoming & { readonly verdict: { readonly is: 'overtaken' } });

const isJudged = (compared: Compared): compared is Judged => compared.verdict.is !== 'overtaken';

async function compare(tx: Transaction, { kind, sending }: Sweep, shown: Shown): Promise<Compared[]> {
  const ids = shown.records.map(({ id }) => id);
  const rows = await readStored(tx, kind, ids);
  return shown.records.map((received) => {
    const stored = rows.get(received.id);
    if (isOvertaken(stored, shown.sent) || sending.has(received.id))
      return { ...received, verdict: { is: 'overtaken' } };
    return shown.isListed ? judgeListed(kind, stored, received) : judgeAsked(kind, stored, received);
  });
}

function judgeListed(kind: Kind, stored: StoredRow | undefined, received: Incoming): Judged {
  const isFirst = stored?.listed === null && !stored.isDeleted;
  const verdict = isFirst ? judgeFirstListing(kind, stored.raw, received) : judge(kind, stored, received);
  return { ...received, stored, verdict };
}
