import type { AbsentRow } from '../../diff/decide-deletions.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import type { Session } from '../../db/session/session.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { findSurplus } from '../../store/records/surplus-rows.ts';
import { liveRows, liveRowsOf, type LiveRow } from '../../store/records/tombstone-store.ts';
import type { Sweep } from '../run/sweep.ts';
import type { AbsenceEvidence } from './absence-evidence.ts';

interface AbsentRows {
  /** Rows of records that the list shows as disappeared; the proof is still to come. */
  readonly absent: readonly AbsentRow[];
  /** Rows that an answer named since the point, and that no list has shown. */
  readonly neverListed: number;
  /** Rows that are not records as far as is known; they stay as they are. */
  readonly surplus: number;
}

/**
 * Sorts the live rows that a list does not have.
 * @param ids `outside`: those of a certified list; `noted`: ids that were absent before.
 */
export async function sortAbsent(
  session: Session,
  sweep: Sweep,
  evidence: AbsenceEvidence,
  ids: { readonly outside: readonly string[]; readonly noted: Iterable<string> },
): Promise<AbsentRows> {
  const { name } = sweep.kind;
  const { knownFrom } = sweep.lease;
  const { isCertified, isOutside, lastShown } = evidence;
  const rows = isCertified
    ? await liveRowsOf(session, name, ids.outside)
    : await unseenRows(session, name, evidence, ids.noted);
  const surplus = await findSurplus(session, name, rows, { knownFrom, lastShown });
  const records = rows.filter((row) => !surplus.has(row.id));
  const absent = records.filter(isOutside).map(({ id, listed, changedAt }): AbsentRow => ({
    id,
    isListed: listed !== null,
    changedAt: parseInstant(changedAt),
    lastShown: lastShown(id) ?? 0,
  }));
  const neverListed = records.filter((row) => !isOutside(row) && row.listed === null).length;
  return { absent, neverListed, surplus: surplus.size };
}

/** Finds the live rows that a list without a certificate does not have, and that nothing has shown since. */
async function unseenRows(
  session: Session,
  kind: string,
  evidence: AbsenceEvidence,
  noted: Iterable<string>,
): Promise<readonly LiveRow[]> {
  const suspects = new Set([...evidence.suspects(), ...noted]);
  const rows = (await liveRowsOf(session, kind, [...suspects])).filter(evidence.isOutside);
  if ((await countLiveRows(session, kind)) <= evidence.shown + rows.length) return rows;
  const all: LiveRow[] = []; // Some row was last seen before the oldest kept response.
  for await (const batch of liveRows(session, kind)) all.push(...batch.filter(evidence.isOutside));
  return all;
}
