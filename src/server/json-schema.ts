import { z } from 'zod';

/** The JSON Schema of what a caller sends, or of what is answered. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const json: Record<string, unknown> = z.toJSONSchema(schema, {
    ...{ io, target: 'draft-2020-12', unrepresentable: 'any' },
    override: ({ jsonSchema }) => {
      if (jsonSchema.enum !== undefined) delete jsonSchema.maxLength;
      if (jsonSchema.type !== 'integer') return;
      delete jsonSchema.pattern; // In a URL a number is a text, which `meta` declares as what it stands for.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  delete json['$schema'];
  return json;
}
