import * as z from 'zod';
import { UsageError } from '../lib/sync-error.ts';
import type { Server } from './server.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of a request or an answer. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const json: Record<string, unknown> = z.toJSONSchema(schema, {
    ...{ io, target: 'draft-2020-12', unrepresentable: 'any' },
    override: ({ jsonSchema }) => {
      if (jsonSchema.enum !== undefined) delete jsonSchema.maxLength;
      if (jsonSchema.type !== 'integer') return;
      delete jsonSchema.pattern; // In a URL a number is a text; `meta` declares it as a number.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  delete json['$schema'];
  return json;
}

const PARTS: Readonly<Record<string, string>> = {
  body: 'body',
  headers: 'header',
  params: 'path',
  querystring: 'query',
};

/** Checks requests by the schemas of their routes; routes write their answers themselves. */
export function validateByZod(app: Server): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = '' }) => (data: unknown) => {
    const { success, data: value, error } = schema.safeParse(data);
    return success ? { value } : { error: invalid(PARTS[httpPart] ?? httpPart, error) };
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

const FAULTS_TOLD = 10;

function invalid(part: string, { issues }: z.ZodError): UsageError {
  const faults = issues.slice(0, FAULTS_TOLD).map(({ path, message }) => {
    const where = [part, ...(path.length === 0 ? [] : [path.map(String).join('.')])].join(' ');
    return `${where}: ${message}`;
  });
  return new UsageError(`${faults.join('; ')}.`, {
    code: 'http.invalid_request',
    hint: 'GET /openapi.json describes the expected requests.',
  });
}

const digits = (count: number): string => (count === 0 ? '' : count === 1 ? '[0-9]' : `[0-9]{${count}}`);

/**
 * A pattern of the whole numbers from 1 to `largest`, which is given by its digits: JSON Schema has no other way to bound a
 * number in a text.
 */
export function patternUpTo(largest: string): string {
  const shorter = largest.length < 2 ? [] : [`[1-9][0-9]{0,${largest.length - 2}}`];
  const belowAt = Array.from(largest, (digit, place) => {
    const [least, most] = [place === 0 ? 1 : 0, Number(digit) - 1];
    if (most < least) return null;
    const range = least === most ? String(least) : `[${least}-${most}]`;
    return `${largest.slice(0, place)}${range}${digits(largest.length - place - 1)}`;
  });
  return [...shorter, ...belowAt.filter((one) => one !== null), largest].join('|');
}

/** The largest integer of 64 bits. */
export const LARGEST_INTEGER = '9223372036854775807';
const LEAST_INTEGER = '-9223372036854775808';

/** Placeholders for these bounds, which JS numbers cannot hold exactly. */
export const LARGEST_BOUND = Number(LARGEST_INTEGER);
export const LEAST_BOUND = Number(LEAST_INTEGER);

/** Writes a document with the exact bounds in place of the placeholders. */
export function writtenExactly(document: unknown): string {
  return JSON.stringify(document)
    .replaceAll(JSON.stringify(LEAST_BOUND), LEAST_INTEGER)
    .replaceAll(JSON.stringify(LARGEST_BOUND), LARGEST_INTEGER);
}
