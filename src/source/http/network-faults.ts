import { errors } from 'undici';
import type { buildConnector, Pool } from 'undici';
import { errorCode } from '../../lib/error-code.ts';
import { SourceError } from './errors.ts';
import { networkWords } from './network-words.ts';
import type { CodedFault } from './network-words.ts';

/** Error codes of Node and undici that mean: no answer came, and the next attempt may fare better. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'EPROTO',
  'UND_ERR_ABORTED', // A proxy that refuses the tunnel; our own aborts are recognised earlier.
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_PRX_TLS',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_SOCKET',
]);

const TIMED_OUT: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

/** TLS and HTTP parser faults have whole families of codes. */
const UNREACHABLE_FAMILIES =
  /^(?:HPE_|ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_PROXY)/;

/** Names an error of undici; an error without a known code is a bug and is returned as it is. */
export function networkFault(error: unknown, where: string): unknown {
  const fault = codedFault(error);
  if (fault === null) return error;
  const { code } = fault;
  const details = { cause: error, passing: { waitMs: null } };
  const message = `${where}: ${networkWords(fault)}`;
  if (TIMED_OUT.has(code)) return new SourceError('timeout', message, details);
  const isKnown = UNREACHABLE.has(code) || UNREACHABLE_FAMILIES.test(code);
  return isKnown ? new SourceError('unreachable', message, details) : error;
}

/** The code of an error, its cause, or its first part (if several addresses were tried). */
export function codeOf(error: unknown): string | null {
  return codedFault(error)?.code ?? null;
}

/** The error that has the code: it alone knows the address, too. */
export function codedFault(error: unknown): CodedFault | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof errors.HTTPParserError) return { error, code: 'HPE_INVALID' }; // undici means to set a code, and does not.
  const first = error instanceof AggregateError ? codedFault(error.errors[0]) : null;
  if (first !== null) return first;
  const code = errorCode(error);
  return code === '' ? codedFault(error.cause) : { error, code };
}

/**
 * No connection was made; `cause` holds the reason, if there is one.
 *
 * It has no code of its own. If a proxy cuts the tunnel, undici would see UND_ERR_SOCKET and reconnect at once,
 * thousands of times a second; after an unknown error it gives up.
 */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** The options with which a proxy agent creates its clients: its connector opens the tunnel, and TLS within it. */
export type TunnelOptions = Pool.Options & { readonly connect: buildConnector.connector };

/** Makes a connector that undici does not call again for the same request. */
export function triedOnce(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (socket) callback(null, socket);
      else callback(new NoConnection('not connected', { cause: error }), null);
    });
  };
}
