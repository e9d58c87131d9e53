import { html } from './html.ts';
import type { Html } from './html.ts';

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
