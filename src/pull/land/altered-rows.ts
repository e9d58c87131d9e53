import { judgeListed } from '../../diff/plan-repairs.ts';
import type { Incoming } from '../../diff/judge-page.ts';
import { isObject, parseObject, tryParse } from '../../lib/json/json.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import { factsOf, readEvidence, type RecordEvidence } from '../../store/records/record-facts.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { StoredRow, Judged } from '../../store/records/stored-rows.ts';
import { findAlteredElements, valueText } from '../../store/records/nested-repairs.ts';
import type { FirstSighting, Sweep } from '../run/sweep.ts';
import type { Kind } from '../../catalog/kind.ts';
import { recordDecoder } from '../../diff/decode-record.ts';
import { filledColumns, writtenRow } from '../../store/tables/kind-table.ts';

/** The stored state that a record is compared with if its row was altered. */
interface Recalled {
  /** Absent if the record is new. */
  readonly stored: StoredRow | undefined;
  readonly repair?: string;
  /** A row that another program inserted has the id of this new record. */
  readonly replacesRow?: true;
}

/**
 * Asks the event log about records whose row is missing, is a tombstone or has no content: is the record new, or was
 * the row altered? The content of a missing row comes from its last event.
 */
export async function recallRows(
  tx: Transaction,
  sweep: Sweep,
  records: readonly Incoming[],
  rows: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlyMap<string, Recalled>> {
  const ids = records.map(({ id }) => id);
  const books = await readEvidence(tx, sweep.kind.name, ids);
  const forgottenBefore = await readMeta(tx, 'changes.forgotten_before');
  const recalled = new Map<string, Recalled>();
  for (const record of records) {
    const own = books.get(record.id);
    if (own === undefined) continue;
    const seen = await sweep.earlier.find(tx, record.id);
    recalled.set(record.id, recall(sweep, { record, row: rows.get(record.id), own, seen, forgottenBefore }));
  }
  return recalled;
}

interface KnownRow {
  readonly record: Incoming;
  readonly row: StoredRow | undefined;
  readonly own: RecordEvidence;
  readonly seen: FirstSighting | null;
  readonly forgottenBefore: string | null;
}

function recall(sweep: Sweep, known: KnownRow): Recalled {
  const { record, row, own } = known;
  if (row?.isDeleted === false) return returned(sweep, known, 'its content was no record');
  const is = judgeListed(row === undefined ? 'none' : 'tombstone', factsOfKnown(known));
  if (is === 'created') return { stored: undefined, ...(row && { replacesRow: true }) };
  if (is === 'returned')
    return returned(sweep, known, row ? 'its row was marked as deleted' : 'its row was missing');
  const raw = own.lastEvent?.after ?? record.raw;
  return { stored: row ?? { ...lost(sweep, known), raw, isDeleted: true } };
}

function factsOfKnown({ row, own, seen, forgottenBefore }: KnownRow) {
  const deletedAt = row?.deletedAt ?? null;
  return factsOf(own, {
    wasShown: seen !== null,
    mayNeverHaveLanded: own.isQuarantined || own.isInOutbox,
    mayBeForgotten: forgottenBefore !== null && deletedAt !== null && String(deletedAt) < forgottenBefore,
  });
}

/** The row before it was altered; if its content is lost, the record counts as unchanged. */
function returned(sweep: Sweep, known: KnownRow, repair: string): Recalled {
  const { row, record, own } = known;
  const content = own.lastEvent?.after ?? record.raw;
  const stored = row ?? lost(sweep, known);
  const raw = row !== undefined && isRecord(row.raw) ? row.raw : content;
  return { stored: { ...stored, raw, isDeleted: false, deletedAt: null }, repair };
}

function lost({ lease }: Sweep, { own, seen, forgottenBefore }: KnownRow) {
  const { firstEvent, lastEvent } = own;
  // A row without any event dates from before the baseline, unless events were removed.
  const isOfBaseline = firstEvent?.change !== 'created' && forgottenBefore === null;
  const instants = [firstEvent?.observedAt, seen?.seenAt, isOfBaseline ? lease.baselineAt : null];
  const firstSeenAt = instants.filter((at) => typeof at === 'string').sort()[0] ?? null;
  const changedAt = lastEvent?.observedAt ?? firstSeenAt;
  return { response: 0, firstSeenAt, changedAt, deletedAt: null, listed: seen?.listed ?? null };
}

/** Whether a row's content is a record: another writer may have put anything there. */
export function isRecord(text: string): boolean {
  return isObject(tryParse(text));
}

/** Finds unchanged records whose columns or elements differ from the decoding of their own content, so that they are rewritten. */
export async function findTampered(
  tx: Transaction,
  kind: Kind,
  unchanged: readonly Judged[],
): Promise<ReadonlyMap<string, Judged>> {
  const names = filledColumns(kind, tx.dialect);
  const ids = unchanged.map(({ id }) => id);
  const held = await tx.rowsById(kind.name, names, ids);
  // The columns' own source is `_raw`: the record may spell the same values in another way.
  const stored = unchanged.flatMap(({ stored: row, ...judged }) =>
    row === undefined ? [] : [{ ...judged, stored: row, raw: row.raw, record: parseObject(row.raw) }],
  );
  const elements = await findAlteredElements(tx, kind, stored);
  const decode = recordDecoder(kind);
  const tampered = new Map<string, Judged>();
  for (const judged of stored) {
    const columns = held.get(judged.id);
    if (columns === undefined) continue;
    const values = writtenRow(kind, tx.dialect, decode(judged.record).values);
    const differing = names.filter((_, at) => valueText(columns[at]) !== valueText(values[at]));
    const arrays = (elements.get(judged.id) ?? []).map(({ table }) => table.array);
    const repair = Object.entries({ columns: differing, elements: arrays })
      .filter(([, changed]) => changed.length > 0)
      .map(([what, changed]) => `${what} changed: ${changed.join(', ')}`);
    if (repair.length > 0) tampered.set(judged.id, { ...judged, repair: repair.join('; ') });
  }
  return tampered;
}
