import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { z } from 'zod';
import { readSeenNames } from '../../mirror/kinds/seen-names.ts';
import { SESSION_COOKIE } from '../access/session-cookie.ts';
import { sendJsonText } from '../answer/json.ts';
import { noBody } from '../fields.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { RouteContext, Server } from '../server.ts';
import { STORABLE, fieldComponents } from './change-body.ts';
import type { JsonSchema } from './change-body.ts';
import { PROBLEM, refusalsOf } from './problems.ts';
import { writtenExactly } from './whole-numbers.ts';

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
