import type { Kind, WriteEndpoint } from '../catalog/kind.ts';
import { createDeadline } from '../lib/time/deadline.ts';
import type { HttpClient, SendRequest, SentAnswer, SourceParts, SourceSettings } from './http/http.ts';
import { tokenHeaders } from './http/requester.ts';
import type { Requester } from './http/requester.ts';
import { readWriteAnswer } from './http/write-answer.ts';
import type { WriteAnswer } from './http/write-answer.ts';

/** One POST or PUT. */
export interface WriteRequest {
  readonly kind: Kind;
  readonly operation: 'create' | 'update';
  /** Of the record to update; null for a create. */
  readonly id: string | null;
  /** JSON text. */
  readonly body: string;
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called just before the request is written; false prevents the send. */
  readonly mayGo?: () => boolean;
}

/** Sends one write once; throws on bugs only. */
type Write = (request: WriteRequest, options?: WriteOptions) => Promise<WriteAnswer>;

/** Creates the sender of writes: each waits its turn among all requests, keeps the deadline, and is logged. */
export function createWrite(settings: SourceSettings, parts: SourceParts, requester: Requester): Write {
  const { clock } = parts;
  const log = sendLog(parts);

  const exchange = async (
    client: HttpClient,
    { request, kind }: { readonly request: SendRequest; readonly kind: Kind },
    signal: AbortSignal,
  ): Promise<WriteAnswer> => {
    const deadline = createDeadline(settings.timeoutSeconds * 1000, [signal]);
    const answered = log(request);
    try {
      const sent = await client.send(request, deadline.signal);
      answered(sent);
      if (sent.is !== 'answered') return deadline.isOver() ? { ...sent, why: 'timeout' } : sent;
      const about = { kind, where: request.where, token: settings.token, receivedAt: clock.now() };
      return readWriteAnswer(sent, about);
    } finally {
      deadline.release();
    }
  };

  return async (write, { signal, mayGo } = {}) => {
    const request = { ...sendRequest(settings, write), mayGo };
    const answer = await requester.inTurn(
      (client, scope) => exchange(client, { request, kind: write.kind }, scope),
      signal,
    );
    return answer ?? { is: 'unsent', why: 'interrupted' };
  };
}

function sendRequest(settings: SourceSettings, { kind, operation, id, body }: WriteRequest): SendRequest {
  const { path, header } = endpointOf(kind, operation);
  const target = path.replace(':id', () => encodeURIComponent(idOf(id, path)));
  const method = operation === 'create' ? 'POST' : 'PUT';
  const headers = tokenHeaders(settings, { header });
  return { method, target, headers, body, where: `${method} ${target}` };
}

function idOf(id: string | null, path: string): string {
  if (id === null || id === '') throw new TypeError(`${path} needs an id`);
  return id;
}

function endpointOf(kind: Kind, operation: 'create' | 'update'): WriteEndpoint {
  const endpoint = kind[operation];
  if (endpoint === null) throw new TypeError(`${kind.name} has no ${operation}`);
  return endpoint;
}

/** The same line as for a read. */
function sendLog({ clock, logger }: SourceParts) {
  return ({ method, target }: SendRequest) => {
    const started = clock.monotonicMs();
    return (sent: SentAnswer): void => {
      const [status, bytes] = sent.is === 'answered' ? [sent.status, sent.bytes.length] : [null, 0];
      const ms = Math.round(clock.monotonicMs() - started);
      logger.debug({ method, path: target, status, ms, bytes }, 'source request');
    };
  };
}
