import type { Html } from '../../../http/html.ts';
import type { MessageKey, Translator } from '../../../lib/text/translator.ts';
import { canEnd } from '../work/decide-plan.ts';
import { isOwnPlan, type PlanRules, type PlanSummary } from '../work/plan-document.ts';
import type { DecisionButton } from '../../../dashboard/parts/decisions.ts';
import { badge } from '../../../dashboard/parts/layout.ts';

const STATE: MessageKey =
  '{state, select, rejected {rejected} withdrawn {withdrawn} applied {applied} stale {stale} approved {approved} other {open}}';

/** The state of a plan; of an open one, whether it is approved. */
export function planBadge(translator: Translator, plan: Pick<PlanSummary, 'state' | 'approvedBy'>): Html {
  const state = plan.state === 'open' && plan.approvedBy !== null ? 'approved' : plan.state;
  return badge(translator, state, translator.t(STATE, { state }));
}

/** The decisions that a user may make on a plan in its state; all but an approval and an undo ask first. */
export function planButtons(
  plan: PlanSummary,
  rules: PlanRules,
  translator: Translator,
): readonly DecisionButton[] {
  const { t } = translator;
  const { id, state, approvedBy, counts } = plan;
  const about = t('plan {id}', { id });
  const button = (label: Decision): DecisionButton => {
    const isMain = label === 'Approve' || label === 'Apply';
    const address = `/plans/${id}/${label.toLowerCase()}`;
    return { label: t(label), about, address, role: 'operator', isMain };
  };
  if (state === 'applied') return [button('Undo')];
  if (plan.closedAt !== null) return [];
  const buttons: DecisionButton[] = [];
  const isWaiting = state === 'open' && plan.next !== null;
  const needsApproval = rules.approvals > 0 && approvedBy === null;
  if (isWaiting && needsApproval && !isOwnPlan(plan, rules)) buttons.push(button('Approve'));
  const question = t(APPLY, { updates: counts.updates, creates: counts.creates });
  if (isWaiting && !needsApproval)
    buttons.push({ ...button('Apply'), confirmation: { question, answer: t('Apply') } });
  const endButton = (label: 'Reject' | 'Withdraw', field?: Readonly<Record<'name' | 'label', string>>) => {
    const confirmation = { question: t('It can no longer be applied. Continue?'), answer: t(label) };
    buttons.push({ ...button(label), confirmation: { ...confirmation, ...(field && { field }) } });
  };
  const can = (ending: 'rejected' | 'withdrawn') => rules.user && canEnd(ending, plan, rules.user);
  if (can('rejected')) endButton('Reject', { name: 'reason', label: t('Reason') });
  if (can('withdrawn')) endButton('Withdraw');
  return buttons;
}

const APPLY: MessageKey =
  '{updates, plural, =0 {} one {# record will be changed. } other {# records will be changed. }}{creates, plural, =0 {} one {# record will be created, which no undo takes back. } other {# records will be created, which no undo takes back. }}Continue?';

type Decision = 'Approve' | 'Reject' | 'Withdraw' | 'Apply' | 'Undo';
