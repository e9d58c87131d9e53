import type { Html } from '../../http/html.ts';
import type { Translator } from '../../lib/text/translator.ts';
import { isOwnPlan, type PlanRules, type PlanSummary } from '../../outbound/plans/plan-document.ts';
import type { DecisionButton } from './decisions.ts';
import { badge } from './layout.ts';

export const planBadge = (translator: Translator, state: PlanSummary['state']): Html =>
  badge(translator, state === 'open' ? 'not applied' : state);

/** The decisions that a user may make on a plan in its state; applying asks for confirmation. */
export function planButtons(
  plan: PlanSummary,
  rules: PlanRules,
  translator: Translator,
): readonly DecisionButton[] {
  const { t } = translator;
  const { id, state, approvedBy } = plan;
  if (state === 'applied') return [planButton(id, 'Undo', translator)];
  if (plan.next === null) return [];
  if (rules.approvals > 0 && approvedBy === null)
    return isOwnPlan(plan, rules) ? [] : [planButton(id, 'Approve', translator)];
  const question = t('{n, plural, one {# record} other {# records}} will be changed. Continue?', {
    n: plan.counts.updates + plan.counts.creates,
  });
  return [{ ...planButton(id, 'Apply', translator), confirmation: { question, answer: t('Apply') } }];
}

export function planButton(
  id: number,
  label: 'Approve' | 'Apply' | 'Undo',
  { t }: Translator,
): DecisionButton {
  const address = `/plans/${id}/${label.toLowerCase()}`;
  return { label: t(label), about: t('plan {id}', { id }), address, isMain: label !== 'Undo' };
}
