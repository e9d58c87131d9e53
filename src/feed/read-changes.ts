import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Queryable, Row } from '../mirror/session/session.ts';
import { sqlList } from '../mirror/session/sql-text.ts';

/** One event of the table `changes`. */
export interface RecordedChange {
  /** The reader's cursor: who has read up to n never later finds an event ≤ n. */
  readonly seq: number;
  readonly kind: string;
  readonly recordId: string;
  /** `created`, `updated`, `deleted` or `restored`. */
  readonly change: string;
  /** No earlier than this it happened; null = unknown. */
  readonly observedFrom: string | null;
  /** No later than this it happened: when it was found out. */
  readonly observedAt: string;
  /** The record as JSON text, numbers as received; null = it was not there. */
  readonly before: string | null;
  readonly after: string | null;
  /** `{name: [old, new]}` as JSON text. */
  readonly fields: string;
  /** `service`, or `outbox:<id>` for changes written by bms-sync itself. */
  readonly origin: string;
  readonly runId: number | null;
}

interface ChangesWanted {
  /** Events after this `seq`; 0 for all. */
  readonly after: number;
  /** Events up to this `seq`. */
  readonly upTo?: number;
  readonly kind?: string | undefined;
  readonly limit: number;
}

const PAGE = 500;

/** Reads the first events after a `seq`, in the order of `seq`. */
export async function readChanges(db: Queryable, wanted: ChangesWanted): Promise<RecordedChange[]> {
  const { after, upTo = Number.MAX_SAFE_INTEGER, kind, limit } = wanted;
  const rows = await db.query(sql`
    select * from changes where seq > ${after} and seq <= ${upTo}${ofKind(kind)} order by seq limit ${limit}`);
  return rows.map(recordedChange);
}

/** Reads the events with these numbers; one that was removed is left out. */
export async function readChangesOf(db: Queryable, seqs: readonly number[]): Promise<RecordedChange[]> {
  if (seqs.length === 0) return [];
  return (await db.query(sql`select * from changes where seq in (${sqlList(seqs)})`)).map(recordedChange);
}

/** Hands out all events after a `seq` and up to another, a page at a time; ends early where the signal is aborted. */
export async function* changesBetween(
  db: Queryable,
  { after, upTo, kind }: { after: number; upTo: number; kind: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<RecordedChange> {
  for (let from = after; from < upTo && !signal.aborted;) {
    const page = await readChanges(db, { after: from, upTo, kind, limit: PAGE });
    yield* page;
    from = page.length < PAGE ? upTo : (page.at(-1)?.seq ?? upTo);
    await yieldToEventLoop(); // SQLite answers at once: without a turn, no signal would be heard until the end.
  }
}

/** The `seq` of the latest event; 0 where there is none. */
export async function latestSeq(db: Queryable): Promise<number> {
  const [row] = await db.query(sql`select max(seq) as seq from changes`);
  return Number(row?.['seq'] ?? 0);
}

/** The `seq` after which the latest `count` events (of a kind) lie. */
export async function seqBeforeLatest(
  db: Queryable,
  kind: string | undefined,
  count: number,
): Promise<number> {
  const [row] = await db.query(sql`
    select min(seq) as seq from (
      select seq from changes where seq > 0${ofKind(kind)} order by seq desc limit ${count}) latest`);
  const first = row?.['seq'] ?? null;
  return first === null ? latestSeq(db) : Number(first) - 1;
}

const ofKind = (kind: string | undefined): SQL => (kind === undefined ? sql`` : sql` and kind = ${kind}`);

/** Reads a row of the table `changes`. */
export function recordedChange(row: Row): RecordedChange {
  const text = (column: string): string => String(row[column]);
  const textOrNull = (column: string): string | null => (row[column] === null ? null : text(column));
  return {
    seq: Number(row['seq']),
    kind: text('kind'),
    recordId: text('record_id'),
    change: text('change'),
    observedFrom: textOrNull('observed_from'),
    observedAt: text('observed_at'),
    before: textOrNull('before'),
    after: textOrNull('after'),
    fields: text('fields'),
    origin: text('origin'),
    runId: row['run_id'] === null ? null : Number(row['run_id']),
  };
}

interface LatestWanted {
  /** Only events before this `seq`. */
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
  /** Only events of this record of the kind. */
  readonly recordId?: string | undefined;
  readonly limit: number;
}

/** Events that are looked through for those of a kind before its index is asked. */
const NEAR = 2_000;

/** Reads the latest events before a `seq`, the newest first: a page at any place of the log costs the same. */
export async function latestChanges(db: Queryable, wanted: LatestWanted): Promise<RecordedChange[]> {
  const { before = Number.MAX_SAFE_INTEGER, kind, recordId, limit } = wanted;
  const read = async (condition: SQL): Promise<RecordedChange[]> => {
    const rows = await db.query(sql`
      select * from changes where seq < ${before} and ${condition} order by seq desc limit ${limit}`);
    return rows.map(recordedChange);
  };
  if (kind === undefined) return read(sql`1 = 1`);
  const latest = sql`select min(seq) from (
    select seq from changes where seq < ${before} order by seq desc limit ${NEAR}) near`;
  const near = recordId === undefined ? await read(sql`kind = ${kind} and seq >= (${latest})`) : [];
  if (near.length === limit) return near;
  const isOne = recordId === undefined ? sql`` : sql` and record_id = ${recordId}`;
  // `-seq` keeps a database from walking through all events of the other kinds.
  return read(sql`seq in (
    select seq from changes where kind = ${kind}${isOne} and seq < ${before} order by -seq limit ${limit})`);
}

/** Reads one event; null if there is none, or it was removed. */
export async function findChange(db: Queryable, seq: number): Promise<RecordedChange | null> {
  const [row] = await db.query(sql`select * from changes where seq = ${seq}`);
  return row === undefined ? null : recordedChange(row);
}
