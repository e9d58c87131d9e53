import type { Queryable } from '../../db/session/session.ts';
import { readRecordNames } from '../../store/needs/record-names.ts';
import { readChangesBySeq } from '../read-changes.ts';
import type { NamedNotification } from './notification-text.ts';

/** Reads the names of a stored notification's records, and its changes; leaves out forgotten ones. */
export async function nameNotification(db: Queryable, body: string): Promise<NamedNotification> {
  const { type, data } = JSON.parse(body) as { type: string; data: { seqs?: readonly number[] } };
  const names = await readRecordNames(db, { type, facts: data });
  return { type, body, names, changes: await readChangesBySeq(db, data.seqs ?? []) };
}
