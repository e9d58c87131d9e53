import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Kind } from '../../catalog/kind.ts';
import { recordDecoder } from '../../diff/decode-record.ts';
import {
  judge,
  inListShape,
  fieldChanges,
  type Incoming,
  type Stored,
  type RecordChange,
  type ChangeEvent,
} from '../../diff/judge-page.ts';
import { instantText } from '../../lib/time/clock.ts';
import type { KindLease } from '../kinds/kind-lease.ts';
import type { SqlValue, Transaction } from '../../db/session/session.ts';
import { refuseUnlessExcluded } from '../kinds/exclusions.ts';
import { saveDirtyRows } from '../sightings/page-store.ts';
import { saveUnlisted } from '../sightings/sighting-store.ts';
import { writtenColumns, writtenRow } from '../tables/kind-table.ts';
import { appendChanges } from './change-store.ts';
import { forgetAbsences } from './deletion-store.ts';
import { saveFieldIssues, type Issue } from './issue-store.ts';
import { putNestedRows } from './nested-rows.ts';

/** The part of a record's row that is needed to compare and write a newer reading. */
export interface StoredRow extends Stored {
  readonly firstSeenAt: SqlValue;
  readonly changedAt: SqlValue;
  readonly deletedAt: SqlValue;
  /** The tick of its first list sighting, or of its return since it was last absent; null = it was only ever retrieved singly. */
  readonly listed: SqlValue;
}

/** A record that was read, together with its row. */
export interface Judged extends Incoming {
  readonly stored: StoredRow | undefined;
  readonly verdict: RecordChange;
}

const COLUMNS = ['_raw', '_response', '_deleted_at', '_first_seen_at', '_listed', '_changed_at'] as const;

/** Reads the rows with these ids; an id without a row is absent from the map. */
export async function readStored(
  tx: Transaction,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRow>> {
  const rows = await tx.rowsById(kind.name, COLUMNS, ids);
  const stored = new Map<string, StoredRow>();
  for (const [id, values] of rows) {
    const [raw, response, deletedAt = null, firstSeenAt = null, listed = null, changedAt = null] = values;
    const own = { isDeleted: deletedAt !== null, deletedAt, firstSeenAt, listed, changedAt };
    stored.set(id, { raw: String(raw), response: Number(response), ...own });
  }
  return stored;
}

/** Compares a record that was retrieved singly with its row, in the shape that its list shows. */
export function judgeAsked(kind: Kind, stored: StoredRow | undefined, received: Incoming): Judged {
  const hasShape = stored !== undefined && stored.listed !== null;
  const record = hasShape ? inListShape(received, stored.raw) : received;
  return { ...record, stored, verdict: judge(kind, stored, record) };
}

/** Records of one response. */
export interface AnsweredRecords {
  readonly records: readonly Judged[];
  /** The tick of the response that the rows' content is from. */
  readonly response: number;
}

interface RowsToWrite {
  readonly kind: Kind;
  readonly answers: readonly AnsweredRecords[];
  /** True if a list showed the records; false if they were retrieved or written one by one. */
  readonly isListed: boolean;
  /** `service`, or `outbox:<id>` for our own writes. */
  readonly origin: string;
  readonly runId: number | null;
  readonly now: Date;
  readonly standing: Pick<KindLease, 'certifiedAt' | 'baselineAt'>;
  /** Fields whose changes do not count as events. */
  readonly ignoredFields: ReadonlySet<string>;
}

/** Writes new and different records: their rows, issues and change events. No record may be in two of the responses. */
export async function writeRows(tx: Transaction, write: RowsToWrite): Promise<void> {
  const { kind, answers, origin, runId, now } = write;
  const records = answers.flatMap((answer) => answer.records);
  const found: Issue[] = [];
  await refuseUnlessExcluded(tx, kind);
  await putRecords(tx, write, found);
  await putNestedRows(tx, { kind, records, found, now });
  await saveFieldIssues(tx, { kind: kind.name, recordIds: records.map((record) => record.id), found, now });

  const isNew = (judged: Judged): boolean => judged.stored === undefined;
  if (!write.isListed)
    await saveUnlisted(
      tx,
      kind.name,
      records.filter(isNew).map((record) => record.id),
    );

  await saveDirtyRows(tx, kind.name, new Map(answers.flatMap(rewrittenBy)));
  const returned = records.filter((record) => record.verdict.is === 'restored').map((record) => record.id);
  await forgetAbsences(tx, kind.name, returned);

  await yieldToEventLoop(); // Rows and events of a record of 100,000 fields take long enough one by one.
  const events = records.flatMap((record) => eventOf(write, record));
  await appendChanges(tx, { kind: kind.name, events, origin, runId, now });
}

/** The records that had a row before, with the tick of the response that rewrites it. */
export const rewrittenBy = (answeredRecords: AnsweredRecords): (readonly [string, number])[] =>
  answeredRecords.records.flatMap((record) =>
    record.stored === undefined ? [] : [[record.id, answeredRecords.response] as const],
  );

/** A record without a row is inserted, any other one rewritten: an upsert would look for each row once more. */
async function putRecords(tx: Transaction, write: RowsToWrite, found: Issue[]): Promise<void> {
  const { kind, answers, isListed } = write;
  const decode = recordDecoder(kind);
  const writing = { isListed, at: instantText(write.now) };
  const fresh: SqlValue[][] = [];
  const known: SqlValue[][] = [];
  for (const { records, response } of answers)
    for (const judged of records) {
      const { values, misfits } = decode(judged.record);
      for (const misfit of misfits) found.push({ recordId: judged.id, ...misfit });
      const row = writtenRow(kind, tx.dialect, values, ownValues(writing, judged, response));
      (judged.stored === undefined ? fresh : known).push(row);
    }
  const table = kind.name;
  const columns = writtenColumns(kind, tx.dialect);
  if (fresh.length > 0) await tx.append({ table, columns, rows: fresh });
  if (known.length > 0) await tx.putRows({ table, columns, rows: known });
}

/** The values of `OWN_COLUMNS`. */
function ownValues(
  { isListed, at }: { isListed: boolean; at: string },
  judged: Judged,
  response: number,
): SqlValue[] {
  const { raw, stored, verdict } = judged;
  const shownBefore = verdict.is === 'restored' ? null : stored?.listed; // From now on it counts as new.
  const listed = shownBefore ?? (isListed ? response : null);
  const changedAt = verdict.is === 'unchanged' ? (stored?.changedAt ?? at) : at;
  return [stored?.firstSeenAt ?? at, changedAt, null, response, listed, raw];
}

/**
 * A record that is new to the mirror counts as new to the service only if the mirror has had the whole list before, or if we
 * created the record.
 */
function eventOf(write: RowsToWrite, judged: Judged): ChangeEvent[] {
  const { id, raw, record, stored, verdict } = judged;
  const { certifiedAt, baselineAt } = write.standing;
  const event = { recordId: id, before: null, after: raw, fields: '{}', observedFrom: certifiedAt };
  const isNews = baselineAt !== null || write.origin !== 'service';
  if (verdict.is === 'created') return isNews ? [{ ...event, change: 'created' }] : [];
  if (verdict.is === 'restored') return [{ ...event, change: 'restored' }];
  if (verdict.is !== 'changed' || stored === undefined) return [];
  const names = verdict.fields.filter((name) => !write.ignoredFields.has(name));
  if (names.length === 0) return [];
  const fields = fieldChanges(names, verdict.before, record);
  return [{ ...event, change: 'updated', before: stored.raw, fields }];
}
