import { MESSAGES } from '../../../src/feature-hooks.ts';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createSender } from '../../../src/events/webhooks/sender.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';

/** Starts a receiver that answers 200 with a beginning, and then as `end` does. */
async function sendTo(end: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
    response.write('thank', () => end(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const rules = {
    messages: MESSAGES,
    publicUrl: null,
    timezone: 'UTC',
    language: 'en' as const,
    allowHosts: ['127.0.0.1'],
    mail: { url: null, from: null },
  };
  await using sender = createSender(systemClock, rules);
  const { port } = server.address() as AddressInfo;
  const delivery = {
    endpoint: { id: 1, url: `http://127.0.0.1:${port}/hook` },
    webhookId: 'msg_1',
    secrets: ['whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0'],
    contentType: 'application/json',
    body: '{}',
  };
  return await sender.send(delivery, new AbortController().signal);
}

test.each([
  ['never ends', () => undefined],
  ['is cut', (response: ServerResponse) => response.destroy()],
])('the status of a receiver decides, also where its body %s', async (_, end) => {
  expect(await sendTo(end)).toMatchObject({ status: 200, error: null, responseStart: 'thank' });
});
