import { sql } from 'drizzle-orm';
import type { Change } from '../../diff/change-event.ts';
import type { AbsenceState } from '../../diff/plan-deletions.ts';
import type { Queryable, Row } from '../session/session.ts';
import type { Issue } from './issue-store.ts';
import type { Proof } from './deletion-store.ts';

/** One change event of a record. */
export interface RecordEvent {
  readonly seq: number;
  readonly change: Change;
  /** No earlier than this it happened; null = unknown. */
  readonly observedFrom: string | null;
  readonly observedAt: string;
  /** `service`, or `outbox:<id>` for what we wrote ourselves. */
  readonly origin: string;
  readonly runId: number | null;
  /** `{name: [old, new]}` as JSON text; `{}` for all but updates. */
  readonly fields: string;
}

/** All change events of a record that are kept, oldest first. */
export async function readRecordEvents(db: Queryable, kind: string, id: string): Promise<RecordEvent[]> {
  const rows = await db.query(sql`
    select seq, change, observed_from, observed_at, origin, run_id, fields from changes
    where kind = ${kind} and record_id = ${id} order by observed_at, seq`);
  return rows.map((row) => ({
    seq: Number(row['seq']),
    change: String(row['change']) as Change,
    observedFrom: textIn(row, 'observed_from'),
    observedAt: String(row['observed_at']),
    origin: String(row['origin']),
    runId: row['run_id'] === null ? null : Number(row['run_id']),
    fields: String(row['fields']),
  }));
}

/** An issue of a record; open while `closedAt` is null. */
export interface RecordIssue extends Pick<Issue, 'field' | 'code'> {
  readonly detail: string | null;
  readonly firstSeenAt: string;
  readonly closedAt: string | null;
}

/** All issues of a record that are kept, oldest first. */
export async function readRecordIssues(db: Queryable, kind: string, id: string): Promise<RecordIssue[]> {
  const rows = await db.query(sql`
    select field, code, detail, first_seen_at, closed_at from issues
    where kind = ${kind} and record_id = ${id} order by id`);
  return rows.map((row) => ({
    field: textIn(row, 'field'),
    code: String(row['code']),
    detail: textIn(row, 'detail'),
    firstSeenAt: String(row['first_seen_at']),
    closedAt: textIn(row, 'closed_at'),
  }));
}

/** A record's absence from its list: suspected, held or decided by a person, or concluded with its proof. */
export interface RecordAbsence {
  readonly state: AbsenceState | 'deleted';
  readonly absentSince: string;
  /** When a list last showed the record; null = unknown. */
  readonly lastSeenAt: string | null;
  readonly proof: Proof | null;
  readonly concludedAt: string | null;
}

export async function readRecordAbsence(
  db: Queryable,
  kind: string,
  id: string,
): Promise<RecordAbsence | null> {
  const [row] = await db.query(sql`
    select state, absent_since, last_seen_at, proof, concluded_at from deletions
    where kind = ${kind} and record_id = ${id}`);
  if (row === undefined) return null;
  return {
    state: String(row['state']) as RecordAbsence['state'],
    absentSince: String(row['absent_since']),
    lastSeenAt: textIn(row, 'last_seen_at'),
    proof: textIn(row, 'proof') as Proof | null,
    concludedAt: textIn(row, 'concluded_at'),
  };
}

function textIn(row: Row, column: string): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}
