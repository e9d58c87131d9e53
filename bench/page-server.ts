import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { startSandbox } from '../sandbox/sandbox.ts';

/**
 * Serves the pages of the sandbox's clients from memory, so that what is measured is the client and not the server.
 * Runs as a child process: `page-server.ts ROWS`; returns its parent the URL; takes `{latencyMs?, edition?}` messages.
 */
const rows = Number(process.argv[2]);
const sandbox = await startSandbox({ size: rows });
const pages = new Map<string, Buffer>();
for (let page = 1; page <= Math.ceil(rows / 100) + 1; page++) {
  const url = `/api/clients?page=${page}&per_page=100`;
  const answer = await request(sandbox.url + url, { headers: { authorization: `Bearer ${sandbox.token}` } });
  pages.set(url, Buffer.from(await answer.body.arrayBuffer()));
}
await sandbox.close();

interface Order {
  readonly latencyMs?: number;
  /** In each edition, the first record of every page has another name: one row in a hundred. */
  readonly edition?: number;
}

let latencyMs = 0;
process.on('message', (order: Order) => {
  latencyMs = order.latencyMs ?? latencyMs;
  if (order.edition !== undefined)
    for (const [url, body] of pages) pages.set(url, edited(body, order.edition));
  process.send?.(order);
});

function edited(body: Buffer, edition: number): Buffer {
  const text = body.toString('utf8');
  return Buffer.from(text.replace(/"name":"(?:edition \d+ )?/, `"name":"edition ${edition} `));
}

const server = createServer((incoming, answer) => {
  const send = (): void => {
    const body = pages.get(incoming.url ?? '');
    answer.writeHead(body ? 200 : 404, {
      'content-type': 'application/json',
      'content-length': body?.length ?? 0,
    });
    answer.end(body);
  };
  if (latencyMs === 0) send();
  else void delay(latencyMs).then(send);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
