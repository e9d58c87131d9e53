import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Queryable } from '../session/session.ts';
import { integer, optionalBigint } from '../tables/engine-column.ts';
import { KIND_STATE, RUNS, RUN_KINDS } from '../tables/engine-tables.ts';
import { hasRow, readRow, readTexts, select } from '../tables/rows.ts';
import { requestedRuns } from './run-requests.ts';

export interface Reader {
  readonly now: Date;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const ALL = 10_000;

/**
 * Requested runs that can begin, because no process reads their kinds now. A verification can begin only if nothing else is
 * under way.
 */
export async function startableRuns(
  db: Queryable,
  { limit, ...reader }: Reader & { readonly limit: number },
): Promise<WorkRef[]> {
  const waiting = await requestedRuns(db, reader.now, ALL);
  if (waiting.length === 0) return [];
  const open = await openRuns(db);
  const running = open.filter((run) => run.isAskedFor && run.isRunning);
  const busy = new Set([...running.flatMap(({ kinds }) => kinds), ...(await leasedKinds(db, reader))]);
  const mayVerify = await isIdle(db, reader);
  const isHeld = ({ command, kinds }: OpenRun): boolean =>
    command === 'verify' ? !mayVerify : kinds.some((kind) => busy.has(kind));
  const held = new Set(open.filter((run) => !run.isRunning && isHeld(run)).map(({ id }) => id));
  return waiting.filter(({ id }) => !held.has(id)).slice(0, limit);
}

/** Whether no process pulls, is about to pull or sends; a verification itself does not count. */
export async function isIdle(db: Queryable, reader: Reader): Promise<boolean> {
  const open = (await openRuns(db)).filter(({ command, isAskedFor }) => isAskedFor && command !== 'verify');
  if (open.length > 0 || (await leasedKinds(db, reader)).length > 0) return false;
  return !(await hasRow(db, sql`select 1 from outbox where state = 'sending' limit 1`));
}

/** A run that has not ended, as far as it still has kinds to read. */
interface OpenRun {
  readonly id: number;
  readonly command: string;
  readonly kinds: readonly string[];
  /**
   * True if the run was requested for another process to work. Otherwise its own process works it, and only a lease tells whether that
   * process lives.
   */
  readonly isAskedFor: boolean;
  readonly isRunning: boolean;
}

export async function openRuns(db: Queryable): Promise<OpenRun[]> {
  const runs = await select(db, RUNS, sql`where state in ('requested', 'running') order by id`);
  const isRunning = sql`where run_id in (select id from runs where state = 'running')`;
  const done = await select(db, RUN_KINDS, isRunning);
  return runs.map(({ id, command, kinds, state, epoch }) => ({
    ...{ id, command },
    kinds: (JSON.parse(kinds) as string[]).filter(
      (name) => !done.some(({ runId, kind }) => runId === id && kind === name),
    ),
    isAskedFor: epoch !== null,
    isRunning: state === 'running',
  }));
}

/** The kinds whose lease is held for a sweep, by an owner that may still be alive: a reading between sweeps makes way. */
export async function leasedKinds(db: Queryable, { now, isDead }: Reader): Promise<string[]> {
  const leased = sql`where owner is not null and lease_yields is null and lease_until > ${instantText(now)}`;
  const rows = await select(db, KIND_STATE, leased);
  return rows.filter(({ owner }) => !isDead(String(owner))).map(({ kind }) => kind);
}

/** How far a run is with the list that it reads now, by the rows that its process leaves. */
interface ListProgress {
  readonly kind: string;
  /** Pages that have landed. */
  readonly pages: number;
  readonly rows: number;
  /** The highest page that has landed; null while it may be the first one only. A sweep reads the last page second. */
  readonly lastPage: number | null;
}

/** Reads the progress of a run that any process works; null where it reads no list at the moment. */
export async function readProgress(db: Queryable, runId: number, now: Date): Promise<ListProgress | null> {
  const [kind] = await readTexts(
    db,
    sql`select kind from kind_state
      where owner = (select owner from runs where id = ${runId} and state = 'running')
        and lease_yields is null and lease_until > ${instantText(now)} order by lease_until desc, kind limit 1`,
  );
  if (kind === undefined) return null;
  const landed = sql`
    select count(*) as pages, sum(rows) as rows, max(page) as last_page
    from (select page, max(rows) as rows from sightings where kind = ${kind} and run_id = ${runId} and rows > 0
      group by page)
      as landed`;
  const seen = await readRow(
    db,
    [integer('pages'), optionalBigint('rows'), optionalBigint('last_page')],
    landed,
  );
  const { pages = 0, rows = null, lastPage = null } = seen ?? {};
  return { kind, pages, rows: rows ?? 0, lastPage: pages > 1 ? lastPage : null };
}
