import * as z from 'zod';
import { compactJson } from '../../../lib/json/json.ts';
import { applyPlan } from '../work/apply-plan.ts';
import { approvePlan, endPlan } from '../work/decide-plan.ts';
import { showPlan, shownPlan } from '../work/plan-document.ts';
import { undoPlan } from '../work/undo-plan.ts';
import { wholeNumber } from '../../../operations/inputs.ts';
import { operation, type OperationContext } from '../../../operations/operation.ts';

export const planPath = z.strictObject({ id: wholeNumber(1).describe('number of the plan') });

const DECISION = { role: 'operator', answer: shownPlan } as const;

/** Answers a decision with its plan, or with the one that it makes. */
const thenShow =
  <Input extends { readonly id: number }>(
    decide: (context: OperationContext & { readonly now: Date }, input: Input) => Promise<unknown>,
  ) =>
  async (context: OperationContext, input: Input) => {
    const { session, kinds, clock } = context;
    const madeId = await decide({ ...context, now: clock.now() }, input);
    return showPlan(session, kinds, typeof madeId === 'number' ? madeId : input.id, context);
  };

export const approveCorrections = operation({
  ...DECISION,
  path: '/plans/:id/approve',
  summary: 'approve a plan that another user has made',
  notice: 'Approved: the plan can be applied.',
  input: planPath,
  run: thenShow(({ session, kinds, plans, now, by }, { id }) =>
    approvePlan(session, { kinds, id, by: by.who, now, ...plans }),
  ),
});

export const rejectCorrections = operation({
  ...DECISION,
  path: '/plans/:id/reject',
  summary: 'reject a plan that another user has made; it can no longer be applied',
  notice: 'Rejected: the plan can no longer be applied.',
  input: planPath.extend({
    reason: z.string().trim().min(1, 'expected a text').max(500).describe('why, for its maker'),
  }),
  run: thenShow(({ session, now, by }, { id, reason }) =>
    endPlan(session, { id, by, now }, 'rejected', reason),
  ),
});

export const withdrawCorrections = operation({
  ...DECISION,
  path: '/plans/:id/withdraw',
  summary: 'withdraw a plan of your own; it can no longer be applied',
  notice: 'Withdrawn: the plan can no longer be applied.',
  input: planPath,
  run: thenShow(({ session, now, by }, { id }) => endPlan(session, { id, by, now }, 'withdrawn', null)),
});

export const applyCorrections = operation({
  ...DECISION,
  path: '/plans/:id/apply',
  summary:
    'put exactly the rows of a plan into the outbox, unless one of its cells has changed in the mirror',
  notice: 'Applied: its rows are in the outbox.',
  input: planPath,
  run: thenShow(({ session, kinds, plans, now, by }, { id }) =>
    applyPlan(session, { kinds, id, by: by.who, now, ...plans }),
  ),
});

export const undoCorrections = operation({
  ...DECISION,
  path: '/plans/:id/undo',
  summary: 'make a plan that undoes an applied plan, except for values that were changed since',
  notice: 'This plan undoes the earlier one. Nothing is sent until it is applied.',
  resultPage: ({ id }) => `/plans/${compactJson(id ?? null)}`,
  input: planPath.extend({
    unproven: z.boolean().optional().describe('also undo values that another user may have written'),
  }),
  run: thenShow(({ session, kinds, now, by }, { id, unproven }) =>
    undoPlan(session, { kinds, id, by: by.who, now, unproven }),
  ),
});

export const planOperations = [
  approveCorrections,
  rejectCorrections,
  withdrawCorrections,
  applyCorrections,
  undoCorrections,
];
