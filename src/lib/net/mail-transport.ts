import { createTransport } from 'nodemailer';
import { codedError } from '../sync-error.ts';
import { isLoopback } from './loopback.ts';

/**
 * Creates the way to a mail server. One without TLS gets no password, unless it is on this machine; there it may have a
 * certificate of its own, as Postfix has, as long as it gets none.
 */
export function createMailTransport(url: string, timeoutMs: number) {
  const { hostname, username } = new URL(url);
  return createTransport({
    url,
    tls: { rejectUnauthorized: username !== '' || !isLoopback(hostname) },
    requireTLS: username !== '' && !isLoopback(hostname),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The fault behind an error of nodemailer, which hides its code behind a general one. */
export const toCause = (error: unknown): unknown =>
  error instanceof Error && 'originalCode' in error
    ? codedError(String(error.originalCode), error.message)
    : error;
