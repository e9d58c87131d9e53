import { readFileSync } from 'node:fs';
import { arrayBuffer } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { parseJson, type Json } from '../../lib/json/json.ts';
import { SyncError, UsageError, describeFileFault } from '../../lib/sync-error.ts';
import { decodeText } from '../../lib/text/decode-text.ts';
import type { Io } from './io.ts';

/** Makes the parser of a command-line number; commander names the option in its message. */
const numberParser =
  (largest: number, expected: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text) && Number(text) <= largest) return Number(text);
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };

export const parseWholeNumber = numberParser(999_999_999, 'a whole number');
export const parsePort = numberParser(65_535, 'a port from 0 to 65535');
/** Parses the number of an event, which may be larger than other numbers of the command line. */
export const parseSeq = numberParser(Number.MAX_SAFE_INTEGER, 'the number of an event (seq), or 0');

const HINT = `Examples: '{"code":"C-1","name":"Ada"}', or @record.json to read it from a file.`;

/**
 * Reads an option that is JSON, or `@` and the name of a file that holds it.
 *
 * @throws {UsageError} If there is no such file, or it is not JSON.
 */
export function jsonOption(option: string, input: string): Json {
  const path = input.slice(1);
  const advice = { code: 'usage.file', hint: HINT };
  const text = input.startsWith('@') ? readTextFile(path, `The file ${path} of ${option}`, advice) : input;
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
    const message = `${option} is not JSON: got ${shown}`;
    throw new UsageError(message, { code: 'usage.json', hint: HINT, cause: error });
  }
}

/** Shows the start of a text that is not JSON. */
const SHOWN = 60;

/** Reads a text file that a user named. @param what Names it in a message. @throws {UsageError} If it cannot be read. */
export function readTextFile(path: string, what: string, advice: { code: string; hint: string }): string {
  try {
    return decodeText(readFileSync(path));
  } catch (error) {
    throw new UsageError(`${what} ${describeFileFault(error)}.`, { ...advice, cause: error });
  }
}

/**
 * Reads the piped input to its end.
 *
 * @throws {UsageError} Where it is not UTF-8. @throws {SyncError} `push.interrupted` if Ctrl-C came first.
 */
export async function readStdin({ stdin, signal }: Io): Promise<string> {
  const bytes = await arrayBuffer(stdin).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return new ArrayBuffer(0);
  });
  if (signal.aborted) throw new SyncError('Interrupted: nothing was stored.', { code: 'push.interrupted' });
  try {
    return decodeText(new Uint8Array(bytes));
  } catch (error) {
    throw new UsageError(`The piped input ${describeFileFault(error)}.`, {
      code: 'usage.json',
      cause: error,
    });
  }
}
