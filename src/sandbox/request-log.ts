import type { IncomingMessage } from 'node:http';

/** A request as it came in; `status` is null until it is answered, and for good where the socket was dropped. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly status: number | null;
}

interface RequestLog {
  readonly requests: readonly LoggedRequest[];
  add(request: IncomingMessage): void;
  answered(request: IncomingMessage, status: number): void;
}

const KEPT = 10_000;

/** Keeps the last 10,000 requests. */
export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = [];
  const open = new WeakMap<IncomingMessage, { status: number | null }>();
  return {
    requests,
    add: (request) => {
      const [path = '', query = ''] = (request.url ?? '').split('?', 2);
      const entry = { method: request.method ?? '', path, query, headers: headersOf(request), status: null };
      requests.push(entry);
      open.set(request, entry);
      if (requests.length > KEPT) requests.shift();
    },
    answered: (request, status) => {
      const entry = open.get(request);
      if (entry) entry.status = status;
    },
  };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return Object.fromEntries(texts) as Record<string, string>;
}
