import type { Certificate } from '../../diff/certify.ts';
import type { AbsentRow } from '../../diff/plan-deletions.ts';
import { isFalseTombstone, judgeUnlisted } from '../../diff/plan-repairs.ts';
import { instantOf } from '../../lib/time/clock.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import { countLive } from '../../store/kinds/status-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { factsOf, readEvidence } from '../../store/records/record-facts.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import {
  liveRows,
  liveRowsOf,
  liftTombstones,
  readDead,
  tombstoneStrays,
  type LiveRow,
  type Stray,
} from '../../store/records/tombstone-store.ts';
import type { AbsenceEvidence } from './absence-evidence.ts';
import type { PullParts } from '../run/parts.ts';
import { underLease, type Sweep } from '../run/sweep.ts';
import { inChunks } from '../../db/session/sql-text.ts';

interface Sorted {
  /** Rows of records that the list shows as disappeared; the proof is still to come. */
  readonly absent: readonly AbsentRow[];
  /** Rows that another writer had inserted, restored or marked as deleted, and that are repaired. */
  readonly mended: number;
  /** Rows that an answer named since the point, and that no list has shown. */
  readonly neverListed: number;
}

const ROWS_A_TRANSACTION = 500;

/**
 * Sorts rows outside a certified list: disappeared records, and rows that only another writer can have made.
 * @param outside `noted`: ids whose absence was noted before.
 */
export async function repairStrays(
  parts: PullParts,
  sweep: Sweep,
  certificate: Certificate,
  { outside, noted }: { readonly outside: readonly string[]; readonly noted: Iterable<string> },
): Promise<Sorted> {
  const lifted = await liftFalse(parts, sweep, certificate, noted);
  const rows = await liveRowsOf(parts.session, sweep.kind.name, [...outside, ...lifted]);
  const suspects = (await straysAmong(parts.session, sweep, rows, certificate.lastShown)).map(({ id }) => id);
  let marked = 0;
  for (const ids of inChunks(suspects, ROWS_A_TRANSACTION)) {
    const response = sweep.ticks.next();
    marked += await underLease(parts, sweep, async (tx, now) => {
      // Judged again: an outbox entry may have landed a row in the meantime, with its event.
      const again = await liveRowsOf(tx, sweep.kind.name, ids);
      const strays = await straysAmong(tx, sweep, again, certificate.lastShown);
      return (await tombstoneStrays(tx, sweep.kind.name, { strays, response, now })).length;
    });
  }
  const strays = new Set(suspects);
  const ours = rows.filter(({ id }) => !strays.has(id));
  const isBefore = ({ response }: LiveRow): boolean => response < certificate.point.sent;
  const absent = ours.filter(isBefore).map(asAbsent(certificate.lastShown));
  const neverListed = ours.filter((row) => !isBefore(row) && row.listed === null).length;
  return { absent, mended: marked + lifted.length, neverListed };
}

/**
 * Finds the live rows that a list without a certificate does not have, and that nothing has shown since. Those that only another
 * writer can have made are left out: they stay unchanged. @param noted Ids that were absent before.
 */
export async function findDisappeared(
  session: Session,
  sweep: Sweep,
  evidence: AbsenceEvidence,
  noted: Iterable<string>,
): Promise<readonly AbsentRow[]> {
  const kind = sweep.kind.name;
  const suspects = new Set([...evidence.suspects(), ...noted]);
  let rows = (await liveRowsOf(session, kind, [...suspects])).filter(evidence.isOutside);
  if ((await countLive(session, kind)) > evidence.shown + rows.length) {
    // Some row was last seen before the oldest kept response.
    rows = [];
    for await (const some of liveRows(session, kind)) rows.push(...some.filter(evidence.isOutside));
  }
  const strays = new Set((await straysAmong(session, sweep, rows, evidence.lastShown)).map(({ id }) => id));
  return rows.filter(({ id }) => !strays.has(id)).map(asAbsent(evidence.lastShown));
}

const asAbsent =
  (lastShown: Certificate['lastShown']) =>
  ({ id, changedAt, listed }: LiveRow): AbsentRow => ({
    id,
    isListed: listed !== null,
    changedAt: instantOf(changedAt),
    lastShown: lastShown(id) ?? 0,
  });

async function straysAmong(
  db: Queryable,
  { kind, lease: { knownFrom } }: Sweep,
  rows: readonly { readonly id: string; readonly response: number }[],
  lastShown: Certificate['lastShown'],
): Promise<Stray[]> {
  const ids = rows.map(({ id }) => id);
  const books = await readEvidence(db, kind.name, ids);
  return rows.flatMap(({ id, response }) => {
    const own = books.get(id);
    if (own === undefined) return [];
    const isOfEarlierSource = knownFrom > 0 && response <= knownFrom; // Its sightings were forgotten with that source.
    const facts = factsOf(own, { wasShown: isOfEarlierSource || lastShown(id) !== null || own.isInOutbox });
    const is = judgeUnlisted(facts);
    if (is === 'disappeared') return [];
    return [{ id, goneAt: is === 'inserted' ? null : (own.lastEvent?.observedAt ?? own.goneAt) }];
  });
}

/** Tombstones without a found deletion whose records a list showed a short time ago and shows no more. */
async function liftFalse(
  parts: PullParts,
  sweep: Sweep,
  certificate: Certificate,
  noted: Iterable<string>,
): Promise<readonly string[]> {
  const { kind } = sweep;
  const suppressed = await readSuppressed(parts.session, kind.name);
  const absent = new Set([...certificate.absent(), ...noted]);
  const candidates = [...absent].filter((id) => !suppressed.has(id));
  if ((await readDead(parts.session, kind.name, candidates)).length === 0) return [];
  return underLease(parts, sweep, async (tx, now) => {
    const forgottenBefore = await readMeta(tx, 'changes.forgotten_before');
    const dead = await readDead(tx, kind.name, candidates);
    const deadIds = dead.map(({ id }) => id);
    const books = await readEvidence(tx, kind.name, deadIds);
    const isFalse = ({ id, deletedAt }: (typeof dead)[number]): boolean => {
      const own = books.get(id);
      const mayBeForgotten = forgottenBefore !== null && deletedAt < forgottenBefore;
      return own !== undefined && isFalseTombstone(factsOf(own, { wasShown: true, mayBeForgotten }));
    };
    const ids = dead.filter(isFalse).map(({ id }) => id);
    await liftTombstones(tx, kind.name, ids, now);
    return ids;
  });
}
