import { open } from 'node:fs/promises';
import { createDraft } from '../../lib/draft-file.ts';
import { outputFault } from '../output-file.ts';
import type { ExportSource } from './read-rows.ts';
import { csvEncoding, ndjsonEncoding } from './text-encodings.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface ExportOptions {
  readonly format: ExportFormat;
  /** Leaves texts of CSV as they are, formulas too. */
  readonly isRaw: boolean;
  /** Called with the number of rows after each batch. */
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

/** The signal has fired before the last row. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
}

/**
 * Writes rows to a text output, batch after batch; each waits until the one before it is taken. Returns their number.
 *
 * @throws {ExportStopped} If the signal fires first.
 */
export async function exportText(
  source: ExportSource,
  write: (text: string) => Promise<void>,
  options: ExportOptions,
): Promise<number> {
  const { head, rows } =
    options.format === 'csv' ? csvEncoding(source.columns, options.isRaw) : ndjsonEncoding(source.columns);
  let count = 0;
  if (head !== '') await write(head);
  for await (const batch of source.batches) {
    if (options.signal.aborted) throw new ExportStopped('The export was stopped.');
    await write(rows(batch));
    count += batch.length;
    options.onRows(batch.length);
  }
  return count;
}

/** Writes rows to a file. It appears whole: until then it has another name beside its own, and after a fault it is removed. */
export async function exportFile(source: ExportSource, path: string, options: ExportOptions) {
  try {
    const draft = createDraft(path);
    try {
      const rows = await exportDraft(source, draft.path, options);
      return { rows, bytes: draft.publish() };
    } catch (error) {
      draft.discard();
      throw error;
    }
  } catch (error) {
    throw outputFault(error, path);
  }
}

async function exportDraft(source: ExportSource, path: string, options: ExportOptions): Promise<number> {
  const file = await open(path, 'wx');
  try {
    return await exportText(source, (text) => file.writeFile(text), options);
  } finally {
    await file.close();
  }
}
