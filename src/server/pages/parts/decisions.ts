import type { Entry } from '../../../mirror/outbox/outbox-store.ts';
import type { EndpointStanding } from '../../../mirror/webhooks/endpoint-store.ts';
import { candidatesOf } from '../../../outbound/decisions/entry-list.ts';
import { choicesOf } from '../../../outbound/decisions/verdicts.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

/** A button that carries out a person's decision. */
export interface DecisionButton {
  readonly label: string;
  /** The route that carries it out. */
  readonly address: string;
  /** Further values of the form. */
  readonly values?: Readonly<Record<string, string>>;
  /** The decision that most people make. */
  readonly isMain?: boolean;
  /** The name of the button for screen readers. */
  readonly about?: string;
}

/** Buttons that carry out decisions and then return to the page at `back`. */
export function decisionForms(buttons: readonly DecisionButton[], back: string): Html {
  if (buttons.length === 0) return html``;
  return html`<div class="deciding">
    ${buttons.map(({ label, address, values = {}, isMain, about }) => {
      const hidden = Object.entries({ ...values, back }).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      );
      const unseen = about === undefined ? null : html` <span class="unseen">${about}</span>`;
      return html`<form method="post" action="${address}">
        ${hidden}<button ${isMain === true ? html`class="main"` : null}>${label}${unseen}</button>
      </form>`;
    })}
  </div>`;
}

/** The effects of decisions on disappeared records. */
export const HOLD_EFFECTS =
  'Approve: each is marked as deleted once the service proves that it is gone. Reject: they stay live, however long the list leaves them out.';

/** The decisions on a kind's disappeared records. */
export const holdButtons = (kind: string): readonly DecisionButton[] => [
  {
    label: 'Approve',
    about: `the deletions of ${kind}`,
    address: `/deletions/${kind}/approve`,
    isMain: true,
  },
  { label: 'Reject', about: `the deletions of ${kind}`, address: `/deletions/${kind}/reject` },
];

const EFFECTS = {
  adopt: 'Adopt: that record is the one to be created, and nothing is sent.',
  retry: 'Retry: it is looked for once more, and sent if it is not there.',
  abandon: 'Abandon: nothing more is sent for it.',
} as const;

const ADOPTABLE = 2;

/** The effects of decisions on an entry. */
export const entryEffects = (entry: Entry): string =>
  choicesOf(entry)
    .map((choice) => EFFECTS[choice])
    .join(' ');

/** The decisions on an entry; a create can be given each of the first records that it may have made. */
export function entryButtons(entry: Entry): readonly DecisionButton[] {
  const { id } = entry;
  const about = `entry ${id}`;
  return choicesOf(entry).flatMap((choice): readonly DecisionButton[] => {
    const address = `/outbox/${id}/${choice}`;
    if (choice === 'retry') return [{ label: 'Retry', about, address }];
    if (choice === 'abandon') return [{ label: 'Abandon', about, address }];
    return candidatesOf(entry)
      .slice(0, ADOPTABLE)
      .map((recordId) => ({ label: `Adopt ${recordId}`, address, values: { recordId }, isMain: true }));
  });
}

/** The decisions on an entry, with their effects and a form for another record; null if there are none. */
export function entryDecisions(entry: Entry, mayDecide: boolean): Html | null {
  const choices = choicesOf(entry);
  if (choices.length === 0) return null;
  const back = `/outbox/${entry.id}`;
  return html`<p class="quiet">${entryEffects(entry)}</p>
    ${
      mayDecide
        ? html`${decisionForms(entryButtons(entry), back)}
          ${choices.includes('adopt') ? adoptForm(entry, back) : null}`
        : null
    }`;
}

function adoptForm({ id }: Entry, back: string): Html {
  return html`<form class="filters adopt" method="post" action="/outbox/${id}/adopt">
    <input type="hidden" name="back" value="${back}" />
    <label>another record <input name="recordId" inputmode="numeric" pattern="[0-9]+" required /></label>
    <button>Adopt</button>
  </form>`;
}

type Decided = Pick<EndpointStanding, 'name' | 'health'>;

/** The decisions on an endpoint. */
export function endpointButtons({ name, health }: Decided): readonly DecisionButton[] {
  const about = `the endpoint ${name}`;
  const button = (label: string, decision: string): DecisionButton => ({
    ...{ label, about, address: `/webhooks/${name}/${decision}` },
  });
  if (health === 'healthy') return [button('Disable', 'disable')];
  const replay = button('Replay', 'replay');
  return health === 'disabled'
    ? [{ ...button('Enable', 'enable'), isMain: true }, replay]
    : [replay, button('Disable', 'disable')];
}

const REPLAY =
  'Replay: everything is sent again from the first event that it has not taken since its last success.';

/** The effects of decisions on an endpoint that takes no deliveries. */
export const endpointEffects = ({ health }: Decided): string =>
  health === 'disabled'
    ? `Enable: what waits is sent, and then the events since. ${REPLAY}`
    : `It is tried again by itself, and disabled if it takes nothing for days. ${REPLAY} Disable: nothing is sent to it.`;

/** The message after a decision was carried out, by the name that its address carries. */
const NOTICES = {
  approved: 'Approved: each record is marked as deleted once the service proves that it is gone.',
  rejected: 'Rejected: the records stay live.',
  retried: 'The entry gets another try.',
  adopted: 'Adopted: the entry is done, and nothing is sent for it.',
  abandoned: 'Abandoned: nothing more is sent for the entry.',
  resumed: 'Sends go on.',
  enabled: 'Enabled: the endpoint is sent what waits for it.',
  disabled: 'Disabled: the endpoint is sent nothing until it is enabled.',
  replayed: 'The endpoint is sent the events again that it has not taken since its last success.',
  requested: 'A pull is requested: it begins as soon as a background service is free.',
} as const;

export type Notice = keyof typeof NOTICES;

/** The notice of that name; nothing for another one. */
export function noticeOf(name: string | undefined): Html | null {
  const text = Object.entries(NOTICES).find(([known]) => known === name)?.[1];
  return text === undefined ? null : html`<p class="notice" role="status">${text}</p>`;
}
