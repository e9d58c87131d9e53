import { errors, Pool, ProxyAgent, type buildConnector, type Dispatcher } from 'undici';
import { SyncError, codedError, errorCode, isOurs } from '../../lib/sync-error.ts';
import { SourceError } from './errors.ts';

const TIMED_OUT = /^ETIMEDOUT$|TIMEOUT$/;

/** Names what a call of undici threw: no answer came, and the next attempt may fare better. A fault of ours stays as it is. */
export function toSourceError(error: unknown, where: string): unknown {
  if (!(error instanceof Error) || error instanceof SyncError) return error;
  const fault = findCodedError(error) ?? { error, code: error.name };
  if (isOurs(fault.error)) return error;
  const message = `${where}: ${describeNetworkFault(fault)}`;
  return new SourceError(TIMED_OUT.test(fault.code) ? 'timeout' : 'unreachable', message, { cause: error });
}

/** The code of an error, its cause, or its first part (if several addresses were tried). */
export function codeOf(error: unknown): string | null {
  return findCodedError(error)?.code ?? null;
}

/** Finds the error that has a code: only that one knows the address, too. */
export function findCodedError(error: unknown): CodedError | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof errors.HTTPParserError) return { error, code: 'HPE_INVALID' }; // undici means to set a code, and does not.
  const first = error instanceof AggregateError ? findCodedError(error.errors[0]) : null;
  if (first !== null) return first;
  const code = errorCode(error);
  return code === '' ? findCodedError(error.cause) : { error, code };
}

/**
 * No connection was made; `cause` holds the reason, if there is one.
 *
 * Has no code on purpose: for UND_ERR_SOCKET undici would reconnect at once, thousands of times a second; after an unknown error
 * it gives up.
 */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnection';
}

/** Creates the connections to a proxy, for a proxy agent: undici itself shows the status of a refusal only in a message. */
function connectToProxy(proxy: URL, options: object): Dispatcher {
  const pool = new Pool(proxy, options);
  const connectToTarget: (options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> =
    pool.connect.bind(pool);
  const connect: typeof connectToTarget = async (options) => {
    const opened = await connectToTarget(options);
    const { statusCode: status } = opened;
    if (status === 200) return opened;
    opened.socket.on('error', () => undefined).destroy();
    throw codedError(`proxy_answered_${status}`, `the proxy answered ${status}`, { status }); // Itself, without a tunnel.
  };
  return Object.assign(pool, { connect });
}

/** The options of a proxy agent for its clients: its connector opens the tunnel, and TLS within it. */
type TunnelOptions = Pool.Options & { readonly connect: buildConnector.connector };

export type OpenTunnel = (target: string | URL, options: TunnelOptions) => Dispatcher;

/** Sends through the tunnels of a proxy. @param encryption For the connections to the proxy, and within its tunnels. */
export function createProxyAgent(
  proxyUrl: string,
  options: Pool.Options,
  encryption: buildConnector.BuildOptions,
  openClient: OpenTunnel,
): Dispatcher {
  return new ProxyAgent({
    ...options,
    uri: proxyUrl,
    clientFactory: connectToProxy,
    proxyTunnel: true,
    proxyTls: encryption,
    requestTls: encryption,
    factory: (target, tunnel) => openClient(target, tunnel as TunnelOptions),
  });
}

/** Makes a connector that undici does not call again for the same request. */
export function connectOnce(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (socket) callback(null, socket);
      else callback(new NoConnectionError('not connected', { cause: error }), null);
    });
  };
}

type Meaning = string | ((error: Error) => string);

/** Words for a person, by the beginnings of the codes of Node and undici that they are for. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  'ENOTFOUND EAI_AGAIN': (error) => `the host name ${errorPart(error, 'hostname')} is unknown`,
  ECONNREFUSED: (error) => `nothing listens at ${addressText(error)}`,
  'EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN': (error) => `${addressText(error)} is unreachable`,
  'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_HTTP_REQUEST':
    'https:// speaks TLS to a plain-HTTP port; use http://',
  'CERT_HAS_EXPIRED CERT_NOT_YET_VALID':
    'the certificate has expired, or is not valid yet; check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name; use the name that it holds',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate is not trusted: the server leaves out the one between it and its authority, or the authority is not known here; have the server send its whole chain, or name the file of the missing certificate in NODE_EXTRA_CA_CERTS',
  'DEPTH_ZERO_ SELF_SIGNED_ UNABLE_TO_ CERT_UNTRUSTED':
    'the certificate is not trusted: its authority is not known here; name the file of its certificate in NODE_EXTRA_CA_CERTS',
  HPE_: (error) => `the answer is not HTTP (${error.message}); if this port wants TLS, use https://`,
  broken_head:
    'the head of the answer is not HTTP: it names its length twice, or lines of it end in LF instead of CRLF',
  proxy_answered_407:
    'the proxy answered 407: it requires a user and a password, http://USER:PASSWORD@HOST:PORT in source.proxyUrl',
  proxy_answered_403: 'the proxy answered 403: it does not allow access to this address',
  proxy_answered_: (error) => `the proxy answered ${errorPart(error, 'status')} in the place of the service`,
  too_many_interim_answers: 'interim answers (1xx) came without end, and no answer',
  'UND_ERR_REQ_CONTENT_LENGTH UND_ERR_RES_CONTENT_LENGTH':
    'the body has another length than its header names',
  'UND_ERR_SOCKET ECONNRESET ECONNABORTED EPIPE': (error) => {
    const socket = 'socket' in error ? error.socket : null;
    const isSilent =
      typeof socket === 'object' && socket !== null && 'bytesRead' in socket && socket.bytesRead === 0;
    return isSilent
      ? 'the connection was closed without an answer; if this port wants TLS, use https://'
      : 'the connection was closed before the answer was whole';
  },
  'ETIMEDOUT UND_ERR_CONNECT_TIMEOUT': 'no connection was made in time',
};

/** An error with a code of Node or undici. */
interface CodedError {
  readonly error: Error;
  readonly code: string;
}

/** Words an error by its code: `nothing listens at 127.0.0.1:4010 (ECONNREFUSED)`; without words of ours, by its message. */
export function describeNetworkFault({ error, code }: CodedError): string {
  const meaning = findMeaning(code) ?? `there was no usable answer: ${error.message}`;
  return `${typeof meaning === 'string' ? meaning : meaning(error)} (${code})`;
}

const findMeaning = (code: string): Meaning | undefined =>
  Object.entries(MEANINGS).find(([codes]) =>
    codes.split(' ').some((beginning) => code.startsWith(beginning)),
  )?.[1];

function addressText(error: Error): string {
  const port = errorPart(error, 'port');
  return port === '' ? 'the host' : `${errorPart(error, 'address')}:${port}`;
}

function errorPart(error: Error, name: string): string {
  const value = name in error ? (error as unknown as Record<string, unknown>)[name] : '';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
