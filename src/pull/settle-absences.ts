import { askableKind } from '../catalog/kind.ts';
import type { RetrievableKind } from '../catalog/kind.ts';
import type { Certificate } from '../diff/certify.ts';
import { planDeletions } from '../diff/plan-deletions.ts';
import type { AbsenceFacts, DeletionPlan, DeletionRules } from '../diff/plan-deletions.ts';
import { forgetAbsences, readAbsences, readProtected, saveAbsences } from '../mirror/deletion-store.ts';
import { renewLease } from '../mirror/kind-lease.ts';
import { countLive } from '../mirror/status-store.ts';
import { isThere } from './ask-for-absent.ts';
import { bury } from './bury.ts';
import type { ListVerdict } from './certify-list.ts';
import type { PullParts } from './parts.ts';
import { proveByAsking } from './prove-by-asking.ts';
import { settleStrays } from './settle-strays.ts';
import type { Sweep } from './sweep.ts';
import type { Tally } from './tally.ts';

/** What a certified list says of the rows that it does not have. */
export interface Settled {
  readonly deleted: number;
  /** Live rows that the list does not have, and that wait for proof or for a person. */
  readonly waiting: number;
  /** Rows outside the list that something else had written, and that are put right. */
  readonly mended: number;
  /** In how many sweeps running the control could not be asked for. */
  readonly controlFailures: number;
}

export interface Absences {
  readonly certificate: Certificate;
  /** The instant at which the response that was sent at a tick was sent. */
  readonly sentAt: ListVerdict['sentAt'];
  readonly tally: Tally;
  /** Live rows that the list does not have. */
  readonly outside: readonly string[];
  readonly rules: DeletionRules;
}

export const MOST_CONTROL_FAILURES = 3;

/** Draws the conclusions from rows that a certified list does not have: suspicion, hold, proof, tombstone. */
export async function settleAbsences(parts: PullParts, sweep: Sweep, absences: Absences): Promise<Settled> {
  const noted = await readAbsences(parts.session, sweep.kind.name);
  const { certificate, outside: ids } = absences;
  const { absent, mended } = await settleStrays(parts, sweep, { certificate, ids, noted: noted.keys() });
  const { path, failures } = await pathToAsk(parts, sweep, absences.tally.latestId());
  const plan = await planFor(parts, sweep, { ...absences, absent, noted, canAsk: path !== null });
  await note(parts, sweep, { plan, ...absences });
  for (const absence of plan.note) noted.set(absence.id, absence);

  const missed = await bury(parts, sweep, { ids: plan.bury, proof: 'list' });
  const settled = (deleted: number, controlFailures: number): Settled => ({
    ...{ deleted, mended, controlFailures },
    waiting: absent.length - deleted,
  });
  if (path === null || plan.ask.length === 0) return settled(missed, failures);
  const asking = { ...path, ids: plan.ask, noted, rules: absences.rules };
  const { deleted, isSound } = await proveByAsking(parts, sweep, asking);
  const failed = parts.signal?.aborted ? failures : failures + 1; // Whoever is stopped has not been refused.
  return settled(missed + deleted, isSound ? 0 : failed);
}

interface PathToAsk {
  /** Null where nothing can be proven by asking. */
  readonly path: { readonly kind: RetrievableKind; readonly control: string } | null;
  readonly failures: number;
}

/** A path that failed in three sweeps is tried with the control first: it may have been mended. */
async function pathToAsk(
  parts: PullParts,
  { kind, lease, ticks }: Sweep,
  control: string | null,
): Promise<PathToAsk> {
  const [askable, failures] = [askableKind(kind), lease.controlFailures];
  if (askable === null || control === null) return { path: null, failures };
  const path = { kind: askable, control };
  if (failures < MOST_CONTROL_FAILURES) return { path, failures };
  const isMended = (await isThere(parts, { kind: askable, id: control, ticks })) === true;
  return isMended ? { path, failures: 0 } : { path: null, failures };
}

const NOTED_TOGETHER = 500;

/** Notes what was planned, some at a time: whoever else writes must not wait for a mass disappearance. */
async function note(
  { session, clock }: PullParts,
  { kind, lease, ticks }: Sweep,
  { plan, certificate, sentAt }: Pick<Absences, 'certificate' | 'sentAt'> & { readonly plan: DeletionPlan },
): Promise<void> {
  const lastSeenAt = (id: string): string | null => {
    const tick = certificate.lastShown(id);
    return tick === null ? null : sentAt(tick);
  };
  const absences = plan.note.map((absence) => ({ ...absence, lastSeenAt: lastSeenAt(absence.id) }));
  for (let from = 0; from < Math.max(absences.length, plan.forget.length); from += NOTED_TOGETHER) {
    const to = from + NOTED_TOGETHER;
    await session.atomically(async (tx) => {
      await renewLease(tx, lease, { tick: ticks.latest(), now: clock.now() });
      await forgetAbsences(tx, kind.name, plan.forget.slice(from, to));
      await saveAbsences(tx, kind.name, absences.slice(from, to));
    });
  }
}

async function planFor(
  { session, clock }: PullParts,
  { kind, knownRows, began }: Sweep,
  facts: Absences & Pick<AbsenceFacts, 'absent' | 'noted' | 'canAsk'>,
): Promise<DeletionPlan> {
  const { certificate, absent, noted, canAsk, rules } = facts;
  const live = await countLive(session, kind.name);
  const isEmptied = certificate.size === 0;
  return planDeletions(
    {
      ...{ absent, noted, live, canAsk },
      isProtected: await readProtected(session, kind.name),
      isDoubtful: isEmptied || (!canAsk && mayBeCutOff(certificate, knownRows - noted.size)),
      sweep: certificate.point.sweep ?? began ?? 0,
      now: clock.now(),
    },
    rules,
  );
}

/** As many rows as before, and a round number of them, without a word of the total: a silent limit looks like this. */
function mayBeCutOff({ point, size }: Certificate, listedBefore: number): boolean {
  return point.total === null && size === listedBefore && (size % 10 === 0 || size % 25 === 0);
}
