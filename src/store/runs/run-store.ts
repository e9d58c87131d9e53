import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { RUNS, RUN_KINDS } from '../tables/engine-tables.ts';
import {
  assignments,
  countUpTo,
  hasRow,
  insertInto,
  insertRows,
  omitColumns,
  readNumber,
  readRows,
  select,
  type RowOf,
} from '../../db/rows/rows.ts';
import { wakeRefused } from '../outbox/outbox-queue.ts';
import { addNotification } from '../notifications/notifications.ts';
import { closeStaleRuns, isRunOwner, judgeRuns, renewRun, type OwnedRun } from './run-requests.ts';

export type RunState = (typeof RUNS.$inferSelect)['state'];

const REPORT = omitColumns(RUN_KINDS, 'runId', 'startedAt');

/** The result of a run for one kind: the sums of its sweeps. */
export type KindReport = RowOf<typeof REPORT>;

/** The counts of the rows of a kind that every report for a person shows. */
export const ROW_COUNTS = [
  'rows',
  'created',
  'updated',
  'deleted',
  'restored',
  'unchanged',
  'quarantined',
] as const satisfies readonly (keyof KindReport)[];

/** Whether a run has read a kind to the end of its list, or to the last page that was asked for. */
export const isReadToEnd = (report: Pick<KindReport, 'state'>): boolean =>
  report.state === 'certified' || report.state === 'complete';

/** `slot` of a schedule: `name@time`, and `name@time#n` for its n-th repeat. */
export type Run = Awaited<ReturnType<typeof readRuns>>[number];

export interface RunStart {
  readonly command: string;
  readonly kinds: readonly string[];
  /** The parameters of the request besides the kinds. */
  readonly request?: string;
  readonly owner: string;
  readonly now: Date;
}

/** Records that a run begins, and that runs of dead processes ended; returns its id. */
export async function startRun(session: Session, start: RunStart): Promise<number> {
  const { command, kinds, request = null, owner, now } = start;
  const at = formatInstant(now);
  const begun = { state: 'running', owner, requestedAt: at, startedAt: at } as const;
  return session.atomically(async (tx) => {
    await closeStaleRuns(tx, now);
    const runId = await readNumber(
      tx,
      sql`${insertInto(RUNS, { command, kinds, request, ...begun })} returning id`,
    );
    await renewRun(tx, { runId: runId ?? 0, owner });
    return runId ?? 0;
  });
}

/** Records a run's result for one kind, unless another process owns the run by now. */
export async function saveKindReport(tx: Transaction, run: OwnedRun, report: KindReport, startedAt: Date) {
  if (!(await isRunOwner(tx, run))) return;
  await insertRows(tx, RUN_KINDS, [{ ...report, runId: run.runId, startedAt: formatInstant(startedAt) }]);
  if (isReadToEnd(report)) await noteAcceptance(tx, startedAt);
  if (report.reason === 'unauthorized') await noteRefusal(tx, String(run.runId), startedAt);
}

/** The service accepts the token: the entries that waited for this go. */
export async function noteAcceptance(tx: Transaction, now: Date): Promise<void> {
  const refused = sql`delete from mirror_meta where key = 'source.refused' returning key`;
  if (await hasRow(tx, refused)) await wakeRefused(tx, now);
}

/**
 * Notes a refused token. The second refusal in a row causes a notification; one may be a passing fault of the service.
 * @param during The run, or the minute of writes, whose refusals count once.
 */
export async function noteRefusal(tx: Transaction, during: string, now: Date): Promise<void> {
  const noted = await readMeta(tx, 'source.refused');
  const [since = '', latest, times = '0'] = noted?.split(' ') ?? [now.toISOString()];
  if (latest === during) return;
  await writeMeta(tx, 'source.refused', `${since} ${during} ${Number(times) + 1}`);
  if (Number(times) === 1)
    await addNotification(tx, { type: 'token.refused', facts: { since }, key: since, now });
}

/** Records how a run ended, unless another process owns it by now. */
export async function finishRun(
  session: Session,
  run: OwnedRun,
  { now, ...end }: { state: RunState; reason: string | null; now: Date },
): Promise<void> {
  const set = assignments(RUNS, { ...end, finishedAt: formatInstant(now), leaseUntil: null });
  await session.atomically((tx) =>
    tx.query(sql`update runs set ${set} where id = ${run.runId} and owner = ${run.owner}`),
  );
}

/** The latest runs, newest first, each with the repeats of its slot. `before`: only runs with a lower id. */
export async function listRuns(
  db: Queryable,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
) {
  return withRepeats(db, sql`and id < ${before} order by id desc limit ${limit}`);
}

const FIRST_TRIES = sql`(slot is null or slot not like '%#%')`;

export const countRuns = (db: Queryable): Promise<number> => countUpTo(db, sql`runs where ${FIRST_TRIES}`);

async function withRepeats(db: Queryable, which: SQL) {
  const rows = await readRuns(db, sql`where ${FIRST_TRIES} ${which}`);
  const first = Math.min(...rows.map((row) => row.id), Number.MAX_SAFE_INTEGER);
  const repeats = await readRuns(db, sql`where slot like '%#%' and id > ${first} order by id`);
  return rows.map((row) => {
    const ofRun = repeats.filter((repeat) => repeat.slot?.startsWith(`${row.slot ?? ''}#`));
    return { ...row, repeats: ofRun };
  });
}

const SUMS = { rows: Number, changes: Number }; // Changes: rows that it created, updated, deleted or restored in the mirror.

/** The sums of a run's reports. */
export type RunSums = RowOf<typeof SUMS>;

/** The sums of some runs by their ids; a run without reports is absent. */
export async function sumsOfRuns(db: Queryable, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, RunSums>();
  const query = sql`
    select run_id, sum(${sql.identifier('rows')}) as ${sql.identifier('rows')},
      sum(created + updated + deleted + restored) as changes
    from run_kinds where run_id in (${sqlList(ids)}) group by run_id`;
  const rows = await readRows(db, { runId: Number, ...SUMS }, query);
  return new Map<number, RunSums>(rows.map(({ runId, ...sums }) => [runId, sums]));
}

/** The same after an id, in the order of their ids; 0 for all. */
export const runsAfter = (db: Queryable, after: number, limit: number) =>
  withRepeats(db, sql`and id > ${after} order by id limit ${limit}`);

/** The runs of the slot of a run, oldest first: the first one, and its repeats; one without a slot is alone. */
export async function readTries(
  db: Queryable,
  { id, slot }: Pick<Run, 'id' | 'slot'>,
): Promise<readonly Run[]> {
  const ofSlot = slot === null ? sql`and id = ${id}` : sql`and slot = ${slot.replace(/#.*/, '')}`;
  return (await withRepeats(db, ofSlot)).flatMap(({ repeats, ...first }) => [first, ...repeats]);
}

/** A run with the results of its kinds; null if there is none with this id. */
export async function findRun(db: Queryable, id: number) {
  const [run] = await readRuns(db, sql`where id = ${id}`);
  if (run === undefined) return null;
  const reports = await select(db, REPORT, sql`where run_id = ${id} order by started_at, kind`);
  return { ...run, reports };
}

async function readRuns(db: Queryable, which: SQL) {
  const runs = await judgeRuns(db, await select(db, RUNS, which));
  return runs.map(({ id, command, kinds, request, state, reason, startedAt, finishedAt, slot }) => {
    const extent = command === 'backfill' ? request : null;
    return { id, command, kinds, extent, state, reason, startedAt, finishedAt, slot };
  });
}
