import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { startSandbox } from '../sandbox/sandbox.ts';
import { LARGEST_SIZE } from '../sandbox/world.ts';

/**
 * Serves the pages of the sandbox's clients from memory, so that what is measured is the client and not the server.
 * Runs as a child process: `page-server.ts ROWS`; returns its parent the URL; takes `{latencyMs?, edition?}` messages.
 */
const rows = Number(process.argv[2]);
const size = Math.min(rows, LARGEST_SIZE);
const sandbox = await startSandbox({ size });
const pages = new Map<string, Buffer>();
const addressOf = (page: number): string => `/api/clients?page=${page}&per_page=100`;
for (let page = 1; page <= Math.ceil(rows / 100) + 1; page++) {
  const round = rows > size ? Math.floor((page - 1) / (size / 100)) : 0; // A larger list has the sandbox's records again, with other ids.
  const url = sandbox.url + addressOf(page - (round * size) / 100);
  const answer = await request(url, { headers: { authorization: `Bearer ${sandbox.token}` } });
  const body = Buffer.from(await answer.body.arrayBuffer());
  pages.set(addressOf(page), rows > size ? renumbered(body, page, round * 1e9) : body);
}
await sandbox.close();

function renumbered(body: Buffer, page: number, added: number): Buffer {
  const { data, meta, ...rest } = JSON.parse(body.toString('utf8')) as {
    readonly data: readonly { readonly id: number }[];
    readonly meta: Readonly<Record<string, unknown>>;
  };
  const before = (page - 1) * 100;
  const records = data
    .slice(0, Math.max(0, rows - before))
    .map((record) => ({ ...record, id: record.id + added }));
  const [from, to] = records.length === 0 ? [null, null] : [before + 1, before + records.length];
  const counts = { current_page: page, last_page: Math.ceil(rows / 100), total: rows, from, to };
  return Buffer.from(JSON.stringify({ data: records, ...rest, meta: { ...meta, ...counts } }));
}

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
