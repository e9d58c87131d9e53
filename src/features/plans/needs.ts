import type { NeedReader } from '../../needs/read-needs.ts';
import { readWaitingPlans } from './work/plan-document.ts';

/** The plans that wait for the approval of another user. */
export const readPlanNeeds: NeedReader = async (session, kinds, { plans, user = null }) =>
  (await readWaitingPlans(session, kinds, { ...plans, user })).map((plan) => {
    const { id: planId, kind, origin, createdBy, createdAt: since, counts } = plan;
    const facts = { planId, kind, origin, createdBy, records: counts.updates + counts.creates, since };
    return { type: 'plan.waiting', facts } as const;
  });
