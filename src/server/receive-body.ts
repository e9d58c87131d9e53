import type { IncomingMessage } from 'node:http';
import { UsageError } from '../lib/sync-error.ts';

interface BodyLimits {
  readonly bytes: number;
  /** Milliseconds in which the body must arrive; absent, the time limit for the whole request counts. */
  readonly ms?: number | undefined;
}

/** @throws {UsageError} `http.body_too_large` by the request's Content-Length, before the body is read. */
export function refuseLarge({ headers }: Pick<IncomingMessage, 'headers'>, { bytes }: BodyLimits): void {
  if (Number(headers['content-length'] ?? 0) > bytes) throw tooLarge(bytes);
}

/**
 * Reads the body of a request; after a refusal the rest is discarded.
 *
 * @throws {UsageError} `http.body_too_large`; `http.too_slow`; `http.malformed` if the client leaves before its end.
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
      refuse(leftOff());
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

function leftOff(): UsageError {
  return new UsageError('The connection ended in the middle of the body.', {
    code: 'http.malformed',
    hint: 'Send as many bytes as Content-Length says.',
  });
}
