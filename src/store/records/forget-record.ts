import { sql } from 'drizzle-orm';
import { LosslessNumber } from 'lossless-json';
import type { Kind } from '../../catalog/kind.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { compactJson, parseObject, type JsonObject } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { excludedSince, refuseExcluded } from '../kinds/exclusions.ts';
import { readMirroredKind } from '../kinds/field-store.ts';
import { jumpTick } from '../kinds/kind-standing.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { eraseTraces, saveErasure } from './erasure-store.ts';
import { readRecordStory } from './record-story.ts';
import { findTraces } from './record-traces.ts';
import type { TableOwner } from './table-owner.ts';
import { readStoredRows, writeRows, type StoredRow } from './stored-rows.ts';

export interface Forgettable {
  readonly kind: Kind;
  readonly id: string;
  /** Forgets a record that the service still lists, and keeps it out from now on. */
  readonly suppress: boolean;
}

interface Forgetting extends Forgettable {
  readonly by: string;
  readonly now: Date;
  /** Of tables beside those of the store. */
  readonly owners: readonly TableOwner[];
}

/** The traces of a record that would be forgotten. */
export type ForgetPlan = Awaited<ReturnType<typeof planForgetting>>;

export type Forgotten = Awaited<ReturnType<typeof forgetRecord>>;

/**
 * Lists what would be forgotten and refuses what must be kept; changes nothing.
 * @throws {SyncError} `forget.listed` while the service lists the record, `forget.entries_open` while entries of the outbox are
 * under way, `record.absent` without a trace of it.
 */
export async function planForgetting(session: Session, wanted: Forgettable) {
  const { kind, id } = wanted;
  const { standing, traces } = await session.atomically((tx) => checkedStanding(tx, wanted));
  const story = await readRecordStory(session, kind, id);
  if (story === null)
    throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
      code: 'record.absent',
      hint: 'Nothing needs to be forgotten.',
    });
  const entries = traces.entries.length + story.endedEntries.length;
  return { standing, events: story.events.length, issues: story.issues.length, entries };
}

/** How a record stands before it is forgotten: live, as a tombstone, or not in the mirror at all. */
async function checkedStanding(tx: Transaction, forgettable: Forgettable) {
  const { kind, id, suppress } = forgettable;
  const row = (await readStoredRows(tx, kind, [id])).get(id);
  const isLive = row !== undefined && !row.isDeleted;
  if (isLive && !suppress)
    throw new SyncError(`Record ${id} of ${kind.name} is live: the next pull would read it again.`, {
      code: 'forget.listed',
      hint: 'Delete it in the service and pull until the mirror shows the deletion, or add --suppress to exclude it.',
    });
  const traces = await findTraces(tx, kind, id);
  const open = traces.entries.filter((entry) => entry.isOpen).map((entry) => entry.id);
  if (open.length > 0)
    throw new SyncError(
      `The outbox has open entries for record ${id} of ${kind.name}, or with its content: ${open.join(', ')}.`,
      {
        code: 'forget.entries_open',
        hint: 'Wait for their end, or give them up: bms-sync outbox abandon ID',
      },
    );
  return { row, standing: row === undefined ? 'absent' : isLive ? 'live' : 'deleted', traces } as const;
}

/**
 * Removes the content of a record from the mirror, in one transaction: a tombstone with the id stays, and a note of the
 * erasure. No answer that was requested before can land the record again.
 * @throws {SyncError} `forget.listed`, `forget.entries_open`
 */
export async function forgetRecord(tx: Transaction, forgetting: Forgetting) {
  const { kind, id, suppress, by, now, owners } = forgetting;
  const key = { kind: kind.name, id };
  const { row, traces: foundTraces } = await checkedStanding(tx, forgetting);
  const remaining = { id: (row === undefined ? null : parseObject(row.raw)['id']) ?? new LosslessNumber(id) };
  if (row !== undefined) await emptyRow(tx, forgetting, { stored: row, remaining });
  await tx.query(sql`
    delete from deletions where kind = ${kind.name} and record_id = ${id} and concluded_at is null`);
  const traces = await eraseTraces(tx, { ...key, ...foundTraces }, compactJson(remaining), owners);
  await saveErasure(tx, { ...key, by, isSuppressed: suppress, now });
  return { row: row !== undefined, ...traces };
}

/** Writes the row as that of a record with nothing but its id, as landing would: columns, twins and nested tables follow. */
async function emptyRow(
  tx: Transaction,
  forgetting: Forgetting,
  { stored, remaining: record }: { readonly stored: StoredRow; readonly remaining: JsonObject },
): Promise<void> {
  const { kind, id, now } = forgetting;
  const raw = compactJson(record);
  refuseExcluded(kind, await excludedSince(tx, kind));
  const response = await jumpTick(tx, kind.name);
  await writeRows(tx, {
    kind: await readMirroredKind(tx, kind),
    records: [{ id, raw, record, response, stored, change: { is: 'unchanged' } }],
    isListed: false,
    origin: 'service',
    runId: null,
    now,
    standing: { certifiedAt: null, baselineAt: null },
    ignoredFields: new Set(),
  });
  const deletedAt = stored.deletedAt ?? formatInstant(now);
  await tx.query(sql`update ${sql.identifier(kind.name)} set _deleted_at = ${deletedAt} where id = ${id}`);
}
