import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Kind } from '../../catalog/kind.ts';
import { createRecordDecoder } from '../../diff/decode-record.ts';
import {
  compareRecord,
  toListShape,
  fieldChanges,
  type IncomingRecord,
  type StoredRecord,
  type RecordChange,
  type ChangeEvent,
} from '../../diff/compare-page.ts';
import type { ShownFields } from '../../diff/shown-value.ts';
import { parseObject } from '../../lib/json/json.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import type { KindLease } from '../kinds/kind-lease.ts';
import type { SqlValue, Transaction } from '../../db/session/session.ts';
import { saveDirtyRows } from '../sightings/page-store.ts';
import { saveUnlisted } from '../sightings/sighting-store.ts';
import { writtenColumns, rowWriter } from '../tables/kind-table.ts';
import { appendChanges } from './change-store.ts';
import { forgetAbsences } from './deletion-store.ts';
import { saveFieldIssues, type Issue } from './issue-store.ts';
import { writeNestedRows } from './nested-rows.ts';

/** The part of a record's row that is needed to compare and write a newer reading. */
export interface StoredRow extends StoredRecord {
  readonly firstSeenAt: SqlValue;
  readonly changedAt: SqlValue;
  readonly deletedAt: SqlValue;
  /** The tick of its first list sighting, or of its return since it was last absent; null = it was only ever retrieved singly. */
  readonly listed: SqlValue;
}

/** A record that was read, together with its row. */
export interface RecordWithChange extends IncomingRecord {
  /** The tick of the answer that it is from. */
  readonly response: number;
  readonly stored: StoredRow | undefined;
  readonly change: RecordChange;
}

const COLUMNS = ['_raw', '_response', '_deleted_at', '_first_seen_at', '_listed', '_changed_at'] as const;

/** Reads the rows with these ids; an id without a row is absent from the map. */
export async function readStoredRows(tx: Transaction, kind: Kind, ids: readonly string[]) {
  const rows = await tx.readRowsById(kind.name, COLUMNS, ids);
  const stored = new Map<string, StoredRow>();
  for (const [id, values] of rows) {
    const [raw, response, deletedAt = null, firstSeenAt = null, listed = null, changedAt = null] = values;
    const rowFacts = { isDeleted: deletedAt !== null, deletedAt, firstSeenAt, listed, changedAt };
    stored.set(id, { raw: String(raw), response: Number(response), ...rowFacts });
  }
  return stored;
}

/** A kind, and the fields that its list shows. */
export interface KindWithView {
  readonly kind: Kind;
  readonly list: ShownFields;
}

/** Compares a record that was retrieved singly with its row, in the shape that its list shows; an unchanged row stays as it is. */
export function compareRetrieved(
  { kind, list }: KindWithView,
  stored: StoredRow | undefined,
  received: IncomingRecord,
  response: number,
): RecordWithChange {
  const hasShape = stored !== undefined && stored.listed !== null;
  const { id, raw, record } = hasShape ? toListShape(kind, received, stored.raw, list) : received;
  const change = compareRecord(kind, stored, { id, raw, record });
  const isKept = change.is === 'unchanged' && stored !== undefined && stored.raw !== raw;
  const kept = isKept ? { raw: stored.raw, record: parseObject(stored.raw) } : { raw, record };
  return { id, ...kept, response, stored, change };
}

interface RowsToWrite {
  readonly kind: Kind;
  /** No record is among them twice. */
  readonly records: readonly RecordWithChange[];
  /** True if a list showed the records; false if they were retrieved or written one by one. */
  readonly isListed: boolean;
  /** False if no issue of a field is open: none needs to be closed. */
  readonly hasFieldIssues?: boolean;
  /** `service`, or `outbox:<id>` for our own writes. */
  readonly origin: string;
  readonly runId: number | null;
  readonly now: Date;
  readonly standing: Pick<KindLease, 'certifiedAt' | 'baselineAt'>;
  /** Fields whose changes do not count as events. */
  readonly ignoredFields: ReadonlySet<string>;
}

/**
 * Writes new and different records: their rows, issues and change events.
 * @returns The number of values that fit no rule, and the rows that were there before.
 */
export async function writeRows(tx: Transaction, write: RowsToWrite) {
  const { kind, records, origin, runId, now, hasFieldIssues = true } = write;
  const found: Issue[] = [];
  await writeRecordRows(tx, write, found);
  await writeNestedRows(tx, { kind, records, found, now });
  const recordIds = records.map((record) => record.id);
  if (hasFieldIssues || found.length > 0)
    await saveFieldIssues(tx, { kind: kind.name, recordIds, found, now });

  if (!write.isListed) {
    const newRecords = records.filter((record) => record.stored === undefined);
    const ids = newRecords.map((record) => record.id);
    await saveUnlisted(tx, kind.name, ids);
  }

  const former = records.filter((record) => record.stored !== undefined);
  const rewritten = new Map(former.map(({ id, response }) => [id, response]));
  await saveDirtyRows(tx, kind.name, rewritten);
  const returned = records.filter((record) => record.change.is === 'restored').map((record) => record.id);
  await forgetAbsences(tx, kind.name, returned);

  await yieldToEventLoop(); // Rows and events of a record of 100,000 fields take long enough one by one.
  const events = records.flatMap((record) => eventOf(write, record));
  await appendChanges(tx, { kind: kind.name, events, origin, runId, now });
  return { misfits: found.length, rewritten };
}

/** A record without a row is inserted, any other one rewritten: an upsert would look for each row once more. */
async function writeRecordRows(tx: Transaction, write: RowsToWrite, found: Issue[]): Promise<void> {
  const { kind, records, isListed } = write;
  const decode = createRecordDecoder(kind);
  const writeRow = rowWriter(kind, tx.dialect);
  const writing = { isListed, at: formatInstant(write.now) };
  const inserted: SqlValue[][] = [];
  const rewritten: SqlValue[][] = [];
  for (const record of records) {
    const { values, misfits } = decode(record.record);
    for (const misfit of misfits) found.push({ recordId: record.id, ...misfit });
    const row = writeRow(values, ownColumnValues(writing, record));
    (record.stored === undefined ? inserted : rewritten).push(row);
  }
  const table = kind.name;
  const columns = writtenColumns(kind, tx.dialect);
  if (inserted.length > 0) await tx.insertRows({ table, columns, rows: inserted });
  if (rewritten.length > 0) await tx.upsertRows({ table, columns, rows: rewritten });
}

/** The values of `OWN_COLUMNS`. */
function ownColumnValues(
  { isListed, at }: { isListed: boolean; at: string },
  { raw, response, stored, change }: RecordWithChange,
): SqlValue[] {
  const shownBefore = change.is === 'restored' ? null : stored?.listed; // From now on it counts as new.
  const listed = shownBefore ?? (isListed ? response : null);
  const changedAt = change.is === 'unchanged' ? (stored?.changedAt ?? at) : at;
  return [stored?.firstSeenAt ?? at, changedAt, null, response, listed, raw];
}

/**
 * A record that is new to the mirror counts as new to the service only if the mirror has had the whole list before, or if we
 * created the record.
 */
function eventOf(write: RowsToWrite, compared: RecordWithChange): ChangeEvent[] {
  const { id, raw, record, stored, change } = compared;
  const { certifiedAt, baselineAt } = write.standing;
  const event = { recordId: id, before: null, after: raw, fields: '{}', observedFrom: certifiedAt };
  const isNewToService = baselineAt !== null || write.origin !== 'service';
  if (change.is === 'created') return isNewToService ? [{ ...event, change: 'created' }] : [];
  if (change.is === 'restored') return [{ ...event, change: 'restored' }];
  if (change.is !== 'changed' || stored === undefined) return [];
  const names = change.fields.filter((name) => !write.ignoredFields.has(name));
  if (names.length === 0) return [];
  const fields = fieldChanges(names, change.before, record);
  return [{ ...event, change: 'updated', before: stored.raw, fields }];
}
