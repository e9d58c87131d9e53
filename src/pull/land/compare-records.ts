import type { Kind } from '../../catalog/kind.ts';
import { compacted, isOvertaken, judge, judgeFirstListing, type Incoming } from '../../diff/judge-page.ts';
import { instantText } from '../../lib/time/clock.ts';
import { readUpdatedSince } from '../../store/outbox/outbox-queue.ts';
import { judgeAsked, type Judged, type StoredRow } from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { NO_RUN } from '../run/sweep.ts';
import type { LandingSweep } from './row-buffer.ts';

/** An answer that lands. */
export interface LandingAnswer {
  /** The ticks at which it was requested and arrived. */
  readonly sent: number;
  readonly answered: number;
}

/** A record with its change; of a record that may be older than its row, nothing is compared. */
export type ComparedRecord = Judged | (Incoming & { readonly verdict: { readonly is: 'overtaken' } });

export const isJudged = (compared: ComparedRecord): compared is Judged => compared.verdict.is !== 'overtaken';

export const mustBeWritten = (judged: Judged): boolean => judged.verdict.is !== 'unchanged';

/** Compares records with their rows. */
export async function compareRecords(
  tx: Transaction,
  sweep: LandingSweep,
  received: readonly Incoming[],
  sent: number,
): Promise<ComparedRecord[]> {
  const { kind, sending } = sweep;
  const rows = await sweep.rows.read(received.map((incoming) => incoming.id));
  const records = received.map((record) => {
    const row = rows.get(record.id);
    const isAsStored = row?.raw === record.raw && !row.isDeleted && row.listed !== null;
    return isAsStored ? record : compacted(record);
  });
  const lagging = await readLagging(tx, sweep, rows);
  const judgeRecord = sweep.isListed ? judgeListed : judgeAsked;
  return records.map((record): ComparedRecord => {
    const row = rows.get(record.id);
    if (isOvertaken(row, sent) || sending.has(record.id) || lagging.has(record.id))
      return { ...record, verdict: { is: 'overtaken' } };
    return judgeRecord(kind, row, record);
  });
}

/** So long after an update of ours, a list may still show the record as it was before. */
const LAG_MS = 60_000;

/** Records that a reading between sweeps leaves alone, because their list may lag behind an update of ours. */
async function readLagging(
  tx: Transaction,
  sweep: LandingSweep,
  rows: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlySet<string>> {
  if (sweep.runId !== NO_RUN) return new Set();
  const since = new Date(sweep.now.getTime() - LAG_MS);
  const ids = [...rows]
    .filter(([, { changedAt }]) => String(changedAt) >= instantText(since))
    .map(([id]) => id);
  return readUpdatedSince(tx, sweep.kind.name, ids, since);
}

function judgeListed(kind: Kind, stored: StoredRow | undefined, received: Incoming): Judged {
  const isFirst = stored?.listed === null && !stored.isDeleted;
  const verdict = isFirst ? judgeFirstListing(kind, stored.raw, received) : judge(kind, stored, received);
  const { id, raw, record } = received;
  return { id, raw, record, stored, verdict }; // A spread would take a microsecond for each record.
}
