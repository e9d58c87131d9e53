import { isObject, parseJson } from '../lib/json.ts';
import type { JsonObject } from '../lib/json.ts';

/** Parses a body as a JSON object; null if it is not one. */
export function readObject(body: string): JsonObject | null {
  try {
    const value = parseJson(body);
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}
