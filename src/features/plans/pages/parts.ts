import type { Html } from '../../../http/html.ts';
import type { MessageKey, Translator } from '../../../lib/text/translator.ts';
import { canEnd } from '../work/end-plan.ts';
import { isOwnPlan, type PlanRules, type PlanSummary } from '../work/plan-document.ts';
import type { DecisionButton } from '../../../dashboard/parts/decisions.ts';
import { badge } from '../../../dashboard/parts/layout.ts';

const ENDED: MessageKey = '{state, select, rejected {rejected} other {withdrawn}}';

export function planBadge(translator: Translator, state: PlanSummary['state']): Html {
  if (state === 'rejected' || state === 'withdrawn')
    return badge(translator, state, translator.t(ENDED, { state }));
  return badge(translator, state === 'open' ? 'not applied' : state);
}

/** The decisions that a user may make on a plan in its state; all but an approval and an undo ask first. */
export function planButtons(
  plan: PlanSummary,
  rules: PlanRules,
  translator: Translator,
): readonly DecisionButton[] {
  const { t } = translator;
  const { id, state, approvedBy, counts } = plan;
  const { user } = rules;
  const button = (label: Decision): DecisionButton => planButton(id, label, translator);
  if (state === 'applied') return [button('Undo')];
  if (plan.closedAt !== null) return [];
  const buttons: DecisionButton[] = [];
  const needsApproval = rules.approvals > 0 && approvedBy === null;
  if (plan.next !== null && needsApproval && !isOwnPlan(plan, rules)) buttons.push(button('Approve'));
  const question = t(APPLY, { updates: counts.updates, creates: counts.creates });
  if (plan.next !== null && !needsApproval)
    buttons.push({ ...button('Apply'), confirmation: { question, answer: t('Apply') } });
  for (const [label, ending] of ENDINGS)
    if (user && canEnd(ending, plan, user)) buttons.push(endButton(id, label, translator));
  return buttons;
}

function endButton(id: number, label: 'Reject' | 'Withdraw', translator: Translator): DecisionButton {
  const { t } = translator;
  const field = { name: 'reason', label: t('Reason') };
  const confirmation = { question: t('It can no longer be applied. Continue?'), answer: t(label) };
  const asked = label === 'Reject' ? { ...confirmation, field } : confirmation;
  return { ...planButton(id, label, translator), confirmation: asked };
}

const ENDINGS = [
  ['Reject', 'rejected'],
  ['Withdraw', 'withdrawn'],
] as const;

const APPLY: MessageKey =
  '{updates, plural, =0 {} one {# record will be changed. } other {# records will be changed. }}{creates, plural, =0 {} one {# record will be created, which no undo takes back. } other {# records will be created, which no undo takes back. }}Continue?';

type Decision = 'Approve' | 'Reject' | 'Withdraw' | 'Apply' | 'Undo';

export function planButton(id: number, label: Decision, { t }: Translator): DecisionButton {
  const address = `/plans/${id}/${label.toLowerCase()}`;
  const isMain = label === 'Approve' || label === 'Apply';
  return { label: t(label), about: t('plan {id}', { id }), address, role: 'operator', isMain };
}
