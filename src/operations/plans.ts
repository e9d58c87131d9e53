import * as z from 'zod';
import { compactJson } from '../lib/json/json.ts';
import { applyPlan } from '../outbound/plans/apply-plan.ts';
import { approvePlan } from '../outbound/plans/approve-plan.ts';
import { endPlan } from '../outbound/plans/end-plan.ts';
import { showPlan, shownPlan } from '../outbound/plans/plan-document.ts';
import { undoPlan } from '../outbound/plans/undo-plan.ts';
import { wholeNumber } from './inputs.ts';
import { operation } from './operation.ts';

export const planPath = z.strictObject({ id: wholeNumber(1).describe('number of the plan') });

export const approveCorrections = operation({
  path: '/plans/:id/approve',
  role: 'operator',
  summary: 'approve a plan that another user has made',
  notice: 'Approved: the plan can be applied.',
  input: planPath,
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id }) => {
    await approvePlan(session, { id, by: by.who, now: clock.now(), ...plans });
    return await showPlan(session, kinds, id, plans.approvals);
  },
});

export const rejectCorrections = operation({
  path: '/plans/:id/reject',
  role: 'operator',
  summary: 'reject a plan that another user has made; it can no longer be applied',
  notice: 'Rejected: the plan can no longer be applied.',
  input: planPath.extend({
    reason: z.string().trim().min(1, 'expected a reason').max(500).describe('why, for its maker'),
  }),
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id, reason }) => {
    await endPlan(session, { id, by, now: clock.now() }, 'rejected', reason);
    return await showPlan(session, kinds, id, plans.approvals);
  },
});

export const withdrawCorrections = operation({
  path: '/plans/:id/withdraw',
  role: 'operator',
  summary: 'withdraw a plan of your own; it can no longer be applied',
  notice: 'Withdrawn: the plan can no longer be applied.',
  input: planPath,
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id }) => {
    await endPlan(session, { id, by, now: clock.now() }, 'withdrawn', null);
    return await showPlan(session, kinds, id, plans.approvals);
  },
});

export const applyCorrections = operation({
  path: '/plans/:id/apply',
  role: 'operator',
  summary:
    'put exactly the rows of a plan into the outbox, unless one of its cells has changed in the mirror',
  notice: 'Applied: its rows are in the outbox.',
  input: planPath,
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id }) => {
    await applyPlan(session, { kinds, id, by: by.who, now: clock.now(), ...plans });
    return await showPlan(session, kinds, id, plans.approvals);
  },
});

export const undoCorrections = operation({
  path: '/plans/:id/undo',
  role: 'operator',
  summary: 'make a plan that undoes an applied plan, except for values that were changed since',
  notice: 'This plan undoes the earlier one. Nothing is sent until it is applied.',
  resultPage: ({ id }) => `/plans/${compactJson(id ?? null)}`,
  input: planPath.extend({
    unproven: z.boolean().optional().describe('also undo values that another user may have written'),
  }),
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id, unproven }) => {
    const undoId = await undoPlan(session, { kinds, id, by: by.who, now: clock.now(), unproven });
    return await showPlan(session, kinds, undoId, plans.approvals);
  },
});

export const planOperations = [
  approveCorrections,
  rejectCorrections,
  withdrawCorrections,
  applyCorrections,
  undoCorrections,
];
