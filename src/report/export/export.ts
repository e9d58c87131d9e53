import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDraft } from '../../lib/draft-file.ts';
import type { Values } from '../../mirror/session/session.ts';
import { writeParquet } from './parquet.ts';
import type { Unfit } from './parquet.ts';
import type { ExportSource } from './read-rows.ts';
import { csvEncoding, ndjsonEncoding } from './text-encodings.ts';
import type { TextEncoding } from './text-encodings.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Leaves texts of CSV as they are, formulas too. */
  readonly isRaw: boolean;
  /** Called with the number of rows after each batch. */
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

/** Stopped by its signal before the last row. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
}

interface Exported {
  readonly rows: number;
  readonly unfit: Unfit;
}

/** The place of an export without a file. */
export interface ExportOutput {
  readonly text: (text: string) => Promise<void>;
  readonly bytes: (bytes: Uint8Array) => Promise<void>;
}

/** Writes rows to an output. Parquet is written to a file first, because DuckDB needs one. */
export async function exportStream(
  source: ExportSource,
  output: ExportOutput,
  options: ExportOptions,
): Promise<Exported> {
  if (options.format !== 'parquet') return exportText(source, output.text, options);
  const folder = await mkdtemp(join(tmpdir(), 'bms-sync-export-'));
  try {
    const path = join(folder, 'rows.parquet');
    const exported = await exportFile(source, path, options);
    for await (const bytes of createReadStream(path)) await output.bytes(bytes as Uint8Array);
    return exported;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes rows to a text output, batch after batch; each waits until the one before it is taken. */
async function exportText(
  source: ExportSource,
  write: (text: string) => Promise<void>,
  options: ExportOptions,
): Promise<Exported> {
  const { head, rows }: TextEncoding =
    options.format === 'csv' ? csvEncoding(source.columns, options.isRaw) : ndjsonEncoding(source.columns);
  let count = 0;
  if (head !== '') await write(head);
  for await (const batch of stoppable(source.batches, options.signal)) {
    await write(rows(batch));
    count += batch.length;
    options.onRows(batch.length);
  }
  return { rows: count, unfit: new Map() };
}

/**
 * Writes rows to a file. It appears whole: until then it has another name beside its own, and after a fault it is removed.
 *
 * @returns The number of rows and bytes.
 */
export async function exportFile(
  source: ExportSource,
  path: string,
  options: ExportOptions,
): Promise<Exported & { readonly bytes: number }> {
  const draft = createDraft(path);
  try {
    const exported =
      options.format === 'parquet'
        ? await exportParquet(source, draft.path, options)
        : await exportTextFile(source, draft.path, options);
    return { ...exported, bytes: draft.publish() };
  } catch (error) {
    draft.discard();
    throw error;
  }
}

async function exportTextFile(source: ExportSource, path: string, options: ExportOptions): Promise<Exported> {
  const file = await open(path, 'wx');
  try {
    return await exportText(source, (text) => file.writeFile(text), options);
  } finally {
    await file.close();
  }
}

/** Writes rows to a Parquet file. @throws {UsageError} Where DuckDB is not installed. */
async function exportParquet(
  { columns, batches }: ExportSource,
  path: string,
  { onRows, signal }: ExportOptions,
): Promise<Exported> {
  let rows = 0;
  const unfit = await writeParquet({
    ...{ path, source: { columns, batches: stoppable(batches, signal) } },
    onRows: (count) => {
      rows += count;
      onRows(count);
    },
  });
  return { rows, unfit };
}

async function* stoppable(
  batches: AsyncIterable<readonly Values[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly Values[]> {
  for await (const batch of batches) {
    if (signal.aborted) throw new ExportStopped('The export was stopped.');
    yield batch;
  }
}

/** Tells a reader of exported rows how many values fit no column. */
export const unfitRemarks = (unfit: Unfit): readonly string[] =>
  [...unfit].map(
    ([column, count]) =>
      `${count} values of ${column} fit no column of Parquet and are null: CSV and NDJSON have them.`,
  );
