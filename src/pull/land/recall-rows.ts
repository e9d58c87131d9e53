import { judgeListed } from '../../diff/plan-repairs.ts';
import type { RecordFacts } from '../../diff/plan-repairs.ts';
import type { Incoming } from '../../diff/judge-page.ts';
import { isObject, parseJson } from '../../lib/json.ts';
import { readMeta } from '../../mirror/kinds/meta.ts';
import { readBooks } from '../../mirror/records/record-facts.ts';
import type { RecordBooks } from '../../mirror/records/record-facts.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { StoredRow } from '../../mirror/records/stored-rows.ts';
import type { FirstSighting } from '../state/earlier-sightings.ts';
import type { Sweep } from '../state/sweep.ts';

/** The stored state that a record is compared with if its row was altered. */
interface Recalled {
  /** Absent if the record is new. */
  readonly stored: StoredRow | undefined;
  readonly repair?: string;
}

interface Read {
  readonly records: readonly Incoming[];
  readonly rows: ReadonlyMap<string, StoredRow>;
}

/**
 * Checks the event log for records whose row is missing, is a tombstone or has no content: is the record new, or was
 * the row altered? The content of a missing row comes from its last event.
 */
export async function recallRows(
  tx: Transaction,
  sweep: Sweep,
  { records, rows }: Read,
): Promise<ReadonlyMap<string, Recalled>> {
  const doubtful = records.filter((record) => isDoubtful(sweep, record, rows.get(record.id)));
  if (doubtful.length === 0) return new Map();
  const ids = doubtful.map(({ id }) => id);
  const books = await readBooks(tx, sweep.kind.name, ids);
  const forgottenBefore = await readMeta(tx, 'changes.forgotten_before');
  const recalled = new Map<string, Recalled>();
  for (const record of doubtful) {
    const own = books.get(record.id);
    if (own === undefined) continue;
    const seen = await sweep.earlier.find(tx, record.id);
    recalled.set(record.id, recall(sweep, { record, row: rows.get(record.id), own, seen, forgottenBefore }));
  }
  return recalled;
}

/** Before the baseline, rows come without events anyway. */
function isDoubtful({ lease }: Sweep, { raw }: Incoming, row: StoredRow | undefined): boolean {
  if (row === undefined) return lease.baselineAt !== null;
  return row.isDeleted || (row.raw !== raw && !isRecord(row.raw));
}

interface Known {
  readonly record: Incoming;
  readonly row: StoredRow | undefined;
  readonly own: RecordBooks;
  readonly seen: FirstSighting | null;
  readonly forgottenBefore: string | null;
}

function recall(sweep: Sweep, known: Known): Recalled {
  const { row, record, own } = known;
  if (row !== undefined && !row.isDeleted) return returned(sweep, known, 'its content was no record');
  const is = judgeListed(row === undefined ? 'none' : 'tombstone', factsOf(known));
  if (is === 'created') return { stored: undefined };
  if (is === 'returned')
    return returned(
      sweep,
      known,
      row === undefined ? 'its row was missing' : 'its row was marked as deleted',
    );
  return {
    stored: row ?? { ...lost(sweep, known), raw: own.lastEvent?.after ?? record.raw, isDeleted: true },
  };
}

function factsOf({ row, own, seen, forgottenBefore }: Known): RecordFacts {
  const deletedAt = row?.deletedAt ?? null;
  return {
    lastChange: own.lastEvent?.change ?? null,
    isProvenGone: own.goneAt !== null,
    wasLanded: seen !== null || own.isNoted,
    mayNeverHaveLanded: own.isQuarantined || own.isInOutbox,
    mayBeForgotten: forgottenBefore !== null && deletedAt !== null && String(deletedAt) < forgottenBefore,
  };
}

/** The row before it was altered; if its content is lost, the record counts as unchanged. */
function returned(sweep: Sweep, known: Known, repair: string): Recalled {
  const { row, record, own } = known;
  const content = own.lastEvent?.after ?? record.raw;
  const stored = row ?? lost(sweep, known);
  const raw = row !== undefined && isRecord(row.raw) ? row.raw : content;
  return { stored: { ...stored, raw, isDeleted: false, deletedAt: null }, repair };
}

function lost(sweep: Sweep, known: Known): Omit<StoredRow, 'raw' | 'isDeleted'> {
  const firstSeenAt = earliestOf(sweep, known);
  const changedAt = known.own.lastEvent?.observedAt ?? firstSeenAt;
  return { response: 0, firstSeenAt, changedAt, deletedAt: null, listed: known.seen?.listed ?? null };
}

/** The earliest instant at which the mirror has the record. */
function earliestOf({ lease }: Sweep, { own, seen, forgottenBefore }: Known): string | null {
  const { firstEvent } = own;
  // A row without any event dates from before the baseline, unless events were removed.
  const isOfBaseline = firstEvent?.change !== 'created' && forgottenBefore === null;
  const instants = [firstEvent?.observedAt, seen?.seenAt, isOfBaseline ? lease.baselineAt : null];
  return instants.filter((at) => typeof at === 'string').sort()[0] ?? null;
}

function isRecord(text: string): boolean {
  try {
    return isObject(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}
