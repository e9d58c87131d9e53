import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import * as z from 'zod';
import { readSeenNames } from '../mirror/kinds/field-store.ts';
import { SESSION_COOKIE } from './access/credentials.ts';
import { PROBLEM_TYPE, sendJsonText } from './answer/send.ts';
import { fieldComponents, STORABLE } from './change-body.ts';
import { noBody } from './fields.ts';
import { jsonSchemaOf, writtenExactly } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import type { RouteContext, Server } from './server.ts';

/** The content of an answer that is a page. */
export const PAGE_CONTENT = { 'text/html': { schema: { type: 'string' } } };

const ABOUT =
  'The mirror, the changes for the service, and decisions on both. Other methods of these paths are 405, with `Allow`.';

/** Collects all routes that are registered afterwards into an OpenAPI document. */
export async function describeApi(app: Server, { version }: RouteContext): Promise<void> {
  app.addHook('onRoute', (route) => {
    Object.assign(route, { links: route.schema?.links }); // Clients look for the document under this path.
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'bms-sync', version, description: ABOUT },
      components: {
        schemas: { Problem: PROBLEM, Storable: STORABLE },
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }],
    },
    transform: ({ schema, route, url }) => ({ schema: described(route.config, schema), url }),
  });
}

/** Serves the description of this API, with the fields that the mirror knows by now. */
export function openapiRoute(app: Server, { session, kinds }: RouteContext): void {
  app.get(
    '/openapi.json',
    { schema: { summary: 'Describe this API', tags: ['Health'], response: { 200: z.looseObject({}) } } },
    async (_request, reply) => {
      const names = kinds.map(({ name }) => name);
      const seen = await readSeenNames(session, names);
      return sendJsonText(reply, descriptionOf(app, fieldComponents(kinds, seen)));
    },
  );
}

const SENT = ['querystring', 'params', 'headers', 'body'];

/** A route's schema with JSON Schemas in the place of zod's. */
function described(config: FastifyContextConfig = {}, schema: FastifySchema = {}): Record<string, unknown> {
  const { toldBody, response, ...parts } = schema;
  const told = Object.entries(parts).filter(
    ([name, part]) => !['refusals', 'links'].includes(name) && part !== noBody,
  );
  return {
    ...Object.fromEntries(told.map(([name, part]) => [name, SENT.includes(name) ? sent(part) : part])),
    ...(toldBody && { body: { content: { 'application/json': { schema: toldBody } } } }),
    response: { ...answers(response), ...refusalsOf(schema, config) },
  };
}

const sent = (part: unknown): unknown => (part instanceof z.ZodType ? jsonSchemaOf(part, 'input') : part);

function answers(response: unknown): Record<string, unknown> {
  const all = Object.entries((response ?? {}) as Readonly<Record<string, z.ZodType | JsonSchema>>);
  return Object.fromEntries(
    all.map(([status, schema]) => [
      status,
      schema instanceof z.ZodType ? { description: 'Done', ...jsonSchemaOf(schema, 'output') } : schema,
    ]),
  );
}

interface Operation {
  readonly requestBody?: {
    required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
}

/** The document as JSON text; `schemas` are further components. */
function descriptionOf(app: Server, schemas: Readonly<Record<string, JsonSchema>>): string {
  const document = app.swagger();
  for (const path of Object.values(document.paths ?? {}))
    for (const { requestBody } of Object.values(path as Readonly<Record<string, Operation>>))
      if (requestBody !== undefined)
        requestBody.required = !Object.values(requestBody.content).some(takesNull);
  const { components } = document as { readonly components?: { readonly schemas?: object } };
  return writtenExactly({
    ...document,
    components: { ...components, schemas: { ...components?.schemas, ...schemas } },
  });
}

/** A body that may be null may be left out. */
function takesNull({ schema: { anyOf } }: { readonly schema: JsonSchema }): boolean {
  return Array.isArray(anyOf) && (anyOf as readonly JsonSchema[]).some(({ type }) => type === 'null');
}

const PROBLEM: JsonSchema = jsonSchemaOf(
  z.object({
    type: z.string().describe('urn:bms-sync:problem: and the code'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    code: z.string().describe('stable name of the fault'),
    hint: z.string().optional().describe('what can be done about it'),
    id: z.string().optional().describe('of a fault of the server: the log has it under this'),
    reasons: z
      .array(z.string())
      .optional()
      .describe('of /ready, with the token: what keeps it from its work'),
  }),
  'output',
);

const WHY: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or does not fit this description',
  401: 'No token, or a wrong one',
  403: 'A page of another origin asked, or no token is set',
  404: 'There is nothing of that name or number',
  408: 'The request took too long',
  409: 'It cannot be done now, or the key belongs to another request',
  413: 'The body is too large',
  415: 'A body of this type is not understood',
  421: 'The server does not answer under that host name',
  422: 'It does not fit the catalogue',
  429: 'Too many wrong tokens came from this address',
  500: 'A fault of the server',
  503: 'It cannot do its work now',
};

const HEADERS: Readonly<Record<number, Readonly<Record<string, JsonSchema>>>> = {
  401: { 'www-authenticate': { type: 'string' } },
  429: { 'retry-after': { type: 'integer', description: 'seconds' } },
  503: { 'retry-after': { type: 'integer', description: 'seconds' } },
};

const EVERYWHERE = [400, 403, 421, 500, 503];
const OF_BODIES = [408, 413, 415];
const PROBLEM_CONTENT = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };

/** Every refusal of a route, by status. */
function refusalsOf(schema: FastifySchema, config: FastifyContextConfig): JsonSchema {
  const statuses = [
    ...EVERYWHERE,
    ...(config.open === true ? [] : [401, 429]),
    ...(schema.params === undefined ? [] : [404]),
    ...(schema.body === undefined ? [] : OF_BODIES),
    ...(schema.refusals ?? []),
  ];
  const answers = statuses.map((status) => [String(status), refusal(status, config)] as const);
  const other = { description: 'Why it was not carried out', content: PROBLEM_CONTENT };
  return { ...Object.fromEntries(answers), default: other };
}

function refusal(status: number, config: FastifyContextConfig): JsonSchema {
  const showsForm = [401, 429].includes(status) && (config.signsIn === true || config.takesForms === true);
  return {
    description: WHY[status] ?? STATUS_CODES[status] ?? '',
    ...(HEADERS[status] && { headers: HEADERS[status] }),
    content: { ...PROBLEM_CONTENT, ...(showsForm && PAGE_CONTENT) },
  };
}
