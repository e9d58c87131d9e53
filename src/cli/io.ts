import { compactJson } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';

/** The world outside a command, as main.ts or a test hands it in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What is piped in, as bytes or text. */
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C or SIGTERM: finish the page at hand, then stop. */
  readonly signal: AbortSignal;
}

export interface Output {
  /** `done` is told where the text could not be written, because nobody reads it any more. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean;
}

export function printLine(output: Output, text = ''): void {
  output.write(`${text}\n`);
}

/** Prints the one JSON document of a command that was called with `--json`. */
export function printJson(output: Output, document: unknown): void {
  printLine(output, JSON.stringify(document));
}

/** The same for a document that may hold numbers of a record, which keep their digits. */
export function printExactJson(output: Output, document: Json): void {
  printLine(output, compactJson(document));
}
