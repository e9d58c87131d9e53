import {
  compacted,
  isOutdated,
  compareRecord,
  compareFirstListing,
  type IncomingRecord,
} from '../../diff/compare-page.ts';
import { listViewOf } from '../../diff/shown-value.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { readUpdatedSince } from '../../store/outbox/outbox-queue.ts';
import {
  compareRetrieved,
  type KindWithView,
  type RecordWithChange,
  type StoredRow,
} from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { LandingReading } from './land-together.ts';

export interface AnswerTicks {
  /** The ticks at which an answer was requested and arrived. */
  readonly sent: number;
  readonly answered: number;
}

export const idsOf = (records: readonly IncomingRecord[]): readonly string[] => records.map(({ id }) => id);

/** An answer with some of its records, and their rows. */
interface Received extends AnswerTicks {
  readonly records: readonly IncomingRecord[];
  readonly rows: ReadonlyMap<string, StoredRow>;
}

/** Compares records with their rows. @returns With the ids of those that may be older than their rows, and are not compared. */
export async function compareRecords(tx: Transaction, reading: LandingReading, received: Received) {
  const { kind, sending, effects } = reading;
  const { records, rows, sent, answered } = received;
  const lagging = await readLaggingIds(tx, reading, received);
  const compare = reading.isListed ? compareListed : compareRetrieved;
  const shape = { kind, list: listViewOf(effects.fields) };
  const compared: RecordWithChange[] = [];
  const overtaken: string[] = [];
  for (const record of records) {
    const row = rows.get(record.id);
    const isSame = row?.raw === record.raw && !row.isDeleted && row.listed !== null;
    if (isOutdated(row, sent) || sending.has(record.id) || lagging.has(record.id)) overtaken.push(record.id);
    else compared.push(compare(shape, row, isSame ? record : compacted(record), answered));
  }
  return { compared, overtaken };
}

/** For this time after our update, a list may still show the old record. */
const LAG_MS = 60_000;

/** Records that a reading between sweeps skips, because their list may lag behind our update. */
async function readLaggingIds(tx: Transaction, reading: LandingReading, { records, rows }: Received) {
  if (reading.runId !== null) return new Set();
  const since = new Date(reading.now.getTime() - LAG_MS);
  const ids = idsOf(records).filter((id) => String(rows.get(id)?.changedAt ?? '') >= formatInstant(since));
  return readUpdatedSince(tx, reading.kind.name, ids, since);
}

function compareListed(
  { kind, list }: KindWithView,
  stored: StoredRow | undefined,
  received: IncomingRecord,
  response: number,
): RecordWithChange {
  const isFirst = stored?.listed === null && !stored.isDeleted;
  const change = isFirst
    ? compareFirstListing(kind, stored.raw, received, list)
    : compareRecord(kind, stored, received);
  const { id, raw, record } = received;
  return { id, raw, record, response, stored, change }; // A spread would take a microsecond for each record.
}
