import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorCodes } from 'fastify';
import type { FastifyRequest } from 'fastify';
import { DEEPEST, isDeeper, parseJson } from '../lib/json/json.ts';
import type { Json } from '../lib/json/json.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { Server } from './server.ts';

/** Deeper than any value that can be stored, so that the check of the field itself refuses it and names the field. */
const DEEPEST_BODY = 2 * DEEPEST;

/** Reads bodies: JSON without rounding a number, and the sign-in form where a route takes forms. */
export function readBodies(app: Server): void {
  const bytesOf = bodyReader(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) =>
    readJson(await bytesOf(request)),
  );
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) => {
    if (request.routeOptions.config.takesForms !== true)
      throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    const text = (await bytesOf(request)).toString('utf8');
    return Object.fromEntries(new URLSearchParams(text));
  });
  closeAfterEarlyAnswers(app);
}

/**
 * Reads bodies within the limits of their routes. A client that sends `Expect: 100-continue` is answered only once its body
 * is allowed.
 */
function bodyReader(app: Server): (request: FastifyRequest) => Promise<Buffer> {
  const asking = new WeakMap<IncomingMessage, ServerResponse>();
  app.server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    asking.set(request, answer);
    app.server.emit('request', request, answer);
  });
  return async ({ raw, routeOptions: { bodyLimit, config } }) => {
    const bounds = { bytes: bodyLimit, ms: config.bodyMs };
    refuseLarge(raw, bounds);
    asking.get(raw)?.writeContinue();
    return await receiveBody(raw, bounds);
  };
}

/** An answer before the end of the body is the last one on its connection: the next bytes could be the rest of the body. */
function closeAfterEarlyAnswers(app: Server): void {
  app.addHook('onSend', (request, reply) => {
    if (!request.raw.complete) void reply.header('connection', 'close');
    return Promise.resolve();
  });
}

/** @throws {UsageError} `http.not_json`. */
function readJson(body: Buffer): Json {
  if (body.length === 0) return null;
  try {
    const json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (!isDeeper(json, DEEPEST_BODY)) return json;
  } catch (error) {
    const isNotJson =
      error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError;
    if (!isNotJson) throw error;
  }
  throw new UsageError('The body is not JSON.', {
    code: 'http.not_json',
    hint: `Send one JSON document in UTF-8, nested no deeper than ${DEEPEST_BODY} levels.`,
  });
}

interface BodyLimits {
  readonly bytes: number;
  /** Milliseconds in which the body must arrive; by default, the time limit of the whole request. */
  readonly ms?: number | undefined;
}

/** @throws {UsageError} `http.body_too_large` if the header `Content-Length` says so, before the body is read. */
function refuseLarge({ headers }: Pick<IncomingMessage, 'headers'>, { bytes }: BodyLimits): void {
  if (Number(headers['content-length'] ?? 0) > bytes) throw tooLarge(bytes);
}

/**
 * Reads the body of a request; bytes after a refusal are thrown away. Never resolves if the client leaves before the end.
 *
 * @throws {UsageError} `http.body_too_large`; `http.too_slow`.
 */
function receiveBody(body: IncomingMessage, { bytes, ms }: BodyLimits): Promise<Buffer> {
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
