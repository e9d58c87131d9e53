import * as z from 'zod';
import { compactJson } from '../lib/json/json.ts';
import { applyPlan } from '../outbound/plans/apply-plan.ts';
import { approvePlan } from '../outbound/plans/approve-plan.ts';
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

export const UNPROVEN = 'also undo values that another user may have written';

export const undoCorrections = operation({
  path: '/plans/:id/undo',
  role: 'operator',
  summary: 'make a plan that undoes an applied plan, except for values that were changed since',
  notice: 'This plan undoes the earlier one: review it, then apply it.',
  resultPage: ({ id }) => `/plans/${compactJson(id ?? null)}`,
  input: planPath.extend({ unproven: z.boolean().optional().describe(UNPROVEN) }),
  answer: shownPlan,
  run: async ({ session, kinds, clock, plans, by }, { id, unproven }) => {
    const undoId = await undoPlan(session, { kinds, id, by: by.who, now: clock.now(), unproven });
    return await showPlan(session, kinds, undoId, plans.approvals);
  },
});

export const planOperations = [approveCorrections, applyCorrections, undoCorrections];
