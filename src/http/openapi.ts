import swagger from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform, serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import * as z from 'zod';
import { changeDocument } from '../events/follow-changes.ts';
import { anyJson } from '../lib/json/document.ts';
import { capitalize } from '../lib/text/text.ts';
import { SESSION_COOKIE } from './credentials.ts';
import { recordSchemas } from './record-schemas.ts';
import { PROBLEM_TYPE, sendJsonText } from './send.ts';
import type { RouteContext, Server } from './server.ts';

/** The answer of a route that sends a page. */
export const pageAnswer = (description: string) => ({
  description,
  content: { 'text/html': { schema: z.string() } },
});

/** Checks requests by the schemas of all routes that are added afterwards, and collects these into an OpenAPI document. */
export async function describeApi(app: Server, context: RouteContext): Promise<void> {
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook('onRoute', (route) => {
    const schema = route.schema ?? {};
    const query = route.url.startsWith('/v1/') && { querystring: strictQuery(schema.querystring) };
    const operationId = schema.operationId ?? operationIdOf(String(route.method), route.url);
    route.schema = {
      ...schema,
      ...query,
      operationId,
      tags: schema.tags ?? [tagOf(route.url)],
      response: { ...(schema.response as object), default: REFUSAL },
    };
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'bms-sync',
        version: context.version,
        description: 'The mirror, the changes for the service, and decisions on both.',
      },
      components: {
        schemas: {
          ...recordSchemas(context.kinds),
          Change: CHANGE,
        },
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }],
    },
    transform: (route) => jsonSchemaTransform({ ...route, schema: withoutEmptyBody(route.schema) }),
  });
}

/** Leaves out a body that has no members: generators make of it one that nobody can write. */
function withoutEmptyBody(schema: FastifySchema): FastifySchema {
  const { body, ...rest } = schema;
  const inner = body instanceof z.ZodNullable ? body.unwrap() : body;
  const isEmpty = inner instanceof z.ZodObject && Object.keys(inner.shape).length === 0;
  return isEmpty ? rest : schema;
}

/** Refuses parameters that a route of the API does not know: with a mistyped filter, it would answer for everything. */
const strictQuery = (schema: unknown) => z.strictObject(schema instanceof z.ZodObject ? schema.shape : {});

/** Names an operation by its route: `GET /v1/runs/:id` is `getRunsId`. */
const operationIdOf = (method: string, url: string): string =>
  method.toLowerCase() +
  url.replace(/^\/v1/, '').replace(/[^a-z0-9]+(\w?)/gi, (_, letter: string) => letter.toUpperCase());

/** The group of a route of the API: the part of its address below `/v1`; other routes without a tag of their own are of pages. */
const tagOf = (url: string): string => capitalize(/^\/v1\/(\w+)/.exec(url)?.[1] ?? 'pages');

/** An event of the stream and of the pages. */
const CHANGE: object = z.toJSONSchema(changeDocument, { unrepresentable: 'any' });

const OF_BROWSERS = ['Pages', 'Sign-in'];

/** Serves the description of this API, without the pages and forms of the dashboard. */
export function openapiRoute(app: Server): void {
  const schema = {
    summary: 'Describe this API',
    tags: ['Health'],
    response: { 200: z.record(z.string(), anyJson) },
  };
  app.get('/openapi.json', { schema }, (_request, reply) => {
    const api = app.swagger();
    return sendJsonText(reply, JSON.stringify({ ...api, paths: pathsOfPrograms(api.paths) }));
  });
}

function pathsOfPrograms(paths: object = {}): object {
  const isOfBrowsers = (operation: { readonly tags?: readonly string[] }): boolean =>
    operation.tags?.some((tag) => OF_BROWSERS.includes(tag)) === true;
  return Object.fromEntries(
    Object.entries(paths).filter(([, methods]) => !Object.values(methods as object).some(isOfBrowsers)),
  );
}

const problem = z.object({
  type: z.string().describe('urn:bms-sync:problem: and the code'),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: z.string().describe('stable name of the fault'),
  hint: z.string().optional().describe('what can be done about it'),
  id: z.string().optional().describe('of a fault of the server: the log has it under this'),
  reasons: z.array(z.string()).optional().describe('of /ready, with the token'),
});

const REFUSAL = {
  description: 'Why it was not carried out',
  content: { [PROBLEM_TYPE]: { schema: problem } },
};
