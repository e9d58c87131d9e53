import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Takes POSTs of clients, each after the same latency, and shows a list of none, so that what is measured is the client.
 * Runs as a child process: `write-server.ts LATENCY_MS`; returns its parent the URL.
 */
const latencyMs = Number(process.argv[2]);
let ids = 0;

const LIST = JSON.stringify({
  data: [],
  meta: { current_page: 1, last_page: 1, per_page: 100, total: 0 },
  success: true,
});

const server = createServer((incoming, answer) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const sent = Buffer.concat(chunks).toString('utf8');
    const body = incoming.method === 'POST' ? created(sent) : LIST;
    void delay(latencyMs).then(() => {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(body);
    });
  });
});

function created(sent: string): string {
  const record = { id: ++ids, ...(JSON.parse(sent) as object) };
  return JSON.stringify({ data: record, success: true });
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
