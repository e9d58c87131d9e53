import type { Queryable } from '../../db/session/session.ts';
import { isArray, isObject, parseObject } from '../../lib/json/json.ts';
import { findEntry } from '../../store/outbox/outbox-store.ts';
import { readHeldRecords } from '../../store/records/deletion-store.ts';
import { recordName } from '../../store/records/record-name.ts';
import { findRecord } from '../../store/records/record-store.ts';
import { readChangesOf } from '../read-changes.ts';
import type { NamedNews } from './news-text.ts';

const NAMES_SHOWN = 3;

/** Reads the names of the records, and the changes, that stored news is about; what was forgotten meanwhile is not there. */
export async function nameNews(db: Queryable, body: string): Promise<NamedNews> {
  const { type, data } = parseObject(body);
  const facts = isObject(data) ? data : {};
  const { kind, entryId } = facts;
  const seqs = isArray(facts['seqs']) ? facts['seqs'].map(Number) : [];
  const names =
    type === 'kind.held' && typeof kind === 'string'
      ? await heldNames(db, kind)
      : await entryNames(db, Number(entryId ?? 0));
  return { body, names, changes: await readChangesOf(db, seqs) };
}

async function heldNames(db: Queryable, kind: string): Promise<readonly string[]> {
  const held = await readHeldRecords(db, { kind, state: 'held' }, { limit: NAMES_SHOWN });
  return held.map(({ id, raw }) => recordName(raw) || id);
}

async function entryNames(db: Queryable, id: number): Promise<readonly string[]> {
  const entry = await findEntry(db, id);
  if (entry === null) return [];
  const { kind, recordId, payload } = entry;
  const record = recordId === null ? null : await findRecord(db, kind, recordId);
  const name = recordName(record?.raw ?? payload);
  return name === '' ? [] : [name];
}
