import { compactJson, isObject, parseObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { plainLine } from '../../lib/text/text.ts';
import { instantOf } from '../../lib/time/clock.ts';
import type { WebhookFormat } from '../../mirror/webhooks/endpoint-store.ts';
import type { RecordedChange } from '../read-changes.ts';

export const changeType = ({ kind, change }: Pick<RecordedChange, 'kind' | 'change'>): string =>
  `${kind}.${change}`;

/**
 * The body of a change event, in the form of Standard Webhooks.
 *
 * The record's own JSON is inserted as stored: parsing it and writing it again could alter its numbers.
 */
export function changeBody(change: RecordedChange): string {
  const observedAt = JSON.stringify(instantOf(change.observedAt).toISOString());
  const data: readonly (readonly [name: string, json: string])[] = [
    ['seq', JSON.stringify(change.seq)],
    ['kind', JSON.stringify(change.kind)],
    ['recordId', JSON.stringify(change.recordId)],
    ['change', JSON.stringify(change.change)],
    ['before', change.before ?? 'null'],
    ['after', change.after ?? 'null'],
    ['fields', change.fields],
    ['origin', JSON.stringify(change.origin)],
    ['observedAt', observedAt],
  ];
  const members = data.map(([name, json]) => `"${name}":${json}`).join(',');
  return `{"type":${JSON.stringify(changeType(change))},"timestamp":${observedAt},"data":{${members}}}`;
}

/** A body as an endpoint wants it. */
export interface FormattedBody {
  readonly contentType: string;
  readonly body: string;
}

/** Turns the body of our own news into the message of a chat room; `json` leaves it as it is. */
export function formatNews(body: string, format: WebhookFormat): FormattedBody {
  if (format === 'json') return { contentType: 'application/json', body };
  const text = newsText(body);
  if (format === 'text') return { contentType: 'text/plain; charset=utf-8', body: text };
  const message = format === 'slack' ? slackMessage(text) : teamsMessage(text);
  return { contentType: 'application/json', body: JSON.stringify(message) };
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

/** Says in one sentence what has happened and what to do. */
function newsText(body: string): string {
  const { type, data } = parseObject(body);
  const facts = isObject(data) ? data : {};
  const fact = (name: string): string => textOf(facts[name]);
  const kind = fact('kind');
  const texts: Readonly<Record<string, string>> = {
    'kind.held': `${fact('records')} records of ${kind} have disappeared at once: they stay until a person decides (bms-sync deletions).`,
    'entry.parked': `Entry ${fact('entryId')} (${fact('operation')} of ${kind}) is parked: ${fact('verdict')}. A person must decide (bms-sync outbox show ${fact('entryId')}).`,
    'entry.rejected': `Entry ${fact('entryId')} (${fact('operation')} of ${kind}) is rejected: ${fact('verdict')}. Nothing more is sent for it (bms-sync outbox show ${fact('entryId')}).`,
    'token.refused': `The service refuses the token since ${fact('since')}: nothing can be read (bms-sync doctor).`,
    'kind.blocked': `Writes of ${kind} are blocked: the service refuses them (${fact('reason')}).`,
    'kind.stale': `The list of ${kind} is stale: its schedule was due several times, and its list was ${facts['since'] === null ? 'never read to its end' : `last read to its end at ${fact('since')}`}.`,
    [TEST_TYPE]: 'This is a test of bms-sync: the endpoint works.',
  };
  return texts[textOf(type)] ?? `bms-sync: ${textOf(type)}.`;
}

const textOf = (value: Json | undefined): string =>
  plainLine(typeof value === 'string' ? value : compactJson(value ?? null));

/** The type of a test event. */
export const TEST_TYPE = 'webhook.test';
