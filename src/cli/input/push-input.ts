import { readFileSync } from 'node:fs';
import { fileFault } from '../../lib/error-code.ts';
import { parseJson } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import type { Io } from '../print/io.ts';

const HINT = `Examples: '{"code":"C-1","name":"Ada"}', or @record.json to read it from a file.`;

/**
 * Reads an option that is JSON, or `@` and the name of a file that holds it.
 *
 * @throws {UsageError} If there is no such file, or it is not JSON.
 */
export function jsonOption(option: string, given: string): Json {
  const text = given.startsWith('@') ? readText(option, given.slice(1)) : given;
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
    throw new UsageError(`${option} is not JSON: got ${shown}`, {
      code: 'usage.json',
      hint: HINT,
      cause: error,
    });
  }
}

/** Characters of a text that is no JSON. */
const SHOWN = 60;

function readText(option: string, path: string): string {
  const unusable = (why: string, cause: unknown): UsageError =>
    new UsageError(`The file ${path} of ${option} ${why}.`, { code: 'usage.file', hint: HINT, cause });
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unusable(fileFault(error), error);
  }
  try {
    return textOf(bytes);
  } catch (error) {
    throw unusable('is not UTF-8 text', error);
  }
}

/** Drops the byte order mark; throws a TypeError if the bytes are not UTF-8. */
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/**
 * Reads the piped input to its end.
 *
 * @throws {UsageError} Where it is not UTF-8. @throws {SyncError} `push.interrupted` if Ctrl-C came first.
 */
export async function readStdin({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of stdin) {
      chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk);
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new SyncError('Interrupted: nothing was stored.', { code: 'push.interrupted' });
  try {
    return textOf(Buffer.concat(chunks));
  } catch (error) {
    throw new UsageError('What is piped in is not UTF-8 text.', { code: 'usage.json', cause: error });
  }
}
