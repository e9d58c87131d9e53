import { isArray, isObject, parseJson } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';
import { excerpt, SourceError } from './errors.ts';

const DEEPEST = 64;

/**
 * Reads a body as UTF-8 JSON, and refuses what would have to be guessed.
 *
 * @throws {SourceError} not_utf8, empty_body, html, not_json, too_deep
 */
export function parseBody(bytes: Uint8Array, where: string): Json {
  const text = decodeUtf8(bytes, where);
  if (text.trim() === '') throw new SourceError('empty_body', `${where}: got an empty body, expected JSON`);
  const value = parse(text, where);
  if (isDeeper(value, DEEPEST)) throw tooDeep(where);
  return value;
}

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SourceError('not_utf8', `${where}: got bytes that are no UTF-8`, { cause: error });
  }
}

function parse(text: string, where: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(where, error);
    if (!(error instanceof SyntaxError)) throw error;
    const reason = text.trimStart().startsWith('<') ? 'html' : 'not_json';
    throw new SourceError(reason, `${where}: got ${excerpt(text)}, expected JSON`);
  }
}

function tooDeep(where: string, cause?: unknown): SourceError {
  return new SourceError('too_deep', `${where}: got JSON nested deeper than ${DEEPEST} levels`, { cause });
}

/** Whether a value is nested deeper than `levels`; looks no deeper than that itself. */
function isDeeper(value: Json, levels: number): boolean {
  if (!isArray(value) && !isObject(value)) return false;
  if (levels === 0) return true;
  const members = isArray(value) ? value : Object.values(value);
  return members.some((member) => isDeeper(member, levels - 1));
}
