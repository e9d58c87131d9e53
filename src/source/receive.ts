import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import { SourceError } from './errors.ts';

/** An answer as it came: any status, the body unread. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
}

export interface Reception {
  readonly maxBytes: number;
  readonly where: string;
  /** Ends it at once, also while there is no connection yet. */
  readonly signal: AbortSignal;
  /** Called when the answer begins; what it throws ends it. */
  readonly onBegin?: () => void;
}

/**
 * Sends a request and gathers its answer, never more of it than allowed.
 *
 * The bytes are taken as undici hands them out: a stream around each body would cost as much as the rest of a request.
 *
 * @throws {SourceError} too_big; anything else is what undici threw.
 */
export function receive(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  reception: Reception,
): Promise<HttpAnswer> {
  const { signal } = reception;
  return new Promise((resolve, reject) => {
    const { answer, ...taking } = gather(reception);
    let control: Dispatcher.DispatchController | null = null;
    const interrupt = (): void => {
      const error = new errors.RequestAbortedError();
      reject(error);
      control?.abort(error);
    };
    const release = (): void => {
      signal.removeEventListener('abort', interrupt);
    };
    if (signal.aborted) {
      interrupt();
      return;
    }
    signal.addEventListener('abort', interrupt, { once: true });
    dispatcher.dispatch(request, {
      ...taking,
      onRequestStart: (controller) => {
        control = controller;
        if (signal.aborted) interrupt(); // While it was connecting.
      },
      onResponseEnd: () => {
        release();
        resolve(answer());
      },
      onResponseError: (_controller, error) => {
        release();
        reject(error);
      },
    });
  });
}

type Taking = Required<Pick<Dispatcher.DispatchHandler, 'onResponseStart' | 'onResponseData'>>;

/** Gathers an answer, however its body is cut up; what this throws, undici makes the end of the exchange. */
function gather({ maxBytes, where, onBegin }: Reception): Taking & { readonly answer: () => HttpAnswer } {
  let head: Pick<HttpAnswer, 'status' | 'headers'> = { status: 0, headers: {} };
  let size = 0;
  const chunks: Buffer[] = [];
  const allow = (bytes: number, got: string): void => {
    if (bytes > maxBytes)
      throw new SourceError('too_big', `${where}: got ${got} bytes, expected at most ${maxBytes}`);
  };
  return {
    onResponseStart: (_controller, status, headers) => {
      if (status < 200) return; // Informational: the answer is still to come.
      onBegin?.();
      const declared = Number(headers['content-length'] ?? 0);
      allow(declared, String(declared));
      head = { status, headers };
    },
    onResponseData: (_controller, chunk) => {
      size += chunk.length;
      allow(size, `more than ${maxBytes}`);
      chunks.push(chunk);
    },
    answer: () => {
      const [only] = chunks;
      return {
        ...head,
        bytes: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size),
      };
    },
  };
}
