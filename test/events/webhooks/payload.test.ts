import { expect, test } from 'vitest';
import { formatNotifications } from '../../../src/features/notify/formats.ts';
import type { WebhookFormat } from '../../../src/store/notifications/endpoints.ts';
import { SENDING } from './stage.ts';

const parked = (kind: string): string =>
  JSON.stringify({
    type: 'entry.parked',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: { kind, entryId: 7, operation: 'create', recordId: null, verdict: 'gone' },
  });

const formatted = (body: string, format: Exclude<WebhookFormat, 'json'>) => {
  const { type } = JSON.parse(body) as { readonly type: string };
  return formatNotifications([[{ type, body, names: [], changes: [] }]], format, SENDING);
};

const NASTY = '<!channel> & <https://evil.example|here> *b* [x](https://evil.example)\n\u0007@here';
const SEEN = '<!channel> & <https://evil.example|here> *b* [x](https://evil.example)';

test('text in a message for Slack neither mentions, links nor formats', () => {
  const { contentType, body } = formatted(parked(NASTY), 'slack');
  const message = JSON.parse(body) as { readonly text: string };
  expect(contentType).toBe('application/json');
  expect(message).toMatchObject({ mrkdwn: false, unfurl_links: false, unfurl_media: false });
  expect(message.text).toContain('&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;');
  expect(message.text).not.toMatch(/[<>\n\u0007]/);
});

test('text in a message for Teams is a run of text, which knows no Markdown', () => {
  const message = JSON.parse(formatted(parked(NASTY), 'teams').body) as {
    readonly attachments: readonly [{ readonly content: { readonly body: readonly object[] } }];
  };
  const [{ content }] = message.attachments;
  expect(content.body).toEqual([
    {
      type: 'RichTextBlock',
      inlines: [{ type: 'TextRun', text: expect.stringContaining(SEEN) as string }],
    },
  ]);
});

test('a message of plain text is one line without control characters', () => {
  const { contentType, body } = formatted(parked(NASTY), 'text');
  expect(contentType).toBe('text/plain; charset=utf-8');
  expect(body).toContain(SEEN);
  expect(body).not.toMatch(/\p{Cc}/u);
});

test.each([
  [
    'kind.stale',
    { kind: 'clients', since: null },
    'The list of clients is stale. It was never read to its end. bms-sync pull clients',
  ],
  [
    'token.refused',
    { since: '2026-03-01T12:00:00.000Z' },
    'The service refuses the token. No list can be read. Since 1 Mar 2026, 12:00.',
  ],
  ['kind.later', {}, 'bms-sync: kind.later. bms-sync status'],
  ['webhook.test', { endpoint: 'room' }, 'This is a test of bms-sync: the endpoint works.'],
])('%s says it in a sentence', (type, data, sentence) => {
  expect(formatted(JSON.stringify({ type, data }), 'text').body).toContain(sentence);
});
