import type { Kind } from '../../catalog/kind.ts';
import type { Session } from '../../db/session/session.ts';
import type { Html } from '../../http/html.ts';
import type { Speech } from '../../lib/text/speech.ts';
import type { Caller } from '../../http/access.ts';
import { isSamePerson } from '../../store/people/user-store.ts';
import { plansToApprove } from '../../store/outbox/plan-store.ts';
import { showPlan, type ShownPlan } from '../../outbound/plans/plan-document.ts';
import type { DecisionButton } from './decisions.ts';
import { badge } from './layout.ts';
import type { Need } from './needs.ts';
import type { Reader } from './reader.ts';

/** The state of a plan as a coloured word. */
export const planBadge = (speech: Speech, state: ShownPlan['state']): Html =>
  badge(speech, state === 'open' ? 'not applied' : state, TONES);

const TONES = { 'not applied': 'info', applied: 'good', stale: 'warn' };

/** Who looks at plans, and how many others must approve one. */
interface PlanRules {
  readonly approvals: number;
  readonly caller: Caller | null;
}

/** The decisions on a plan that somebody may make in its state; applying asks once. */
export function planButtons(
  plan: ShownPlan,
  { approvals, caller }: PlanRules,
  { say }: Speech,
): readonly DecisionButton[] {
  const { id, state, approvedBy } = plan;
  const about = say('plan {id}', { id });
  const button = (label: string, name: string): DecisionButton => {
    return { label, about, address: `/plans/${id}/${name}` };
  };
  if (state === 'applied') return [button(say('Undo'), 'undo')];
  const records = plan.counts.updates + plan.counts.creates;
  if (state === 'stale' || records === 0) return [];
  if (approvals > 0 && approvedBy === null) {
    const isOwn = caller !== null && isSamePerson(caller.name, plan.createdBy);
    return isOwn ? [] : [{ ...button(say('Approve'), 'approve'), isMain: true }];
  }
  const question = say('{n, plural, one {# record} other {# records}} will be changed. Go on?', {
    n: records,
  });
  return [{ ...button(say('Apply'), 'apply'), isMain: true, asks: { question, answer: say('Apply') } }];
}

const PLANS_NAMED = 3;

/** The latest plans that wait for somebody else's approval. */
export async function planNeeds(
  { session, kinds }: { readonly session: Session; readonly kinds: readonly Kind[] },
  rules: PlanRules,
  reader: Reader,
): Promise<readonly Need[]> {
  if (rules.approvals === 0) return [];
  const { say } = reader;
  const needs: Need[] = [];
  for (const id of await plansToApprove(session, PLANS_NAMED)) {
    const plan = await showPlan(session, kinds, id);
    const buttons = planButtons(plan, rules, reader);
    if (buttons.length === 0) continue;
    const { kind, origin, createdBy, createdAt, counts } = plan;
    const n = counts.updates + counts.creates;
    needs.push({
      id: `plan-${id}`,
      title: say('Plan {id} waits for an approval', { id }),
      address: `/plans/${id}`,
      why: say(
        '{who} wants to change {n, plural, one {# record} other {# records}} of {kind}, from {origin}.',
        {
          who: createdBy,
          n,
          kind,
          origin,
        },
      ),
      effect: say('Look at its cells first. Once it is approved, it can be applied.'),
      since: createdAt,
      buttons,
    });
  }
  return needs;
}
