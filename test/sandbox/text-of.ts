import { compactJson, type Json } from '../../src/lib/json/json.ts';

/** A field's text as it is, anything else as JSON. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : compactJson(value ?? null);
}
