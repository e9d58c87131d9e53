import { MOST_COUNTED } from '../../db/rows/rows.ts';
import { compactJson, type Json } from '../../lib/json/json.ts';
import { truncate, sanitizeJson, sanitizeLine } from '../../lib/text/text.ts';

/** The world outside a command, as main.ts or a test hands it in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The piped input, as bytes or text. */
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C or SIGTERM: finish the page at hand, then stop. */
  readonly signal: AbortSignal;
  /** Sets how long running work may go on once the signal has fired: then the process ends, with this code (default: incomplete). */
  readonly setGrace?: (seconds: number, code?: number) => void;
  /** Names a folder for temporary files that may be written, where the environment names none. */
  readonly setTempFolder?: (folder: string) => void;
}

/** How the reader starts this program: by npm in a checkout, by npx, or by its name. */
export function commandName({ env }: Pick<Io, 'env'>): string {
  const event = env['npm_lifecycle_event'];
  if (event === undefined) return 'bms-sync';
  return event === 'npx' ? 'npx bms-sync' : 'npm start --';
}

export interface Output {
  /** `done` gets an error if the text could not be written, because the reader has gone. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean;
  /** Why the last text could not be written; null if it was written. */
  readonly fault?: () => string | null;
}

/** One line, or the lines of a table. Line ends at either end of a single line are blank lines around it. */
export type Printed = string | readonly string[];

/** Formats the size of a file: `25,113 rows, 5,087,232 bytes`. */
export const rowsAndSize = ({ rows, bytes }: { readonly rows: number; readonly bytes: number }): string =>
  `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}, ${bytes.toLocaleString('en-US')} bytes`;

/** Prints a text; control characters and line ends within its lines are replaced. */
export function printLine(output: Output, text: Printed): void {
  const lines = typeof text === 'string' ? [lineWithin(text)] : text.map(sanitizeLine);
  for (const line of lines) output.write(`${line}\n`);
}

/** Takes the first rows of a list that was read one row further; stderr says of how many, if that is known. */
export function takeFirst<T>(
  rows: readonly T[],
  limit: number,
  { stderr }: Pick<Io, 'stderr'>,
  { total, cure = '--limit N' }: { readonly total?: number; readonly cure?: string },
): T[] {
  if (rows.length > limit) printLine(stderr, moreText(limit, total, cure));
  return rows.slice(0, limit);
}

/** Says that a list shows only some of its rows, and what shows others. */
export function moreText(shown: number, total: number | undefined, cure: string): string {
  if (total === undefined) return `… and more: ${cure}`;
  return `… ${shown} of ${total > MOST_COUNTED ? `more than ${MOST_COUNTED}` : total}: ${cure}`;
}

function lineWithin(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === '\n') start++;
  while (end > start && text[end - 1] === '\n') end--;
  return text.slice(0, start) + sanitizeLine(text.slice(start, end)) + text.slice(end);
}

/** Prints the one JSON document of a command that was called with `--json`; numbers of a record keep their digits. */
export function printJson(output: Output, document: unknown): void {
  output.write(`${sanitizeJson(compactJson(document as Json))}\n`);
}

/** The beginning of a text that is longer than `longest`, with an ellipsis. */
export function truncateText(text: string, longest: number): string {
  return text.length > longest ? `${truncate(text, longest - 1)}…` : text;
}

/** Writes a stored instant in a sentence: with its zone in place of the milliseconds, so that `--since` and `--as-of` read the same. */
export const utc = (instant: string): string => instant.replace(/\.\d{3}$/, ' UTC');

/** Writes a stored instant in a table. */
export const utcCell = (instant: string): string => instant.replace(/\.\d{3}$/, 'Z');

type Cell = string | number | null | undefined;

/**
 * Lays rows out in columns for a terminal, a line for each: numbers to the right, everything else to the left. Instants, in columns
 * whose titles end in `(UTC)`, have a `Z` in place of their milliseconds.
 */
export function textTable(header: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const areInstants = header.map((title) => title.endsWith('(UTC)'));
  const texts = rows.map((row) =>
    row.map((cell, column) => {
      const text = String(cell ?? '');
      return areInstants[column] === true ? utcCell(text) : text;
    }),
  );
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = header.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  const signed = widths.map((width, column) => (isNumeric[column] ? width : -width));
  return [header, widths.map((width) => '-'.repeat(width)), ...texts].map((cells) =>
    tableLine(cells, signed),
  );
}

/** Lays cells out in columns of these widths; a negative one is to the left. */
export const tableLine = (cells: readonly string[], widths: readonly number[]): string =>
  widths
    .map((width, column) =>
      width > 0 ? (cells[column] ?? '').padStart(width) : (cells[column] ?? '').padEnd(-width),
    )
    .join('  ')
    .trimEnd();
