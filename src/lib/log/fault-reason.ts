import { SyncError } from '../sync-error.ts';
import { errorCode } from '../error-code.ts';

/** The codes of Node, undici and PostgreSQL for something that is away, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  ECONNABORTED: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no answer in time',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up',
  EHOSTUNREACH: 'there is no way to its host',
  ENETDOWN: 'the network is down',
  ENETUNREACH: 'there is no way to its network',
  '57P01': 'it was shut down',
  '57P02': 'it has crashed',
  '57P03': 'it is starting or stopping',
};

/** Why something is away, in a few words for a message: `connection refused`. */
export function faultReason(error: unknown): string {
  const words = wordsOf(error);
  if (words !== null) return words;
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\.$/, '');
}

function wordsOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = errorCode(error);
  if (!(error instanceof SyncError) && WORDS[code] !== undefined) return WORDS[code];
  return wordsOf(error instanceof AggregateError ? error.errors[0] : error.cause);
}
