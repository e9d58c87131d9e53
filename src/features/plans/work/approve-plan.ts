import { sql } from 'drizzle-orm';
import type { Kind } from '../../../catalog/kind.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import { withFullStop } from '../../../lib/text/text.ts';
import { formatInstant } from '../../../lib/time/clock.ts';
import type { Queryable, Session } from '../../../db/session/session.ts';
import { decidePlan, planChecksum, readPlan, readPlanRows, type StoredPlan } from '../store.ts';
import { isSameUserName } from '../../../store/users/user-store.ts';

/** A person's decision on a plan. */
export interface PlanDecision {
  readonly kinds: readonly Kind[];
  readonly id: number;
  readonly by: string;
  readonly now: Date;
}

/**
 * Approves an open plan with the rows that were shown.
 *
 * @throws {SyncError} `plan.own` for its maker, `plan.absent`, `plan.altered`, and the error of an earlier decision.
 */
export async function approvePlan(
  session: Session,
  { id, by, now, approvals }: Omit<PlanDecision, 'kinds'> & { readonly approvals: number },
): Promise<void> {
  const { plan } = await readUnalteredPlan(session, id);
  if (plan.state !== 'open') throw alreadyDecided(plan);
  if (isSameUserName(plan.createdBy, by))
    throw new SyncError(`${by} made plan ${id}: only another user can approve it.`, {
      code: 'plan.own',
      hint:
        approvals > 0
          ? `That user runs: bms-sync approve ${id}`
          : `No plan needs an approval (plans.approvals: 0): bms-sync apply ${id}`,
    });
  await session.atomically(async (tx) => {
    const approval = { approvedAt: formatInstant(now), approvedBy: by };
    if (!(await decidePlan(tx, id, approval, sql`approved_at is null`)))
      throw alreadyDecided(await readPlan(tx, id));
  });
}

/** The error of a plan that somebody else has decided: `plan.approved`, `plan.applied`, `plan.rejected`, `plan.withdrawn`. */
export function alreadyDecided(plan: StoredPlan): SyncError {
  const { id, state, approvedAt, approvedBy, appliedAt, appliedBy, closedAt, closedBy, reason } = plan;
  const decision = state === 'open' ? 'approved' : state;
  const who = closedBy ?? appliedBy ?? approvedBy;
  const when = (closedAt ?? appliedAt ?? approvedAt)?.slice(0, 'YYYY-MM-DD HH:MM'.length);
  const why = reason === null ? '' : `: ${reason}`;
  return new SyncError(withFullStop(`Plan ${id} was ${decision} by ${who} at ${when} UTC${why}`), {
    code: `plan.${decision}`,
    hint: `To show it: bms-sync plan ${id}`,
  });
}

/**
 * Reads a plan with the rows that change something: one without cells is refused as a whole.
 *
 * @throws {SyncError} `plan.absent`, `plan.altered` where its rows differ from the shown ones, `plan.empty` where it changes nothing.
 */
export async function readUnalteredPlan(db: Queryable, id: number) {
  const plan = await readPlan(db, id);
  const rows = await readPlanRows(db, id);
  if (planChecksum(plan.kind, rows) !== plan.checksum) throw planAltered(id);
  const changing = rows.filter((row) => row.cells !== '[]');
  if (changing.length > 0) return { plan, rows: changing };
  throw new SyncError(`Plan ${id} changes nothing: all its rows are refused.`, {
    code: 'plan.empty',
    hint: `To see why: bms-sync plan ${id}`,
  });
}

export const planAltered = (id: number): SyncError =>
  new SyncError(`Plan ${id} differs from the one that was shown: its checksum has changed.`, {
    code: 'plan.altered',
    hint: 'Make it again from the spreadsheet: bms-sync plan FILE',
  });
