import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Ask = (asked: Asked) => Promise<Answer>;

/** Asks a server with any header whatever, which `fetch` would not send. */
export function httpClient(url: string, connections = 8): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  onTestFinished(() => {
    agent.destroy();
  });
  const { hostname, port } = new URL(url);
  return ({ method = 'GET', path, headers = {}, body }) =>
    new Promise((resolve, reject) => {
      // Node would send the body of a DELETE without saying that there is one.
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const sent = request(
        { agent, hostname, port, method, path, headers: { ...headers, ...length } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
}
