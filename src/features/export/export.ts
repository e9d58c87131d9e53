import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { StoppedError } from '../../lib/sync-error.ts';
import type { Language } from '../../lib/text/translator.ts';
import { writeWhole } from '../../db/output-file.ts';
import type { ExportSource } from './read-rows.ts';
import { csvEncoding, excelEncoding, ndjsonEncoding } from './text-encodings.ts';

export const FILE_FORMATS = ['csv', 'ndjson', 'xlsx'] as const;
/** `excel`: the CSV that Excel opens where a comma stands before the decimals. */
export type ExportFormat = (typeof FILE_FORMATS)[number] | 'excel';

/** The format of a file's extension; null for any other. */
export const formatOfFile = (file: string) =>
  FILE_FORMATS.find((format) => extname(file).toLowerCase() === `.${format}`) ?? null;

/** The language of the headings of a workbook for people; undefined in other formats, and where all columns have their names. */
export const headingLanguage = (format: string, isFull: boolean, language: Language) =>
  format === 'xlsx' && !isFull ? language : undefined;

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Leaves texts of CSV as they are, formulas too. */
  readonly isRaw?: boolean;
  /** Called after each batch, with the number of all rows so far. */
  readonly onRows?: (rows: number) => void;
  readonly signal: AbortSignal;
}

/** The text of rows, a piece for each batch. @throws {StoppedError} If the signal fires before the last one. */
export async function* exportTexts(source: ExportSource, options: ExportOptions): AsyncGenerator<string> {
  const { head, rows } = encodingOf(source.columns, options);
  if (head !== '') yield head;
  for await (const batch of trackedBatches(source, options)) yield rows(batch);
}

function encodingOf(columns: ExportSource['columns'], { format, isRaw = false }: ExportOptions) {
  if (format === 'ndjson') return ndjsonEncoding(columns);
  return format === 'excel' ? excelEncoding(columns, isRaw) : csvEncoding(columns, isRaw);
}

/** The batches, each reported once it is consumed. */
async function* trackedBatches(source: ExportSource, options: ExportOptions) {
  let rows = 0;
  for await (const batch of source.batches) {
    if (options.signal.aborted) throw new StoppedError('Stopped before the last row.');
    yield batch;
    rows += batch.length;
    options.onRows?.(rows);
  }
}

/** Writes rows to a file, which appears whole. */
export async function exportFile(source: ExportSource, path: string, options: ExportOptions) {
  let rows = 0;
  const onRows = (all: number): void => {
    rows = all;
    options.onRows?.(all);
  };
  const tracked = { ...options, onRows };
  const bytes = await writeWhole(path, (draft) =>
    options.format === 'xlsx'
      ? exportWorkbook(source, createWriteStream(draft, { flags: 'wx' }), tracked)
      : writeFile(draft, exportTexts(source, tracked), { flag: 'wx' }),
  );
  return { rows, bytes };
}

/** Writes rows as a workbook. */
export async function exportWorkbook(source: ExportSource, stream: Writable, options: ExportOptions) {
  const { writeWorkbook } = await import('./workbook.ts'); // Its library is large, and only wanted here.
  await writeWorkbook({ ...source, batches: trackedBatches(source, options) }, stream, options.signal);
}
