import type { SqlValue } from '../../mirror/session/session.ts';
import { isNumberText } from './columns.ts';
import type { ExportColumn, ExportType } from './columns.ts';
import type { TextEncoding } from './csv.ts';

/** One JSON object a line: numbers and amounts with all their digits, dates and instants as text. */
export function ndjsonEncoding(columns: readonly ExportColumn[]): TextEncoding {
  const members = columns.map(({ name, type }, index) => {
    const head = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    return (value: SqlValue): string => head + valueText(value, type);
  });
  return {
    head: '',
    rows: (batch) =>
      batch
        .map((values) => `${members.map((member, index) => member(values[index] ?? null)).join('')}}\n`)
        .join(''),
  };
}

const NUMBERS: readonly ExportType[] = ['integer', 'decimal', 'real'];

function valueText(value: SqlValue, type: ExportType): string {
  if (value === null || typeof value === 'number') return JSON.stringify(value);
  return NUMBERS.includes(type) && isNumberText(value) ? value : JSON.stringify(value);
}
