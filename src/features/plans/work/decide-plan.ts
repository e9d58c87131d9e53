import { sql } from 'drizzle-orm';
import type { Kind } from '../../../catalog/kind.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import { sanitizeLine } from '../../../lib/text/text.ts';
import { formatInstant } from '../../../lib/time/clock.ts';
import type { Session } from '../../../db/session/session.ts';
import { decidePlan, readPlan, type StoredPlan } from '../store.ts';
import type { Decider } from '../../../store/users/decision-store.ts';
import { isSameUserName } from '../../../store/users/user-store.ts';
import { alreadyDecided, kindOfOpen, readOpenRows } from './plan-state.ts';

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
 * @throws {SyncError} `plan.own` for its maker, `plan.absent`, and the errors of `kindOfOpen` and `readOpenRows`.
 */
export async function approvePlan(
  session: Session,
  { kinds, id, by, now, approvals }: PlanDecision & { readonly approvals: number },
): Promise<void> {
  const plan = await readPlan(session, id);
  await readOpenRows(session, kindOfOpen(kinds, plan), plan);
  if (isSameUserName(plan.createdBy, by))
    throw new SyncError(`${by} made plan ${id}: only another user can approve it.`, {
      code: 'plan.own',
      hint:
        approvals > 0
          ? `That user approves it: bms-sync approve ${id}`
          : `No plan needs an approval (plans.approvals: 0): bms-sync apply ${id}`,
    });
  await session.atomically(async (tx) => {
    const approval = { approvedAt: formatInstant(now), approvedBy: by };
    if (!(await decidePlan(tx, id, approval, sql`approved_at is null`)))
      throw alreadyDecided(await readPlan(tx, id));
  });
}

type Ending = 'rejected' | 'withdrawn';

/** Whether a user may end a plan: its maker, or an admin, withdraws it, and another user rejects it. */
export const canEnd = (
  ending: Ending,
  { createdBy }: Pick<StoredPlan, 'createdBy'>,
  { name, role }: { readonly name: string; readonly role: Decider['role'] },
): boolean =>
  isSameUserName(createdBy, name) ? ending === 'withdrawn' : ending === 'rejected' || role === 'admin';

/**
 * Ends an open plan for good. An approval that lands meanwhile refuses it: whoever ends a plan has seen its approval.
 *
 * @throws {SyncError} `plan.own`, `plan.foreign` for users who may not, `plan.absent`, and the error of an earlier decision.
 */
export async function endPlan(
  session: Session,
  { id, by, now }: { readonly id: number; readonly by: Decider; readonly now: Date },
  ending: Ending,
  reason: string | null,
): Promise<void> {
  const plan = await readPlan(session, id);
  if (plan.state !== 'open') throw alreadyDecided(plan);
  if (!canEnd(ending, plan, { name: by.who, role: by.role })) throw notAllowed(plan, ending);
  const closed = { state: ending, closedAt: formatInstant(now), closedBy: by.who };
  const seen = sql`approved_by is not distinct from ${plan.approvedBy}`;
  await session.atomically(async (tx) => {
    const decision = { ...closed, reason: reason && sanitizeLine(reason.toWellFormed()) };
    if (!(await decidePlan(tx, id, decision, seen))) throw alreadyDecided(await readPlan(tx, id));
  });
}

const notAllowed = ({ id, createdBy }: StoredPlan, ending: Ending): SyncError =>
  ending === 'rejected'
    ? new SyncError(`${createdBy} made plan ${id}: only another user can reject it.`, {
        code: 'plan.own',
        hint: `To end it: bms-sync withdraw ${id}`,
      })
    : new SyncError(`${createdBy} made plan ${id}: only ${createdBy} or an admin can withdraw it.`, {
        code: 'plan.foreign',
        hint: `To end it: bms-sync reject ${id} --reason TEXT`,
      });
