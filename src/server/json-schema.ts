import { z } from 'zod';
import { UsageError } from '../lib/sync-error.ts';
import type { Server } from './server.ts';

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
