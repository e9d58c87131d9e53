import { Readable } from 'node:stream';
import { REPORTS } from './read-reports.ts';
import type { ReportAnswer } from './run-report.ts';
import type { ExportColumn, ExportSource } from '../export/read-rows.ts';

/** The rows of a report, to be written as a file. */
export function reportSource({ name, columns, rows }: ReportAnswer): ExportSource {
  const { keys = [], labels = [] } = REPORTS.find((report) => report.name === name) ?? {};
  const typeOf = (column: string): ExportColumn['type'] => {
    if (column.endsWith('_exact')) return 'decimal';
    const isName = labels.includes(column) || keys.includes(column);
    return isName && !/^company$|^branch$|_id$/.test(column) ? 'text' : 'integer'; // Anything but a number stays a text.
  };
  return {
    name,
    columns: columns.map((column) => ({ name: column, type: typeOf(column) })),
    batches: Readable.from([rows]),
    dictionary: [],
  };
}
