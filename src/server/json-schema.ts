import { z } from 'zod';

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
