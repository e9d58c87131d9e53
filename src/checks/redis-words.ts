import { errorCode } from '../lib/error-code.ts';

/** The beginnings of a Redis client's messages, or codes of Node's, to what they mean for a person. */
const MEANINGS: readonly (readonly [string, string])[] = [
  ['NOAUTH', 'it wants a password, and QUEUE_URL has none'],
  ['WRONG', 'it does not accept the password in QUEUE_URL'],
  ['ERR AUTH', 'it has no password, and QUEUE_URL gives one'],
  ['ECONNREFUSED', 'nothing listens at this port'],
  ['ENOTFOUND', 'its host name is not known here'],
  ['ETIMEDOUT', 'no connection was made in time'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS; use redis://'],
  ['DEPTH_ZERO_', 'its certificate is not trusted: name the file of its authority in NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_', 'its certificate is not trusted: name the file of its authority in NODE_EXTRA_CA_CERTS'],
  ['SELF_SIGNED_', 'its certificate is not trusted: name the file of its authority in NODE_EXTRA_CA_CERTS'],
];

/** Says why a Redis does not answer. The host and port are shown, nothing else of the address. */
export function redisWords(error: unknown, address: string): string {
  const { protocol, hostname, port } = new URL(address);
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  const meant = MEANINGS.find(([sign]) => message.startsWith(sign) || code.startsWith(sign))?.[1] ?? message;
  return `Redis at ${hostname}:${port === '' ? '6379' : port} does not answer: ${meant}${tlsWords(code, protocol)}`;
}

/** A server without TLS leaves a client with TLS waiting; one with TLS closes the connection of a client without. */
function tlsWords(code: string, protocol: string): string {
  if (code === 'ETIMEDOUT' && protocol === 'rediss:') return '; if it has no TLS, use redis://';
  return code === 'ECONNRESET' && protocol === 'redis:' ? '; if it speaks TLS, use rediss://' : '';
}
