import type { RetrievableKind } from '../../catalog/kind.ts';
import { isProvenGone } from '../../diff/plan-deletions.ts';
import type { Absence, DeletionRules } from '../../diff/plan-deletions.ts';
import { saveAbsences } from '../../mirror/records/deletion-store.ts';
import { writeTombstones } from '../../mirror/records/tombstone-store.ts';
import { askForAbsent } from './ask-for-absent.ts';
import type { PullParts } from '../run/parts.ts';
import type { Sweep } from '../state/sweep.ts';
import { underLease } from './under-lease.ts';

const ASKED_TOGETHER = 100;

export interface Asking {
  readonly kind: RetrievableKind;
  readonly control: string;
  readonly ids: readonly string[];
  readonly noted: Map<string, Absence>;
  readonly rules: DeletionRules;
}

/**
 * Retrieves records that are absent from their list, in batches, and marks those that are gone twice, a grace period
 * apart. Without a grace period the second retrieval follows at once.
 */
export async function proveByAsking(
  parts: PullParts,
  sweep: Sweep,
  asking: Asking,
): Promise<{ deleted: number; isSound: boolean }> {
  let deleted = 0;
  for (let from = 0; from < asking.ids.length; from += ASKED_TOGETHER) {
    const first = await askOnce(parts, sweep, {
      ...asking,
      ids: asking.ids.slice(from, from + ASKED_TOGETHER),
    });
    if (!first.isSound) return { deleted, isSound: false };
    const again = first.newlyGone.filter((absence) => isProvenGone(absence, parts.clock.now(), asking.rules));
    const second =
      again.length === 0 ? null : await askOnce(parts, sweep, { ...asking, ids: again.map(({ id }) => id) });
    deleted += first.deleted + (second?.deleted ?? 0);
  }
  return { deleted, isSound: true };
}

interface AskedOnce {
  readonly deleted: number;
  /** Records that were gone, for the first time or too soon after it: no proof yet. */
  readonly newlyGone: readonly Absence[];
  /** Records that were there. */
  readonly unlisted: readonly Absence[];
  readonly isSound: boolean;
}

/** Retrieves absent records once, notes the answers, and marks the records that are proven gone. */
export async function askOnce(parts: PullParts, sweep: Sweep, asking: Asking): Promise<AskedOnce> {
  const { noted, rules } = asking;
  const { gone, there, isSound } = await askForAbsent(parts, { ...asking, ticks: sweep.ticks });
  const now = parts.clock.now();
  const of = (ids: readonly string[]): Absence[] => ids.flatMap((id) => noted.get(id) ?? []);
  const proven = of(gone).filter(
    (absence) => !['unlisted', 'held'].includes(absence.state) && isProvenGone(absence, now, rules),
  );
  const newlyGone = of(gone)
    .filter((absence) => !proven.includes(absence))
    .map((absence): Absence => ({ ...absence, state: stateOnceGone(absence), firstGoneAt: now }));
  const unlisted = of(there).map((absence): Absence => ({ ...absence, state: 'unlisted', firstGoneAt: now }));
  for (const absence of [...newlyGone, ...unlisted]) noted.set(absence.id, absence);
  const seen = [...newlyGone, ...unlisted].map((absence) => ({ ...absence, lastSeenAt: null })); // Noted before.
  await underLease(parts, sweep, (tx) => saveAbsences(tx, sweep.kind.name, seen));
  const deleted = await tombstoneRecords(parts, sweep, {
    ids: proven.map(({ id }) => id),
    proof: 'retrieve',
  });
  return { deleted, newlyGone, unlisted, isSound };
}

const stateOnceGone = ({ state }: Absence): Absence['state'] => (state === 'unlisted' ? 'suspected' : state);

const ROWS_A_TRANSACTION = 500;

/** Marks the rows of records that are proven to be gone; returns their number. */
export async function tombstoneRecords(
  parts: PullParts,
  sweep: Sweep,
  { ids, proof }: { readonly ids: readonly string[]; readonly proof: 'retrieve' | 'list' },
): Promise<number> {
  const { kind, ticks, runId } = sweep;
  let deleted = 0;
  for (let from = 0; from < ids.length; from += ROWS_A_TRANSACTION) {
    const some = ids.slice(from, from + ROWS_A_TRANSACTION);
    const response = ticks.next();
    const done = await underLease(parts, sweep, (tx, now) =>
      writeTombstones(tx, { kind: kind.name, ids: some, proof, response, runId, now }),
    );
    deleted += done.length;
  }
  return deleted;
}
