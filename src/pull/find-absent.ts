import type { Certificate } from '../diff/certify.ts';
import type { AbsentRow } from '../diff/plan-deletions.ts';
import { instantOf } from '../lib/clock.ts';
import type { Session } from '../mirror/session.ts';
import { liveRows, liveRowsOf } from '../mirror/tombstone-store.ts';
import type { LiveRow } from '../mirror/tombstone-store.ts';

export interface AbsenceSearch {
  readonly kind: string;
  readonly certificate: Certificate;
  /** Ids that were absent before. */
  readonly noted: Iterable<string>;
  /** Live rows of the mirror. */
  readonly live: number;
  /** Records that the sweep saw. */
  readonly seen: number;
}

/** Finds the live rows that a certified list does not have, and that nothing has shown since. */
export async function findAbsent(session: Session, search: AbsenceSearch): Promise<AbsentRow[]> {
  const { kind, certificate, noted, live, seen } = search;
  const suspects = new Set([...certificate.absent(), ...noted]);
  const absent = (await liveRowsOf(session, kind, [...suspects])).filter(isOutside(certificate));
  if (live <= seen + absent.length) return absent.map(absentRow(certificate));
  // Some row was last seen before all that the certificate knows of.
  const all: LiveRow[] = [];
  for await (const rows of liveRows(session, kind)) all.push(...rows.filter(isOutside(certificate)));
  return all.map(absentRow(certificate));
}

function isOutside({ point, lists, showedSince }: Certificate): (row: LiveRow) => boolean {
  return ({ id, response }) => Number(response) < point.sent && !lists(id) && !showedSince(id);
}

const absentRow =
  ({ lastShown }: Certificate) =>
  ({ id, changedAt }: LiveRow): AbsentRow => ({
    id,
    changedAt: instantOf(changedAt),
    lastShown: lastShown(id) ?? 0,
  });
