import { kindLabel } from '../../catalog/descriptions.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { ShownHold } from '../../store/records/deletion-store.ts';
import { isRoleAllowed, type UserRole } from '../../store/users/user-store.ts';
import type { EndpointWithHealth } from '../../events/webhooks/endpoint-store.ts';
import type { EntryHistory } from '../../outbound/decisions/entry-list.ts';
import { recordName } from '../../store/records/record-name.ts';
import { choicesOf } from '../../words/verdicts.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';
import { CORE_OPERATIONS } from '../../operations/all.ts';
import { approveDeletions, rejectDeletions } from '../../operations/deletions.ts';
import { trailName, type AnyOperation } from '../../operations/operation.ts';
import { abandonOutboxEntry, adoptOutboxEntry, retryOutboxEntry } from '../../operations/outbox.ts';
import { disableWebhook, enableWebhook, replayWebhook } from '../../operations/webhooks.ts';
import { sentence } from '../../lib/text/text.ts';
import { formatRfc3339 } from '../../lib/time/clock.ts';
import { attributesOf, html, type Html } from '../../http/html.ts';
import { formOf } from './forms.ts';

export interface DecisionButton {
  readonly label: string;
  readonly address: string;
  /** Who may press it; absent = whom the operation of the core at this address allows. */
  readonly role?: UserRole;
  readonly values?: Readonly<Record<string, string>>;
  /** The decision that most people make. */
  readonly isMain?: boolean;
  /** The name of the button for screen readers. */
  readonly about?: string;
  /** A question before the decision, and the button that then decides. */
  readonly confirmation?: Readonly<Record<'question' | 'answer', string>> & {
    /** A text that the decision needs. */
    readonly field?: Readonly<Record<'name' | 'label', string>>;
  };
}

export function canSend(role: UserRole | undefined, address: string, needed?: UserRole): boolean {
  const least = needed ?? FORMS.find((form) => form.pattern.test(address))?.role;
  return role !== undefined && least !== undefined && isRoleAllowed(role, least);
}

const FORMS = CORE_OPERATIONS.map((operation) => {
  return { role: operation.role, pattern: new RegExp(`^${operation.path.replaceAll(/:\w+/g, '[^/]+')}$`) };
});

/** The buttons that a role may press; they carry out decisions and then return to the page at `back`. */
export function decisionForms(buttons: readonly DecisionButton[], back: string, role?: UserRole): Html {
  const pressed = buttons.filter((button) => canSend(role, button.address, button.role));
  if (pressed.length === 0) return html``;
  const forms = pressed.map(({ label, address, values, isMain, about, confirmation }) => {
    const named = html`${label} <span class="unseen">${about ?? ''}</span>`;
    const main = attributesOf({ class: isMain === true ? 'main' : null });
    const button = html`<button${main}>${confirmation?.answer ?? named}</button>`;
    const field = confirmation?.field;
    const fields = field ? [{ ...field, attributes: html`maxlength="500" required` }] : [];
    const form = formOf({ action: address, values: { ...values, back }, fields, button });
    if (confirmation === undefined) return form;
    return html`<details class="asks ${isMain === true ? 'main' : ''}" id="asks-${address}">
      <summary class="button">${label}… <span class="unseen">${about ?? ''}</span></summary>
      <p>${confirmation.question}</p>
      ${form}
    </details>`;
  });
  return html`<div class="deciding">${forms}</div>`;
}

/** Lists the effects of operations, each after its name: `Abandon: send nothing more…`. */
function effectsOf(translator: Translator, operations: readonly AnyOperation[]): string {
  const effects = operations.map(({ name, summary }) => {
    const values = { decision: labelOf(translator, name), effect: translator.t(summary) };
    return translator.t('{decision}: {effect}.', values);
  });
  return effects.join(' ');
}

/** The label of the button for an operation. */
export const labelOf = (translator: Translator, name: string): string =>
  translator.term(sentence(name).slice(0, -1));

export const holdEffects = (translator: Translator): string =>
  effectsOf(translator, [approveDeletions, rejectDeletions]);

/** The decisions on a kind's disappeared records; approving asks for confirmation, because a record may be deleted by mistake. */
export function holdButtons(
  translator: Translator,
  hold: Pick<ShownHold, 'kind' | 'state' | 'records' | 'check'>,
): readonly DecisionButton[] {
  const { t } = translator;
  const { kind: name, state, records: n, check } = hold;
  const kind = kindLabel(translator, name);
  const values = check === undefined ? {} : { only: check };
  const about = t('the deletions of {kind}', { kind });
  const confirmation = { question: t(APPROVE, { n, kind }), answer: t(APPROVE_ANSWER, { n }) };
  const address = `/deletions/${name}/approve`;
  const approve = { label: t('Approve'), about, address, isMain: true, confirmation, values };
  const reject = { label: t('Reject'), about, address: `/deletions/${name}/reject` };
  if (state === 'suspected') return [];
  if (state === 'held') return [approve, reject];
  return [state === 'rejected' ? approve : reject];
}

const APPROVE: MessageKey =
  '{n, plural, one {# record of {kind} will be marked as deleted once the service proves that it is gone.} other {# records of {kind} will be marked as deleted once the service proves that they are gone.}} Continue?';
const APPROVE_ANSWER: MessageKey = '{n, plural, one {Approve # deletion} other {Approve # deletions}}';

const OVERWRITE: MessageKey = 'replace the values of the other user with those of the entry';
const KEEP: MessageKey = 'send nothing; the values of the other user stay';
const KEEP_THEIRS = { ...abandonOutboxEntry, name: 'keep theirs', summary: KEEP };
const HURRY: MessageKey = 'send it again once one certified sweep shows no new record';
const LATE: MessageKey =
  'If the service carries out the lost request later, it will have two records. Continue?';
const DOUBLE: MessageKey = 'make a second record beside the one that exists';
const ENTRY_OPERATIONS = {
  adopt: adoptOutboxEntry,
  retry: retryOutboxEntry,
  overwrite: { ...retryOutboxEntry, name: 'send mine', summary: OVERWRITE },
  'stop waiting': { ...retryOutboxEntry, name: 'stop waiting', summary: HURRY },
  'create another': { ...retryOutboxEntry, name: 'create another', summary: DOUBLE },
  abandon: abandonOutboxEntry,
};

/** The choices that are a retry with a member of its own, and what a person confirms first. */
const CONFIRMED: { readonly [choice: string]: { member: string; question: MessageKey } | undefined } = {
  overwrite: { member: 'overwrite', question: 'The values of the other user are lost. Continue?' },
  'stop waiting': { member: 'now', question: LATE },
  'create another': { member: 'allowDouble', question: 'The service will have two records. Continue?' },
};

/** To abandon an entry that conflicts is to keep the values of the other user. */
const operationOn = (entry: Entry, choice: keyof typeof ENTRY_OPERATIONS): AnyOperation =>
  choice === 'abandon' && choicesOf(entry).includes('overwrite') ? KEEP_THEIRS : ENTRY_OPERATIONS[choice];

export const entryEffects = (translator: Translator, entry: Entry): string =>
  effectsOf(
    translator,
    choicesOf(entry).map((choice) => operationOn(entry, choice)),
  );

/** The decisions on an entry; a create can be given each of these records. */
export function entryButtons(
  translator: Translator,
  { entry, candidates }: EntryHistory,
): readonly DecisionButton[] {
  const { id } = entry;
  const about = translator.t('entry {id}', { id });
  return choicesOf(entry).flatMap((choice): readonly DecisionButton[] => {
    const { path, name } = operationOn(entry, choice);
    const address = path.replace(':id', String(id));
    const label = labelOf(translator, name);
    const asked = CONFIRMED[choice];
    const confirmed = asked && {
      values: { [asked.member]: choice === 'overwrite' ? formatRfc3339(entry.updatedAt) : 'true' },
      confirmation: { question: translator.t(asked.question), answer: label },
    };
    if (choice !== 'adopt') return [{ label, about, address, ...confirmed }];
    return candidates.map(({ id: recordId, raw }) => {
      const label = translator.t('It is this one: {record}', { record: recordName(raw) || recordId });
      return { label, address, values: { recordId }, isMain: true };
    });
  });
}

/** The decisions on an entry, with their effects and a form for another record; null if there are none. */
export function entryDecisions(translator: Translator, history: EntryHistory, role?: UserRole): Html | null {
  const { t } = translator;
  const { entry } = history;
  const choices = choicesOf(entry);
  if (choices.length === 0) return null;
  const back = `/outbox/${entry.id}`;
  const attributes = html`inputmode="numeric" pattern="[0-9]+" required`;
  const fields = [{ name: 'recordId', label: t('another record'), attributes }];
  const sent = { values: { back }, fields, button: t('Adopt') };
  const adoptForm = formOf({ action: `${back}/adopt`, look: 'filters adopt', ...sent });
  return html`<p class="quiet">${entryEffects(translator, entry)}</p>
    ${decisionForms(entryButtons(translator, history), back, role)}
    ${choices.includes('adopt') && canSend(role, `${back}/adopt`) ? adoptForm : null}`;
}

export function endpointButtons(
  translator: Translator,
  endpoint: Pick<EndpointWithHealth, 'name' | 'health'>,
): readonly DecisionButton[] {
  const { name, health } = endpoint;
  const about = translator.t('the endpoint {name}', { name });
  const button = (operation: AnyOperation): DecisionButton => ({
    label: labelOf(translator, operation.name),
    about,
    address: `/webhooks/${name}/${operation.name}`,
  });
  if (health === 'healthy') return [button(disableWebhook)];
  return health === 'disabled'
    ? [{ ...button(enableWebhook), isMain: true }, button(replayWebhook)]
    : [button(replayWebhook), button(disableWebhook)];
}

export const endpointEffects = (
  translator: Translator,
  standing: Pick<EndpointWithHealth, 'health'>,
): string =>
  standing.health === 'disabled'
    ? effectsOf(translator, [enableWebhook, replayWebhook])
    : `${translator.t(TRIED_AGAIN)} ${effectsOf(translator, [replayWebhook, disableWebhook])}`;

const TRIED_AGAIN: MessageKey = 'bms-sync retries, and disables the endpoint if it accepts nothing for days.';

/** The notice of an operation, null for an unknown one. @param done Its name in the decision log, and the number that it counts. */
export function noticeFor(
  { t }: Translator,
  done = '',
  operations: readonly AnyOperation[] = CORE_OPERATIONS,
): Html | null {
  const [, name, n] = /^(.*?)(?: (\d+))?$/.exec(done) ?? [];
  const { notice, counted } = operations.find((operation) => trailName(operation) === name) ?? {};
  const text = n !== undefined && counted !== undefined ? t(counted, { n: Number(n) }) : notice && t(notice);
  return text === undefined ? null : html`<p class="notice" role="status">${text}</p>`;
}
