import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { leaseEnd } from '../kinds/lease-time.ts';
import { UNHEARD, fateOf, hasLapsed, isOwnRun } from './run-lease.ts';
import type { OwnRun } from './run-lease.ts';
import { closeDeadRuns } from './run-requests.ts';
import type { Queryable, Row, Session, Transaction } from '../session/session.ts';

export type RunState = 'requested' | 'running' | 'done' | 'incomplete' | 'failed' | 'interrupted';
type KindOutcome = 'certified' | 'complete' | 'invalid' | 'aborted';

/** The result of a run for one kind: the sums of its sweeps. */
export interface KindReport {
  readonly kind: string;
  readonly state: KindOutcome;
  /** A stable code: why the sweep did not reach the end of the list. */
  readonly reason: string | null;
  /** The same for a person: what happened, where, and what to do. */
  readonly detail: string | null;
  readonly certifiedAt: string | null;
  readonly pages: number;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly restored: number;
  readonly unchanged: number;
  readonly quarantined: number;
  readonly requests: number;
  readonly retries: number;
  readonly durationMs: number;
}

export interface Run {
  readonly id: number;
  readonly command: string;
  readonly kinds: readonly string[];
  readonly state: RunState;
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface RunStart {
  readonly command: string;
  readonly kinds: readonly string[];
  /** The parameters of the request besides the kinds. */
  readonly request?: string;
  /** The progress of an earlier run of the same request. */
  readonly cursor?: string | null;
  readonly owner: string;
  readonly now: Date;
  readonly isDead: (owner: string) => boolean;
}

/** Records that a run begins, and that runs of dead processes ended; returns its id. */
export async function startRun(
  session: Session,
  { command, kinds, request, cursor, owner, now, isDead }: RunStart,
): Promise<number> {
  const at = instantText(now);
  return session.atomically(async (tx) => {
    await closeDeadRuns(tx, { isDead, now });
    const [row] = await tx.query(sql`
      insert into runs (command, kinds, request, cursor, state, owner, requested_at, started_at, lease_until)
      values (${command}, ${JSON.stringify(kinds)}, ${request ?? null}, ${cursor ?? null}, 'running', ${owner}, ${at}, ${at},
        ${leaseEnd(now)}) returning id`);
    return Number(row?.['id']);
  });
}

/** Records a run's result for one kind, unless another process owns the run by now. */
export async function saveKindReport(
  tx: Transaction,
  run: OwnRun,
  { report, startedAt }: { report: KindReport; startedAt: Date },
): Promise<void> {
  if (!(await isOwnRun(tx, run))) return;
  const { kind, state, reason, detail, certifiedAt, durationMs, ...counts } = report;
  const columns = Object.keys(counts);
  await tx.append({
    table: 'run_kinds',
    columns: [
      'run_id',
      'kind',
      'state',
      'reason',
      'detail',
      'certified_at',
      'started_at',
      'duration_ms',
      ...columns,
    ],
    rows: [
      [
        run.runId,
        kind,
        state,
        reason,
        detail,
        certifiedAt,
        instantText(startedAt),
        durationMs,
        ...Object.values(counts),
      ],
    ],
  });
}

export interface RunEnd {
  readonly state: RunState;
  readonly reason: string | null;
  readonly now: Date;
}

/** Records how a run ended, unless another process owns it by now. */
export async function finishRun(
  session: Session,
  { runId, owner }: OwnRun,
  { state, reason, now }: RunEnd,
): Promise<void> {
  await session.atomically((tx) =>
    tx.query(sql`
      update runs set state = ${state}, reason = ${reason}, finished_at = ${instantText(now)}, lease_until = null
      where id = ${runId} and owner = ${owner}`),
  );
}

/** Stores a run's progress, in the transaction that made it. */
export async function saveCursor(tx: Transaction, runId: number, cursor: string): Promise<void> {
  await tx.query(sql`update runs set cursor = ${cursor} where id = ${runId}`);
}

/** The progress at which the latest run of the same request stopped early; null if it did not, or there is none. */
export async function readCursor(
  db: Queryable,
  { command, kind, request }: { readonly command: string; readonly kind: string; readonly request: string },
): Promise<{ readonly runId: number; readonly cursor: string } | null> {
  const [row] = await db.query(sql`
    select id, state, cursor from runs
    where command = ${command} and kinds = ${JSON.stringify([kind])} and request = ${request} and slot is null
    order by id desc limit 1`);
  if (row === undefined || row['state'] === 'done' || typeof row['cursor'] !== 'string') return null;
  return { runId: Number(row['id']), cursor: row['cursor'] };
}

/** The latest runs, newest first. */
export async function listRuns(
  db: Queryable,
  { limit, now }: { readonly limit: number; readonly now: Date },
): Promise<Run[]> {
  const rows = await db.query(sql`select * from runs order by id desc limit ${limit}`);
  return rows.map((row) => readRun(row, now));
}

/** The first runs after an id, in the order of their ids; 0 for all. */
export async function runsAfter(
  db: Queryable,
  { after, limit, now }: { readonly after: number; readonly limit: number; readonly now: Date },
): Promise<Run[]> {
  const rows = await db.query(sql`select * from runs where id > ${after} order by id limit ${limit}`);
  return rows.map((row) => readRun(row, now));
}

export async function findRun(
  db: Queryable,
  id: number,
  now: Date,
): Promise<(Run & { reports: KindReport[] }) | null> {
  const [row] = await db.query(sql`select * from runs where id = ${id}`);
  if (row === undefined) return null;
  const reports = await db.query(sql`select * from run_kinds where run_id = ${id} order by started_at, kind`);
  return { ...readRun(row, now), reports: reports.map(readReport) };
}

/** Shows a run whose process is gone as `closeDeadRuns` will record it. */
function readRun(row: Row, now: Date): Run {
  const fate = hasLapsed(row, now) ? fateOf(row) : null;
  return {
    id: Number(row['id']),
    command: String(row['command']),
    kinds: JSON.parse(String(row['kinds'])) as string[],
    state: fate ?? (String(row['state']) as RunState),
    reason: fate === 'interrupted' ? UNHEARD : textOrNull(row['reason']),
    startedAt: textOrNull(row['started_at']),
    finishedAt: textOrNull(row['finished_at']),
  };
}

function readReport(row: Row): KindReport {
  const count = (name: string): number => Number(row[name]);
  return {
    kind: String(row['kind']),
    state: String(row['state']) as KindOutcome,
    reason: textOrNull(row['reason']),
    detail: textOrNull(row['detail']),
    certifiedAt: textOrNull(row['certified_at']),
    pages: count('pages'),
    rows: count('rows'),
    created: count('created'),
    updated: count('updated'),
    deleted: count('deleted'),
    restored: count('restored'),
    unchanged: count('unchanged'),
    quarantined: count('quarantined'),
    requests: count('requests'),
    retries: count('retries'),
    durationMs: count('duration_ms'),
  };
}

const textOrNull = (value: Row[string] | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
