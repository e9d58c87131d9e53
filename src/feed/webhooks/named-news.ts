import type { Queryable } from '../../db/session/session.ts';
import { readRecordNames } from '../../store/needs/record-names.ts';
import { readChangesOf } from '../read-changes.ts';
import type { NamedNews } from './news-text.ts';

/** Reads the names of the records, and the changes, that stored news is about; what was forgotten meanwhile is not there. */
export async function nameNews(db: Queryable, body: string): Promise<NamedNews> {
  const { type, data } = JSON.parse(body) as { type: string; data: { seqs?: readonly number[] } };
  const names = await readRecordNames(db, { type, facts: data });
  return { body, names, changes: await readChangesOf(db, data.seqs ?? []) };
}
