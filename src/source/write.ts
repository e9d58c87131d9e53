import type { Kind } from '../catalog/kind.ts';
import { createDeadline } from '../lib/time/deadline.ts';
import type { SourceParts, SourceSettings } from './http/http.ts';
import { tokenHeaders, UNAUTHORIZED, type Requester } from './http/requester.ts';
import { readWriteAnswer, type WriteAnswer } from './http/write-answer.ts';

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
  readonly canSend?: () => boolean;
}

/** Creates the sender of writes: each waits its turn among all requests, keeps the deadline, and is logged. */
export function createWriteSender(
  settings: SourceSettings,
  parts: SourceParts,
  requester: Requester,
): (request: WriteRequest, options?: WriteOptions) => Promise<WriteAnswer> {
  const { clock, logger } = parts;
  const { timeoutSeconds } = settings;

  return async (writeRequest, { signal, canSend } = {}) => {
    const { kind, operation, id, body } = writeRequest;
    const endpoint = kind[operation];
    if (endpoint === null) throw new TypeError(`${kind.name} has no ${operation}`);
    const path = endpoint.path.replace(':id', () => {
      if (id === null || id === '') throw new TypeError(`${endpoint.path} needs an id`);
      return encodeURIComponent(id);
    });
    const method = operation === 'create' ? ('POST' as const) : ('PUT' as const);
    const where = `${method} ${path}`;
    const { token } = settings;
    const request = { method, target: path, headers: tokenHeaders(settings, endpoint), body, where, canSend };
    const answer = await requester.runInTurn(async (client, scope) => {
      const deadline = createDeadline(timeoutSeconds * 1000, [scope]);
      const started = clock.monotonicMs();
      const sent = await client.send(request, deadline.signal).finally(deadline.release);
      const isAnswered = sent.is === 'answered';
      const [status, bytes] = isAnswered ? [sent.status, sent.bytes.length] : [null, 0];
      const ms = Math.round(clock.monotonicMs() - started);
      logger.debug({ method, path, status, ms, bytes }, 'source request'); // The same line as for a read.
      if (!isAnswered) return deadline.isTimedOut() ? { ...sent, why: 'timeout' } : sent;
      if (status === UNAUTHORIZED) settings.renewToken?.(token); // For the next attempt: nothing is sent twice here.
      return readWriteAnswer(sent, { kind, where, token, receivedAt: clock.now() });
    }, signal);
    return answer ?? { is: 'unsent', why: 'interrupted' };
  };
}
