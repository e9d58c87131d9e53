import * as z from 'zod';
import { applyPlan } from '../outbound/plans/apply-plan.ts';
import { approvePlan } from '../outbound/plans/approve-plan.ts';
import { planDocument, showPlan } from '../outbound/plans/plan-document.ts';
import { undoPlan } from '../outbound/plans/undo-plan.ts';
import { wholeNumber } from './inputs.ts';
import { operation } from './operation.ts';

const input = z.strictObject({ id: wholeNumber(1).describe('number of the plan') });
const answer = z.looseObject({ id: z.int(), kind: z.string(), state: z.enum(['open', 'stale', 'applied']) });

export const approveCorrections = operation({
  name: 'approve',
  path: '/plans/:id/approve',
  role: 'operator',
  words: { summary: 'let a plan that another person has made be applied' },
  input,
  answer,
  run: async ({ session, kinds, clock, by }, { id }) => {
    await approvePlan(session, { id, by: by.who, now: clock.now() });
    return planDocument(await showPlan(session, kinds, id));
  },
});

export const applyCorrections = operation({
  name: 'apply',
  path: '/plans/:id/apply',
  role: 'operator',
  words: {
    summary:
      'put exactly the rows of a plan into the outbox, unless the mirror has moved on in one of its cells',
  },
  input,
  answer,
  run: async ({ session, kinds, clock, plans, by }, { id }) => {
    await applyPlan(session, { kinds, id, by: by.who, now: clock.now(), ...plans });
    return planDocument(await showPlan(session, kinds, id));
  },
});

export const undoCorrections = operation({
  name: 'undo',
  path: '/plans/:id/undo',
  role: 'operator',
  words: {
    summary: 'make the plan that returns what an applied plan has changed and nobody has touched since',
  },
  input,
  answer,
  run: async ({ session, kinds, clock, by }, { id }) => {
    const made = await undoPlan(session, { kinds, id, by: by.who, now: clock.now() });
    return planDocument(await showPlan(session, kinds, made));
  },
});
