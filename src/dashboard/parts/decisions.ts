import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { ShownHold } from '../../store/records/deletion-store.ts';
import { allows, type UserRole } from '../../store/people/user-store.ts';
import type { EndpointStanding } from '../../store/webhooks/endpoint-store.ts';
import { candidatesOf } from '../../outbound/decisions/entry-list.ts';
import { choicesOf } from '../../words/verdicts.ts';
import type { Speech, Text } from '../../lib/text/speech.ts';
import { OPERATIONS } from '../../operations/all.ts';
import { approve, reject } from '../../operations/deletions.ts';
import { whatOf, type AnyOperation } from '../../operations/operation.ts';
import { abandon, adopt, retry } from '../../operations/outbox.ts';
import { disable, enable, replay } from '../../operations/webhooks.ts';
import { sentence } from '../../lib/text/text.ts';
import { html, type Html } from '../../http/html.ts';

/** A button that carries out a person's decision. */
export interface DecisionButton {
  readonly label: string;
  readonly address: string;
  readonly values?: Readonly<Record<string, string>>;
  /** The decision that most people make. */
  readonly isMain?: boolean;
  /** The name of the button for screen readers. */
  readonly about?: string;
  /** What is asked first: the question, and the button that then decides. */
  readonly asks?: Readonly<Record<'question' | 'answer', string>>;
}

/** Whether who has this role may send a form to this address. */
export function maySend(role: UserRole | undefined, address: string): boolean {
  const form = FORMS.find((form) => form.pattern.test(address));
  return role !== undefined && form !== undefined && allows(role, form.role);
}

const FORMS = OPERATIONS.map((operation) => {
  return { role: operation.role, pattern: new RegExp(`^${operation.path.replaceAll(/:\w+/g, '[^/]+')}$`) };
});

/** The buttons that a role may press; they carry out decisions and then return to the page at `back`. */
export function decisionForms(buttons: readonly DecisionButton[], back: string, role?: UserRole): Html {
  const pressed = buttons.filter((button) => maySend(role, button.address));
  if (pressed.length === 0) return html``;
  return html`<div class="deciding">
    ${pressed.map(({ label, address, values = {}, isMain, about, asks }) => {
      const hidden = Object.entries({ ...values, back }).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      );
      const unseen = about === undefined ? null : html` <span class="unseen">${about}</span>`;
      const form = html`<form method="post" action="${address}">
        ${hidden}<button ${isMain === true ? html`class="main"` : null}>
          ${asks?.answer ?? html`${label}${unseen}`}
        </button>
      </form>`;
      if (asks === undefined) return form;
      return html`<details class="asks" id="asks-${address}">
        <summary class="button">${label}…${unseen}</summary>
        <p>${asks.question}</p>
        ${form}
      </details>`;
    })}
  </div>`;
}

/** What operations do, each after its name: `Abandon: give an entry up…`. */
function effectsOf(speech: Speech, operations: readonly AnyOperation[]): string {
  const effects = operations.map(({ name, words: { summary } }) => {
    const values = { decision: labelOf(speech, name), effect: speech.say(summary) };
    return speech.say('{decision}: {effect}.', values);
  });
  return effects.join(' ');
}

const labelOf = (speech: Speech, name: string): string => speech.word(sentence(name).slice(0, -1));

/** The effects of decisions on disappeared records. */
export const holdEffects = (speech: Speech): string => effectsOf(speech, [approve, reject]);

/** The decisions on a kind's disappeared records; to approve asks once, because a record may be deleted by mistake. */
export function holdButtons(
  speech: Speech,
  hold: Pick<ShownHold, 'kind' | 'state' | 'records' | 'check'>,
): readonly DecisionButton[] {
  const { say } = speech;
  const { kind, state, records: n, check } = hold;
  const values = check === undefined ? {} : { only: check };
  const about = say('the deletions of {kind}', { kind });
  const asks = { question: say(APPROVE, { n, kind }), answer: say(APPROVE_ANSWER, { n }) };
  const address = `/deletions/${kind}`;
  const yes = { label: say('Approve'), about, address: `${address}/approve`, isMain: true, asks, values };
  const no = { label: say('Reject'), about, address: `${address}/reject` };
  return state === 'held' ? [yes, no] : state === 'rejected' ? [yes] : state === 'suspected' ? [] : [no];
}

const APPROVE: Text =
  '{n, plural, one {# record of {kind} will be marked as deleted once the service proves that it is gone.} other {# records of {kind} will be marked as deleted once the service proves that they are gone.}} Go on?';
const APPROVE_ANSWER: Text = '{n, plural, one {Approve # deletion} other {Approve # deletions}}';

const OF_ENTRIES = { adopt, retry, abandon };

const decisionsOn = (entry: Entry) => choicesOf(entry).map((choice) => OF_ENTRIES[choice]);

const ADOPTABLE = 2;

/** The effects of decisions on an entry. */
export const entryEffects = (speech: Speech, entry: Entry): string => effectsOf(speech, decisionsOn(entry));

/** The decisions on an entry; a create can be given each of the first records that it may have made. */
export function entryButtons(speech: Speech, entry: Entry): readonly DecisionButton[] {
  const { id } = entry;
  const about = speech.say('entry {id}', { id });
  return choicesOf(entry).flatMap((choice): readonly DecisionButton[] => {
    const address = `/outbox/${id}/${choice}`;
    if (choice !== 'adopt') return [{ label: labelOf(speech, choice), about, address }];
    return candidatesOf(entry)
      .slice(0, ADOPTABLE)
      .map((recordId) => {
        const label = speech.say('Adopt {recordId}', { recordId });
        return { label, address, values: { recordId }, isMain: true };
      });
  });
}

/** The decisions on an entry, with their effects and a form for another record; null if there are none. */
export function entryDecisions(speech: Speech, entry: Entry, role?: UserRole): Html | null {
  const { say } = speech;
  const choices = choicesOf(entry);
  if (choices.length === 0) return null;
  const back = `/outbox/${entry.id}`;
  const another = say('another record');
  const adoptForm = html`<form class="filters adopt" method="post" action="${back}/adopt">
    <input type="hidden" name="back" value="${back}" />
    <label>${another} <input name="recordId" inputmode="numeric" pattern="[0-9]+" required /></label>
    <button>${say('Adopt')}</button>
  </form>`;
  return html`<p class="quiet">${entryEffects(speech, entry)}</p>
    ${decisionForms(entryButtons(speech, entry), back, role)}
    ${choices.includes('adopt') && maySend(role, `${back}/adopt`) ? adoptForm : null}`;
}

/** The decisions on an endpoint. */
export function endpointButtons(
  speech: Speech,
  endpoint: Pick<EndpointStanding, 'name' | 'health'>,
): readonly DecisionButton[] {
  const { name, health } = endpoint;
  const about = speech.say('the endpoint {name}', { name });
  const button = (operation: AnyOperation): DecisionButton => ({
    label: labelOf(speech, operation.name),
    about,
    address: `/webhooks/${name}/${operation.name}`,
  });
  if (health === 'healthy') return [button(disable)];
  return health === 'disabled'
    ? [{ ...button(enable), isMain: true }, button(replay)]
    : [button(replay), button(disable)];
}

/** The effects of decisions on an endpoint that takes no deliveries. */
export const endpointEffects = (speech: Speech, standing: Pick<EndpointStanding, 'health'>): string =>
  standing.health === 'disabled'
    ? effectsOf(speech, [enable, replay])
    : `${speech.say(TRIED_AGAIN)} ${effectsOf(speech, [replay, disable])}`;

const TRIED_AGAIN: Text = 'It is tried again by itself, and disabled if it takes nothing for days.';

/** What has been done, by what the trail calls it; nothing for another name. */
export function noticeOf(speech: Speech, what: string | undefined): Html | null {
  const notice = OPERATIONS.find((known) => whatOf(known) === what)?.words.notice;
  return notice === undefined ? null : html`<p class="notice" role="status">${speech.say(notice)}</p>`;
}
