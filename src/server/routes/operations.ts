import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { JsonObject } from '../../lib/json/json.ts';
import { OPERATIONS } from '../../operations/all.ts';
import { placesIn } from '../../operations/operation.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { sentence } from '../pages/parts/html.ts';
import { sendJson } from '../answer/send.ts';
import type { RouteContext, Server } from '../server.ts';

/** The routes of the API for all that a person may do. */
export function operationRoutes(app: Server, context: RouteContext): void {
  for (const operation of OPERATIONS) {
    const { path, words, answer, status = 200 } = operation;
    const summary = sentence(words.summary).slice(0, -1);
    const schema = {
      summary,
      tags: tagsOf(operation),
      ...inputOf(operation),
      response: { [status]: answer },
    };
    app.post(`/v1${path}`, { schema }, async (request, reply) => {
      const document = await carryOut(operation, context, { request, via: 'the HTTP API' });
      return sendJson(reply.code(status), document);
    });
  }
}

/** Its part of the API, by the first word of its address. */
const tagsOf = ({ path }: AnyOperation): readonly string[] => [
  sentence(path.split('/')[1] ?? '').slice(0, -1),
];

/** The schemas of the path and of the body; `more` are further members of the body. */
export function inputOf(operation: AnyOperation, more: z.ZodRawShape = {}) {
  const places = placesIn(operation);
  const members = Object.entries(operation.input.shape);
  const params = z.strictObject(Object.fromEntries(members.filter(([name]) => places.includes(name))));
  const rest = members.filter(([name]) => !places.includes(name));
  const body = z.strictObject({ ...Object.fromEntries(rest), ...more });
  const mayLack = body.safeParse({}).success;
  return { ...(places.length > 0 && { params }), body: mayLack ? body.nullable() : body };
}

interface Asking {
  readonly request: FastifyRequest;
  readonly via: string;
}

/** Carries an operation out, and wakes the engine: rows may have become due. */
export async function carryOut(
  operation: AnyOperation,
  context: RouteContext,
  { request, via }: Asking,
): Promise<JsonObject> {
  const given = { ...(request.params as object), ...(request.body as object | null) };
  const known = Object.entries(given).filter(([name]) => name in operation.input.shape);
  const parts = { ...context, signal: context.closing, via };
  const document = await operation.run(parts, Object.fromEntries(known));
  context.wakeEngine();
  return document;
}
