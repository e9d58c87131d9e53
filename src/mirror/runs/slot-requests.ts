import { sql } from 'drizzle-orm';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import { leasedKinds, openRuns } from './open-runs.ts';
import type { Reader } from './open-runs.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { hasRow } from '../../db/rows/rows.ts';
import { insertRequest } from './run-requests.ts';

/** A schedule that has come due. */
export interface SlotRequest extends Reader {
  readonly schedule: string;
  /** When it came due. */
  readonly slot: Date;
  readonly kinds: readonly string[];
}

export type SlotEnd =
  /** A run now waits for these kinds; the kinds in `served` have one already. */
  | { readonly is: 'requested'; readonly runId: number; readonly served: readonly string[] }
  /** Every kind is requested or being read already: no second run. */
  | { readonly is: 'served' }
  /** Another process has handled this slot. */
  | { readonly is: 'taken' };

/** Requests a schedule's run, once a slot even if several processes try, and never for a kind that a run is about to read. */
export async function requestSlot(tx: Transaction, request: SlotRequest): Promise<SlotEnd> {
  const name = `${request.schedule}@${request.slot.toISOString()}`;
  await writeMeta(tx, 'schedules', name); // Holds up other processes until this transaction has ended.
  const mark = await readMark(tx, request.schedule);
  const isStored = await hasRow(tx, sql`select 1 from runs where slot = ${name}`);
  if (isStored || mark?.getTime() === request.slot.getTime()) return { is: 'taken' };
  await writeMark(tx, request.schedule, request.slot);
  const busy = await servedKinds(tx, request);
  const kinds = request.kinds.filter((kind) => !busy.has(kind));
  if (kinds.length === 0) return { is: 'served' };
  const runId = await insertRequest(tx, {
    command: 'pull',
    kinds: JSON.stringify(kinds),
    request: `schedule ${request.schedule}`,
    slot: name,
    now: request.now,
  });
  return { is: 'requested', runId, served: request.kinds.filter((kind) => busy.has(kind)) };
}

/** Kinds whose whole lists are about to be read or are being read. */
async function servedKinds(tx: Transaction, request: SlotRequest): Promise<ReadonlySet<string>> {
  const leased = await leasedKinds(tx, request);
  const pulls = (await openRuns(tx)).filter(({ command }) => command === 'pull');
  return new Set(
    pulls.flatMap(({ kinds, isAskedFor }) =>
      isAskedFor ? kinds : kinds.filter((kind) => leased.includes(kind)),
    ),
  );
}

/** The instant up to which a schedule's slots are handled; null before its first check. */
export async function readMark(db: Queryable, schedule: string): Promise<Date | null> {
  const mark = await readMeta(db, `schedules.${schedule}`);
  return mark === null ? null : instantOf(mark);
}

export async function writeMark(tx: Transaction, schedule: string, mark: Date): Promise<void> {
  await writeMeta(tx, `schedules.${schedule}`, instantText(mark));
}
