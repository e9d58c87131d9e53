import type { Kind } from '../../catalog/kind.ts';
import { SyncError } from '../../lib/sync-error.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { planChecksum, readPlan, readPlanRows, saveApproval } from '../../store/outbox/plan-store.ts';
import { isSameUserName } from '../../store/users/user-store.ts';

/** A person's decision on a plan. */
export interface PlanDecision {
  readonly kinds: readonly Kind[];
  readonly id: number;
  readonly by: string;
  readonly now: Date;
}

/**
 * Approves an open plan with the rows that were shown; the first approval counts.
 *
 * @throws {SyncError} `plan.own` for its maker, `plan.applied`, `plan.absent`, `plan.altered`.
 */
export async function approvePlan(
  session: Session,
  { id, by, now, approvals }: Omit<PlanDecision, 'kinds'> & { readonly approvals: number },
): Promise<void> {
  const { plan } = await readUnalteredPlan(session, id);
  if (isSameUserName(plan.createdBy, by))
    throw new SyncError(`${by} made plan ${id}: only another user can approve it.`, {
      code: 'plan.own',
      hint:
        approvals > 0
          ? `That user runs: bms-sync approve ${id}`
          : `No plan needs an approval (plans.approvals: 0): bms-sync apply ${id}`,
    });
  await session.atomically(async (tx) => {
    if (!(await saveApproval(tx, id, by, now)))
      throw new SyncError(`Plan ${id} is already applied.`, { code: 'plan.applied' });
  });
}

/** Reads a plan with its rows. @throws {SyncError} `plan.absent`, `plan.altered` where they differ from the shown ones. */
export async function readUnalteredPlan(db: Queryable, id: number) {
  const plan = await readPlan(db, id);
  const rows = await readPlanRows(db, id);
  if (planChecksum(plan.kind, rows) !== plan.checksum) throw planAltered(id);
  return { plan, rows };
}

export const planAltered = (id: number): SyncError =>
  new SyncError(`Plan ${id} differs from the one that was shown: its checksum has changed.`, {
    code: 'plan.altered',
    hint: 'Make it again from the spreadsheet: bms-sync plan FILE',
  });
