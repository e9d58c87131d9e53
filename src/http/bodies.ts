import type { FastifyRequest } from 'fastify';
import { DEEPEST, isDeeper, parseJson } from '../lib/json/json.ts';
import type { Json } from '../lib/json/json.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { Server } from './server.ts';

/** Deeper than any value that can be stored, so that the check of the field itself refuses it and names the field. */
const DEEPEST_BODY = 2 * DEEPEST;

/** Reads bodies of JSON without rounding a number, and no others. */
export function readBodies(app: Server): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer) => Promise.resolve(readJson(body)),
  );
}

/** @throws {UsageError} `http.not_json`. */
function readJson(body: Buffer): Json {
  if (body.length === 0) return null;
  try {
    const json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (!isDeeper(json, DEEPEST_BODY)) return json;
  } catch (error) {
    if (![SyntaxError, RangeError, TypeError].some((fault) => error instanceof fault)) throw error;
  }
  throw new UsageError('The body is not JSON.', {
    code: 'http.not_json',
    hint: `Send one JSON document in UTF-8, nested no deeper than ${DEEPEST_BODY} levels.`,
  });
}
