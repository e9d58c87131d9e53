import type { Kind } from '../../catalog/kind.ts';
import type { Session } from '../../db/session/session.ts';
import type { Html } from '../../http/html.ts';
import type { Translator } from '../../lib/text/translator.ts';
import type { RequestUser } from '../../http/access.ts';
import { isSameUserName } from '../../store/users/user-store.ts';
import { plansToApprove } from '../../store/outbox/plan-store.ts';
import { needWords } from '../../words/needs.ts';
import { summarizePlan, type PlanSummary } from '../../outbound/plans/plan-document.ts';
import type { DecisionButton } from './decisions.ts';
import { badge } from './layout.ts';
import type { NeedCard } from './needs.ts';
import type { Reader } from './reader.ts';

export const planBadge = (translator: Translator, state: PlanSummary['state']): Html =>
  badge(translator, state === 'open' ? 'not applied' : state);

/** The reader of plans, and how many others must approve one. */
interface PlanRules {
  readonly approvals: number;
  readonly user: RequestUser | null;
}

/** The decisions that a user may make on a plan in its state; applying asks for confirmation. */
export function planButtons(
  plan: PlanSummary,
  rules: PlanRules,
  translator: Translator,
): readonly DecisionButton[] {
  const { t } = translator;
  const { id, state, approvedBy } = plan;
  const about = t('plan {id}', { id });
  const button = (label: string, name: string): DecisionButton => {
    return { label, about, address: `/plans/${id}/${name}` };
  };
  if (state === 'applied') return [button(t('Undo'), 'undo')];
  const records = plan.counts.updates + plan.counts.creates;
  if (state === 'stale' || records === 0) return [];
  if (rules.approvals > 0 && approvedBy === null) {
    const isOwn = rules.user !== null && isSameUserName(rules.user.name, plan.createdBy);
    return isOwn ? [] : [{ ...button(t('Approve'), 'approve'), isMain: true }];
  }
  const question = t('{n, plural, one {# record} other {# records}} will be changed. Continue?', {
    n: records,
  });
  return [{ ...button(t('Apply'), 'apply'), isMain: true, confirmation: { question, answer: t('Apply') } }];
}

const PLANS_NAMED = 3;

/** The latest plans that wait for the approval of another user. */
export async function planNeeds(
  { session, kinds }: { readonly session: Session; readonly kinds: readonly Kind[] },
  rules: PlanRules,
  reader: Reader,
): Promise<readonly NeedCard[]> {
  if (rules.approvals === 0) return [];
  const needs: NeedCard[] = [];
  for (const id of await plansToApprove(session, PLANS_NAMED)) {
    const plan = await summarizePlan(session, kinds, id);
    const buttons = planButtons(plan, rules, reader);
    if (buttons.length === 0) continue;
    const { kind, origin, createdBy, createdAt: since, counts } = plan;
    const records = counts.updates + counts.creates;
    const facts = { planId: id, kind, origin, createdBy, records, since };
    needs.push({ ...needWords({ type: 'plan.waiting', facts }, reader), buttons });
  }
  return needs;
}
