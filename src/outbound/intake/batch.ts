import { isObject, parseJson } from '../../lib/json.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EntryRequest } from './entry-request.ts';

const KEYS: readonly string[] = ['operation', 'kind', 'id', 'data', 'key', 'base', 'allowUnknown'];

/**
 * Reads requests from NDJSON, one object a line, without blank lines. Unreadable lines are reported when all are
 * checked.
 */
export function readBatch(text: string): EntryRequest[] {
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), where: `line ${index + 1}` }))
    .filter(({ line }) => line !== '')
    .map(({ line, where }) => readLine(line, where));
}

function readLine(line: string, where: string): EntryRequest {
  const read = objectOf(line);
  if (read === null) return { ...NOTHING, where, unreadable: ['expected a JSON object'] };
  const unknown = Object.keys(read).filter((name) => !KEYS.includes(name));
  if (unknown.length > 0) {
    const fault = `unknown: ${unknown.join(', ')}; an entry has ${KEYS.join(', ')}`;
    return { ...NOTHING, where, unreadable: [fault] };
  }
  const { operation, kind, id, data, key, base, allowUnknown } = read;
  return { operation, kind, id, data, key, base, allowUnknown, where };
}

const NOTHING = { operation: undefined, kind: undefined, data: undefined } as const;

type Read = { readonly [K in keyof JsonObject]?: JsonObject[K] };

function objectOf(line: string): Read | null {
  try {
    const value = parseJson(line);
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}
