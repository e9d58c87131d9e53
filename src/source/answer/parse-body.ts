import { parseJson } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { excerpt, SourceError } from '../http/errors.ts';

/**
 * Parses a body as UTF-8 JSON, and refuses a body that would have to be guessed.
 *
 * @throws {SourceError} not_utf8, empty_body, html, not_json, too_deep
 */
export function parseBody(bytes: Uint8Array, where: string): Json {
  const text = decodeUtf8(bytes, where);
  if (text.trim() === '') throw new SourceError('empty_body', `${where}: got an empty body, expected JSON`);
  return parse(text, where);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SourceError('not_utf8', `${where}: got bytes that are no UTF-8`, { cause: error });
  }
}

function parse(text: string, where: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SourceError('too_deep', `${where}: got JSON nested too deep to be parsed`, { cause: error });
    }
    if (!(error instanceof SyntaxError)) throw error;
    const reason = text.trimStart().startsWith('<') ? 'html' : 'not_json';
    throw new SourceError(reason, `${where}: got ${excerpt(text)}, expected JSON`, { quoted: text });
  }
}
