import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { documentOf, type DocumentOf } from '../lib/json/document.ts';
import { compactJson } from '../lib/json/json.ts';

/** Why a request was refused, in the form of RFC 9457. */
export interface Problem {
  readonly status: number;
  /** Stable name of the fault, for programs. */
  readonly code: string;
  readonly detail: string;
  readonly hint?: string | undefined;
  /** A remedy for programs, which a page does not show. */
  readonly apiHint?: string;
  /** What `detail` lists by paths, for pages: by the names of fields. */
  readonly faults?: readonly (readonly [field: string, message: string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Members beyond those of every problem. */
  readonly more?: Readonly<Record<string, string | number | readonly string[]>>;
}

/** The media type of a problem. */
export const PROBLEM_TYPE = 'application/problem+json';

/** Writes a problem as JSON. */
export function problemText({ status, code, detail, apiHint, hint = apiHint, more }: Problem): string {
  const title = STATUS_CODES[status] ?? 'Error';
  return JSON.stringify({ type: `urn:bms-sync:problem:${code}`, title, status, detail, code, hint, ...more });
}

/** Sends a problem with its status and headers. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .headers({ ...problem.headers })
    .type(PROBLEM_TYPE)
    .send(Buffer.from(problemText(problem))); // For a string, Fastify would add a charset, which this media type does not have.
}

/** Whether a browser asks for a page to look at. */
export const wantsPage = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.includes('text/html');

export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Sends the document of a schema; a number of a record keeps its digits. */
export function sendDocument<Schema extends z.ZodType>(
  reply: FastifyReply,
  schema: Schema,
  document: DocumentOf<Schema>,
): FastifyReply {
  return sendJsonText(reply, compactJson(documentOf(schema, document)));
}

/** Fires once the caller has gone or the server closes. */
export function abortWhenGone(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const release = (): void => {
    closing.removeEventListener('abort', release); // The signal outlives all requests: listeners would keep them in memory.
    gone.abort();
  };
  closing.addEventListener('abort', release, { once: true });
  reply.raw.once('close', release);
  if (closing.aborted || reply.raw.closed || reply.raw.destroyed) release();
  return gone.signal;
}
