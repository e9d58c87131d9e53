import type { Kind } from '../../catalog/kind.ts';
import {
  compacted,
  isOutdated,
  compareRecord,
  compareFirstListing,
  type IncomingRecord,
} from '../../diff/compare-page.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { readUpdatedSince } from '../../store/outbox/outbox-queue.ts';
import { compareRetrieved, type RecordWithChange, type StoredRow } from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { NO_RUN } from '../run/sweep.ts';
import type { LandingSweep } from './row-buffer.ts';

/** An answer that lands. */
export interface AnswerTicks {
  /** The ticks at which it was requested and arrived. */
  readonly sent: number;
  readonly answered: number;
}

/** A record with its change; of a record that may be older than its row, nothing is compared. */
export type ComparedRecord =
  RecordWithChange | (IncomingRecord & { readonly change: { readonly is: 'overtaken' } });

export const isCompared = (compared: ComparedRecord): compared is RecordWithChange =>
  compared.change.is !== 'overtaken';

export const needsWrite = (record: RecordWithChange): boolean => record.change.is !== 'unchanged';

/** Compares records with their rows. */
export async function compareRecords(
  tx: Transaction,
  sweep: LandingSweep,
  received: readonly IncomingRecord[],
  sent: number,
): Promise<ComparedRecord[]> {
  const { kind, sending } = sweep;
  const rows = await sweep.rows.read(received.map((incoming) => incoming.id));
  const records = received.map((record) => {
    const row = rows.get(record.id);
    const isUnchanged = row?.raw === record.raw && !row.isDeleted && row.listed !== null;
    return isUnchanged ? record : compacted(record);
  });
  const lagging = await readLaggingIds(tx, sweep, rows);
  const compare = sweep.isListed ? compareListed : compareRetrieved;
  return records.map((record): ComparedRecord => {
    const row = rows.get(record.id);
    if (isOutdated(row, sent) || sending.has(record.id) || lagging.has(record.id))
      return { ...record, change: { is: 'overtaken' } };
    return compare(kind, row, record);
  });
}

/** For this time after our update, a list may still show the old record. */
const LAG_MS = 60_000;

/** Records that a reading between sweeps skips, because their list may lag behind our update. */
async function readLaggingIds(
  tx: Transaction,
  sweep: LandingSweep,
  rows: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlySet<string>> {
  if (sweep.runId !== NO_RUN) return new Set();
  const since = new Date(sweep.now.getTime() - LAG_MS);
  const ids = [...rows]
    .filter(([, { changedAt }]) => String(changedAt) >= formatInstant(since))
    .map(([id]) => id);
  return readUpdatedSince(tx, sweep.kind.name, ids, since);
}

function compareListed(
  kind: Kind,
  stored: StoredRow | undefined,
  received: IncomingRecord,
): RecordWithChange {
  const isFirst = stored?.listed === null && !stored.isDeleted;
  const change = isFirst
    ? compareFirstListing(kind, stored.raw, received)
    : compareRecord(kind, stored, received);
  const { id, raw, record } = received;
  return { id, raw, record, stored, change }; // A spread would take a microsecond for each record.
}
