import { errors, type Dispatcher } from 'undici';
import type { Clock } from '../../lib/time/clock.ts';
import { createByteBuffer } from '../../lib/net/byte-buffer.ts';
import { createInterimAnswerCounter } from '../../lib/net/interim-answers.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { SourceError } from './errors.ts';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { codedError, errorCode } from '../../lib/sync-error.ts';

/** An answer as it came: any status, the body unpacked and unread; where it cannot be unpacked, its content-encoding stays. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
  /** The bytes are packed, and end too early. */
  readonly isCutShort?: boolean;
}

/** An answer with the circumstances that its reading needs. */
export interface ReceivedAnswer extends HttpAnswer {
  readonly where: string;
  readonly receivedAt: Date;
  /** Whose token asked for it, by a digest. */
  readonly holder: string;
  /** Runs a reader of this answer, now or later, with the token redacted from errors. */
  readonly withRedactedErrors: <T>(read: () => T) => T;
}

interface HttpRequest {
  /** With the query, without the base URL's own path. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly where: string;
}

export interface SendRequest extends HttpRequest {
  readonly method: 'POST' | 'PUT';
  readonly body: string;
  /** Called just before the request is written, which may be long after the connection was requested. */
  readonly canSend?: (() => boolean) | undefined;
}

/** A write without an answer; `why` is a stable word, or the error code of Node or undici, without the token. */
export type UnansweredWrite =
  /** No byte of the request was handed to a socket. */
  | { readonly is: 'unsent'; readonly why: string }
  /** It may have been sent, and no whole answer came. */
  | { readonly is: 'lost'; readonly why: string };

export type SentAnswer = UnansweredWrite | ({ readonly is: 'answered' } & HttpAnswer);

/** Sends single requests to one host: nothing is followed, repeated or remembered. */
export interface HttpClient {
  /** @throws {SourceError} too_big, timeout; other errors are those of undici. */
  get(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Sends a write, over a connection of its own; throws on bugs only. */
  send(request: SendRequest, signal: AbortSignal): Promise<SentAnswer>;
  destroy(): Promise<void>;
}

/** The settings under `source`. */
export interface SourceSettings {
  /** May have a path of its own; list paths are appended to it. */
  readonly baseUrl: string;
  readonly token: string;
  /** Called when the service refused a token; true if `token` is now another one. */
  readonly renewToken?: ((refused: string) => boolean) | undefined;
  /** Requests under way at once, over all kinds. */
  readonly concurrency: number;
  readonly requestsPerSecond: number | null;
  /** Total deadline of one attempt, from connecting to the last byte. */
  readonly timeoutSeconds: number;
  readonly maxAttempts: number;
  readonly maxBodyBytes: number;
  /** Headers that carry the token: the three spellings of §5, the one documented for the endpoint, or these. */
  readonly authHeaders: 'all' | 'documented' | readonly string[];
  readonly proxyUrl: string | null;
  /** Records to ask for on a page (`per_page`), where the list documents it. */
  readonly pageSize: number;
}

export interface SourceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 up to 1; spreads the waits between attempts. */
  readonly random?: () => number;
  /** Replaces the HTTP client in tests. */
  readonly openHttp?: (settings: SourceSettings) => HttpClient;
}

interface ReceiveOptions {
  readonly maxBytes: number;
  readonly where: string;
  /** Ends it at once, also while there is no connection yet. */
  readonly signal: AbortSignal;
  /** The time after which the request is ended; without it, only the signal ends it. */
  readonly timeoutMs?: number;
  /** Called when the answer begins; an error that it throws ends the request. */
  readonly onBegin?: () => void;
}

/**
 * Sends a request and collects its answer, up to the allowed size, which counts what is unpacked, too.
 * @throws {SourceError} too_big, timeout; other errors are those of undici.
 */
export async function receive(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ReceiveOptions,
): Promise<HttpAnswer> {
  const answer = await collect(dispatcher, request, options);
  const { 'content-encoding': encoding, ...headers } = answer.headers;
  const unpack = UNPACK.get(
    String(encoding ?? '')
      .trim()
      .toLowerCase(),
  );
  if (unpack === undefined) return answer;
  if (answer.bytes.length === 0) return { ...answer, headers };
  const { maxBytes } = options;
  try {
    return { ...answer, headers, bytes: await unpack(answer.bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooBig(options, `more than ${maxBytes} unpacked`);
    // Zlib's other errors mean that the bytes are not packed like this.
    return { ...answer, isCutShort: errorCode(error) === 'Z_BUF_ERROR' };
  }
}

type Unpack = (bytes: Uint8Array, bounds: { readonly maxOutputLength: number }) => Promise<Buffer>;

const zip: Unpack = promisify(unzip);

/** By content-encoding. We ask for gzip; a proxy that packs unasked may choose another. */
const UNPACK: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', zip],
  ['x-gzip', zip],
  ['deflate', zip],
  ['br', promisify(brotliDecompress)],
]);

/** Takes the bytes as undici hands them out: a stream around each body would cost as much as the rest of a request. */
function collect(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ReceiveOptions,
): Promise<HttpAnswer> {
  let head: Pick<HttpAnswer, 'status' | 'headers'> = { status: 0, headers: {} };
  const body = createByteBuffer(options.maxBytes);
  const countInterim = createInterimAnswerCounter();
  const refuseTooBig = (bytes: number, got: string): void => {
    if (bytes > options.maxBytes) throw tooBig(options, got); // Thrown in a handler, it ends the exchange.
  };
  return new Promise((resolve, reject) => {
    let control: Dispatcher.DispatchController | null = null;
    let stopReason: Error | null = null;
    const { signal, isTimedOut, release } = createDeadline(options.timeoutMs ?? null, [options.signal]);
    const stop = (): void => {
      release();
      const why = isTimedOut() ? timedOut(options, head.status) : new errors.RequestAbortedError();
      stopReason = why;
      reject(why);
      control?.abort(why);
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        control = controller;
        if (stopReason) controller.abort(stopReason); // While it was connecting.
      },
      onResponseStart: (_controller, status, headers) => {
        if (status < 200) {
          countInterim(); // The answer is still to come.
          return;
        }
        options.onBegin?.();
        const declared = Number(headers['content-length'] ?? 0);
        refuseTooBig(declared, String(declared));
        head = { status, headers };
      },
      onResponseData: (_controller, chunk) => {
        refuseTooBig(body.size + chunk.length, `more than ${options.maxBytes}`);
        body.add(chunk);
      },
      onResponseEnd: () => {
        release();
        resolve({ ...head, bytes: body.bytes() });
      },
      onResponseError: (_controller, error) => {
        release();
        // Before a status came, undici has read a length in the head that is none.
        const isHead = head.status === 0 && error instanceof errors.ResponseContentLengthMismatchError;
        reject(isHead ? codedError('broken_head', error.message) : error);
      },
    });
  });
}

function timedOut({ where, timeoutMs = 0 }: ReceiveOptions, status: number): SourceError {
  const message = `${where}: got no whole answer within ${timeoutMs / 1000} s`;
  return new SourceError('timeout', message, { status });
}

function tooBig(options: ReceiveOptions, got: string): SourceError {
  return new SourceError(
    'too_big',
    `${options.where}: got ${got} bytes, expected at most ${options.maxBytes}`,
  );
}
