import type { WorkRef } from '../../lib/work-queue.ts';
import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { requestedRuns } from './run-requests.ts';
import type { Queryable } from '../session/session.ts';

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
  const running = (await openRuns(db)).filter((run) => run.isAskedFor && run.isRunning);
  const busy = new Set([...running.flatMap(({ kinds }) => kinds), ...(await leasedKinds(db, reader))]);
  const mayVerify = await isIdle(db, reader);
  const rows = await db.query(sql`select id, command, kinds from runs where state = 'requested'`);
  const held = rows.filter((row) =>
    row['command'] === 'verify' ? !mayVerify : namesIn(row['kinds']).some((kind) => busy.has(kind)),
  );
  const heldIds = new Set(held.map((row) => Number(row['id'])));
  return waiting.filter(({ id }) => !heldIds.has(id)).slice(0, limit);
}

/** Whether no process pulls, is about to pull or sends; a verification itself does not count. */
export async function isIdle(db: Queryable, reader: Reader): Promise<boolean> {
  const open = (await openRuns(db)).filter(({ command, isAskedFor }) => isAskedFor && command !== 'verify');
  if (open.length > 0 || (await leasedKinds(db, reader)).length > 0) return false;
  return (await db.query(sql`select 1 from outbox where state = 'sending' limit 1`)).length === 0;
}

/** A run that has not ended, as far as it still has kinds to read. */
interface OpenRun {
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
  const rows = await db.query(sql`
    select id, command, kinds, state, epoch from runs where state in ('requested', 'running') order by id`);
  const done = await db.query(sql`
    select run_id, kind from run_kinds where run_id in (select id from runs where state = 'running')`);
  return rows.map(({ id, command, kinds, state, epoch }) => ({
    command: String(command),
    kinds: namesIn(kinds).filter(
      (name) => !done.some((report) => Number(report['run_id']) === Number(id) && report['kind'] === name),
    ),
    isAskedFor: epoch !== null,
    isRunning: state === 'running',
  }));
}

/** The kinds whose lease is held by an owner that may still be alive. */
export async function leasedKinds(db: Queryable, { now, isDead }: Reader): Promise<string[]> {
  const rows = await db.query(
    sql`select kind, owner from kind_state where owner is not null and lease_until > ${instantText(now)}`,
  );
  return rows.filter((row) => !isDead(String(row['owner']))).map((row) => String(row['kind']));
}

const namesIn = (kinds: unknown): string[] => JSON.parse(String(kinds)) as string[];
