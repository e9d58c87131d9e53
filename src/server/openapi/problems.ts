import { STATUS_CODES } from 'node:http';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { z } from 'zod';
import { PROBLEM_TYPE } from '../answer/problem.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { JsonSchema } from './change-body.ts';

export const PROBLEM: JsonSchema = jsonSchemaOf(
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
export const PAGE_CONTENT = { 'text/html': { schema: { type: 'string' } } };

/** Every refusal of a route, by status. */
export function refusalsOf(schema: FastifySchema, config: FastifyContextConfig): JsonSchema {
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
