import { truncate } from '../../lib/text/text.ts';
import type { Queryable } from '../../db/session/session.ts';
import { keysOf } from '../../store/outbox/outbox-store.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import type { WebhookFormat } from './endpoint-store.ts';
import type { KeyedChange } from '../read-changes.ts';
import { URGENT_TYPES } from '../../store/notifications/notification-types.ts';
import {
  causeText,
  type NamedNotification,
  type NotificationText,
  type ReaderRules,
} from '../../features/notify/notification-text.ts';

export const changeType = (kind: string, change: string): string => `${kind}.${change}`;

/**
 * The body of a change event, in the form of Standard Webhooks.
 *
 * The record's own JSON is inserted as stored: parsing it and writing it again could alter its numbers.
 */
export function changeBody(change: KeyedChange, withKey: boolean): string {
  const observedAt = JSON.stringify(parseInstant(change.observedAt).toISOString());
  const data: readonly (readonly [name: string, json: string])[] = [
    ['seq', JSON.stringify(change.seq)],
    ['kind', JSON.stringify(change.kind)],
    ['recordId', JSON.stringify(change.recordId)],
    ['change', JSON.stringify(change.change)],
    ['before', change.before ?? 'null'],
    ['after', change.after ?? 'null'],
    ['fields', change.fields],
    ['origin', JSON.stringify(change.origin)],
    ...(withKey ? [['key', JSON.stringify(change.key)] as const] : []),
    ['observedAt', observedAt],
  ];
  const members = data.map(([name, json]) => `"${name}":${json}`).join(',');
  return `{"type":${JSON.stringify(changeType(change.kind, change.change))},"timestamp":${observedAt},"data":{${members}}}`;
}

/** The body of a notification; one about an entry gets the key of its caller, which is not stored with it. */
export async function notificationBody(db: Queryable, body: string): Promise<string> {
  const { data, ...head } = JSON.parse(body) as { readonly data: { readonly entryId?: number | null } };
  const { entryId = null } = data;
  if (entryId === null) return body;
  const key = (await keysOf(db, [entryId])).get(entryId) ?? null;
  return JSON.stringify({ ...head, data: { ...data, key } });
}

/** A body as an endpoint wants it. */
export interface FormattedBody {
  readonly contentType: string;
  readonly body: string;
  /** Of an e-mail. */
  readonly subject?: string;
}

/** Notifications for a person: the causes of a letter, the most urgent first, or the one of a message for a chat room. */
export function formatNotifications(
  causes: readonly (readonly NamedNotification[])[],
  format: Exclude<WebhookFormat, 'json'>,
  reader: ReaderRules,
): FormattedBody {
  const texts = causes.map((cause) => ({ ...causeText(cause, reader), type: cause[0]?.type ?? '' }));
  if (format === 'email') return renderEmail(texts);
  const text = texts.map((text) => `${text.headline}. ${text.lines.join(' ')}`).join(' ');
  if (format === 'text') return { contentType: 'text/plain; charset=utf-8', body: text };
  const message = format === 'slack' ? slackMessage(text) : teamsMessage(text);
  return { contentType: 'application/json', body: JSON.stringify(message) };
}

const LONGEST_SUBJECT = 120;

/** If a notification is urgent, the subject names only urgent ones. */
function renderEmail(texts: readonly (NotificationText & { readonly type: string })[]): FormattedBody {
  const urgent = texts.filter((text) => URGENT_TYPES.includes(text.type));
  const [first, ...others] = (urgent.length > 0 ? urgent : texts).map((text) => text.headline);
  const more = others.length === 0 ? '' : ` (+ ${others.length})`;
  const paragraphs = texts.map((text) => [text.headline, ...text.lines].join('\n'));
  return {
    contentType: 'text/plain; charset=utf-8',
    subject: `${truncate(first ?? '', LONGEST_SUBJECT)}${more}`,
    body: `${paragraphs.join('\n\n')}\n`,
  };
}

/** `&`, `<` and `>` steer Slack: a text could mention a whole channel. */
const slackMessage = (text: string) => ({
  text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
});

const teamsMessage = (text: string) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2',
        // A run of rich text knows no Markdown: names stay names.
        body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
      },
    },
  ],
});
