import { sql } from 'drizzle-orm';
import { SyncError } from '../../../lib/sync-error.ts';
import { sanitizeLine } from '../../../lib/text/text.ts';
import { formatInstant } from '../../../lib/time/clock.ts';
import type { Session } from '../../../db/session/session.ts';
import { decidePlan, readPlan, type StoredPlan } from '../store.ts';
import type { Decider } from '../../../store/users/decision-store.ts';
import { isSameUserName } from '../../../store/users/user-store.ts';
import { alreadyDecided } from './approve-plan.ts';

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
