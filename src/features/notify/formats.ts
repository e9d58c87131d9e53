import type { FormattedBody, ReaderRules } from '../../events/webhooks/messages.ts';
import { truncate } from '../../lib/text/text.ts';
import type { WebhookFormat } from '../../store/notifications/endpoints.ts';
import { URGENT_TYPES } from '../../store/notifications/notification-types.ts';
import { causeText, type NamedNotification, type NotificationText } from './notification-text.ts';

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
