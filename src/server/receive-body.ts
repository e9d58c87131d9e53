import type { IncomingMessage } from 'node:http';
import { UsageError } from '../lib/sync-error.ts';

export interface BodyLimits {
  readonly bytes: number;
  /** Milliseconds in which the body must arrive; by default, the time limit of the whole request. */
  readonly ms?: number | undefined;
}

/** @throws {UsageError} `http.body_too_large` if the header `Content-Length` says so, before the body is read. */
export function refuseLarge({ headers }: Pick<IncomingMessage, 'headers'>, { bytes }: BodyLimits): void {
  if (Number(headers['content-length'] ?? 0) > bytes) throw tooLarge(bytes);
}

/**
 * Reads the body of a request; bytes after a refusal are thrown away. Never resolves if the client leaves before the end.
 *
 * @throws {UsageError} `http.body_too_large`; `http.too_slow`.
 */
export function receiveBody(body: IncomingMessage, { bytes, ms }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytes) refuse(tooLarge(bytes));
    };
    const refuse = (error: UsageError): void => {
      clearTimeout(timer);
      body.off('data', onData);
      body.resume();
      reject(error);
    };
    const timer = ms === undefined ? undefined : setTimeout(() => { refuse(tooSlow(ms)); }, ms); // prettier-ignore
    body.on('data', onData);
    body.once('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    body.on('error', () => {
      clearTimeout(timer); // The client has left, so no answer is due.
    });
  });
}

function tooLarge(bytes: number): UsageError {
  const size = bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} kB`;
  return new UsageError(`The body is larger than ${size}.`, {
    code: 'http.body_too_large',
    hint: 'Send less in one request.',
  });
}

function tooSlow(ms: number): UsageError {
  return new UsageError(`The body did not arrive within ${ms / 1000} s.`, {
    code: 'http.too_slow',
    hint: 'Send the whole request at once.',
  });
}
