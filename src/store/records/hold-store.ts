import { hash } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { AbsenceState } from '../../diff/absence.ts';
import { olderThanField } from '../../diff/doubts.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { orNull, readRows } from '../../db/rows/rows.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { deleteMeta, readMeta, writeMeta } from '../kinds/meta.ts';

type HoldDecision = 'approved' | 'rejected';

/**
 * The states that a decision may change: what is held; else the last decision is revised. An approval that is sent again finds what it
 * has approved before rows that a person has kept.
 */
const DECIDABLE: readonly AbsenceState[] = ['held', 'approved', 'rejected'];

/** Records in the order in which they joined their state, so that the shown ones come first. */
function readJoined(db: Queryable, kind: string, state: AbsenceState) {
  const rows: SQL = sql`
    select record_id as id, proof as why from deletions where kind = ${kind} and state = ${state}
    order by sweep, length(record_id), record_id`;
  return readRows(db, { id: String, why: orNull(String) }, rows);
}

type Joined = Awaited<ReturnType<typeof readJoined>>;

/** Names exactly these records: their number, and the beginning of a hash of their ids. */
function checkOf(rows: Joined): string {
  const ids = rows.map((row) => row.id).join(',');
  return `${rows.length}-${hash('sha256', ids).slice(0, 10)}`;
}

/** The check of the records that a decision on a kind's hold would concern now. */
export async function readCheck(db: Queryable, kind: string, state: AbsenceState): Promise<string> {
  return checkOf(await readJoined(db, kind, state));
}

/** Remembers which held records of a kind a person was shown last: an approval without a check is of these. */
export async function rememberShown(db: Queryable, kind: string, check: string): Promise<void> {
  await writeMeta(db, `shown.${kind}`, check);
}

/**
 * Records a person's decision on a kind's hold; if nothing is held, it revises the last decision. An approval is of the records that
 * were shown: by the check, or else by the last list. An approved deletion still needs the service's own proof.
 * @returns Also `newer`, the records that joined after the shown ones; no decision concerns them.
 * @throws {SyncError} `deletions.changed` if these are not the records of the hold, `deletions.none` if nothing is held.
 */
export async function decideHold(tx: Transaction, kind: string, decision: HoldDecision, only?: string) {
  const remembered = decision === 'approved' ? await readMeta(tx, `shown.${kind}`) : null;
  let isNone = true;
  for (const state of DECIDABLE) {
    const rows = await readJoined(tx, kind, state);
    isNone &&= rows.length === 0;
    const check = only ?? (state === 'held' ? remembered : null);
    const shown = check === null ? rows : shownBy(rows, check);
    if (shown.length === 0 && rows.length > 0 && only === undefined) break;
    if (shown.length === 0) continue;
    await saveDecision(tx, kind, decision, shown);
    const newer = rows.length - shown.length;
    return { kind, decision, records: shown.length, ...(newer > 0 && { newer }) };
  }
  throw undecidable(kind, isNone, only);
}

function undecidable(kind: string, isNone: boolean, only?: string): SyncError {
  if (isNone) return new SyncError(`No deletions of ${kind} are on hold.`, { code: 'deletions.none' });
  const message =
    only === undefined
      ? `The held records of ${kind} have changed since they were shown.`
      : `The check ${only} does not belong to the records of ${kind} that are on hold now.`;
  return new SyncError(message, {
    code: 'deletions.changed',
    hint: 'Look at them first: bms-sync deletions',
  });
}

/** Saves a decision. Rejecting the oldest rows means that rows older than the list stay; approving them takes that back. */
async function saveDecision(tx: Transaction, kind: string, decision: HoldDecision, rows: Joined) {
  for (const ids of inChunks(rows.map((row) => row.id)))
    await tx.query(sql`
      update deletions set state = ${decision} where kind = ${kind} and record_id in (${sqlList(ids)})`);
  const by = rows.map((row) => olderThanField(row.why)).find((field) => field !== null);
  if (by === undefined) return;
  await (decision === 'rejected'
    ? writeMeta(tx, `scope.${kind}`, `${by} 0`)
    : deleteMeta(tx, `scope.${kind}`));
}

/** The rows that a check names: the first ones; none if they are others by now. */
function shownBy(rows: Joined, check: string): Joined {
  const shown = rows.slice(0, Number.parseInt(check, 10) || 0);
  return checkOf(shown) === check ? shown : [];
}

/** The field that makes rows older than a kind's list stay in the mirror; else the consecutive deletions that were exactly the oldest. */
export async function readScope(db: Queryable, kind: string) {
  const [by = '', waves = '0'] = ((await readMeta(db, `scope.${kind}`)) ?? '').split(' ');
  return { by: by === '' ? null : by, waves: Number(waves) };
}

/** Notes how many deletions in a row were exactly the oldest rows. */
export const saveWaves = (tx: Transaction, kind: string, waves: number): Promise<void> =>
  writeMeta(tx, `scope.${kind}`, ` ${waves}`);
