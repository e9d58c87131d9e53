import swagger from '@fastify/swagger';
import { z } from 'zod';
import { SESSION_COOKIE } from '../access/session-cookie.ts';
import { sendJsonText } from '../answer/json.ts';
import { PROBLEM_TYPE } from '../answer/problem.ts';
import { noBody } from '../fields.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { Server } from '../server.ts';

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe('stable name of the fault'),
  hint: z.string().optional().describe('what can be done about it'),
});

const FAILED = {
  default: {
    description: 'Why it was not carried out',
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  },
};

/** Collects the routes from here on into an OpenAPI document. */
export async function describeApi(app: Server, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'bms-sync',
        version,
        description: 'The mirror, what is on its way, and decisions on both.',
      },
      components: {
        schemas: { Problem: jsonSchemaOf(problem, 'output') },
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }],
    },
    transform: ({ schema, url }) => ({ schema: described({ ...schema }), url }),
  });
}

const SENT = ['querystring', 'params', 'headers', 'body'];

/** A route's schema with JSON Schemas in the place of zod's. */
function described(schema: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const told = Object.entries(schema).filter(([, part]) => part !== noBody);
  const parts = told.map(([name, part]): [string, unknown] => {
    if (SENT.includes(name) && part instanceof z.ZodType) return [name, jsonSchemaOf(part, 'input')];
    return name === 'response' ? [name, { ...answers(part), ...FAILED }] : [name, part];
  });
  return { response: FAILED, ...Object.fromEntries(parts) };
}

function answers(response: unknown): Record<string, unknown> {
  const all = Object.entries(response as Readonly<Record<string, z.ZodType>>);
  return Object.fromEntries(
    all.map(([status, schema]) => [status, { description: 'Done', ...jsonSchemaOf(schema, 'output') }]),
  );
}

/** Serves the document. */
export function openapiRoute(app: Server): void {
  app.get(
    '/openapi.json',
    { schema: { summary: 'Describe this API', tags: ['Health'], response: { 200: z.looseObject({}) } } },
    (_request, reply) => sendJsonText(reply, JSON.stringify(app.swagger())),
  );
}
