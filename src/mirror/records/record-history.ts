import { sql } from 'drizzle-orm';
import type { AbsenceState } from '../../diff/plan-deletions.ts';
import type { Queryable } from '../session/session.ts';
import { CHANGES, DELETIONS } from '../tables/change-tables.ts';
import { optionalText, optionalTimestamp, text, timestamp } from '../tables/engine-column.ts';
import { ISSUES } from '../tables/engine-tables.ts';
import { pick, select, selectOne } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';
import type { Proof } from './deletion-store.ts';

const EVENT = pick(
  CHANGES,
  ...(['seq', 'change', 'observed_from', 'observed_at', 'origin', 'run_id', 'fields'] as const),
);

/** A change event of a record; `fields` is `{name: [old, new]}` as JSON text, `{}` for all but updates. */
export type RecordEvent = RowOf<typeof EVENT>;

/** All change events of a record that are kept, oldest first. */
export async function readRecordEvents(db: Queryable, kind: string, id: string): Promise<RecordEvent[]> {
  return select(db, EVENT, sql`where kind = ${kind} and record_id = ${id} order by observed_at, seq`);
}

const ISSUE = pick(ISSUES, 'field', 'code', 'detail', 'first_seen_at', 'closed_at');

/** An issue of a record; open while `closedAt` is null. */
export type RecordIssue = RowOf<typeof ISSUE>;

/** All issues of a record that are kept, oldest first. */
export async function readRecordIssues(db: Queryable, kind: string, id: string): Promise<RecordIssue[]> {
  return select(db, ISSUE, sql`where kind = ${kind} and record_id = ${id} order by id`);
}

const ABSENCE = {
  name: DELETIONS.name,
  columns: [
    text<'state', AbsenceState | 'deleted'>('state'),
    timestamp('absent_since'),
    optionalTimestamp('last_seen_at'),
    optionalText<'proof', Proof>('proof'),
    optionalTimestamp('concluded_at'),
  ],
} as const;

/**
 * A record's absence from its list: suspected, held or decided by a person, or concluded with its proof. `lastSeenAt` is when a
 * list last showed the record; null = unknown.
 */
export type RecordAbsence = RowOf<typeof ABSENCE>;

export async function readRecordAbsence(
  db: Queryable,
  kind: string,
  id: string,
): Promise<RecordAbsence | null> {
  return selectOne(db, ABSENCE, sql`where kind = ${kind} and record_id = ${id}`);
}
