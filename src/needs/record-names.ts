import type { Queryable } from '../db/session/session.ts';
import { findEntry } from '../store/outbox/outbox-store.ts';
import { readHeldRecords } from '../store/records/deletion-store.ts';
import { recordName } from '../store/records/record-name.ts';
import { findRecord } from '../store/records/record-store.ts';

const NAMES_SHOWN = 3;

/** Reads the names of the records that a need or a notification is about; what was forgotten meanwhile is not there. */
export async function readRecordNames(
  db: Queryable,
  { type, facts }: { readonly type: string; readonly facts: object },
): Promise<readonly string[]> {
  const { kind, entryId }: { kind?: string; entryId?: number | null } = facts;
  if (type === 'kind.held' && kind !== undefined) return heldNames(db, kind);
  return typeof entryId === 'number' ? entryNames(db, entryId) : [];
}

async function heldNames(db: Queryable, kind: string): Promise<readonly string[]> {
  const held = await readHeldRecords(db, { kind, state: 'held' }, { limit: NAMES_SHOWN });
  return held.map((row) => recordName(row.raw) || row.id);
}

async function entryNames(db: Queryable, id: number): Promise<readonly string[]> {
  const entry = await findEntry(db, id);
  if (entry === null) return [];
  const { kind, recordId, payload } = entry;
  const record = recordId === null ? null : await findRecord(db, kind, recordId);
  const name = recordName(record?.raw ?? payload);
  return name === '' ? [] : [name];
}
