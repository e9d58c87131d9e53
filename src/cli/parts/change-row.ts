import type { RecordedChange } from '../../feed/read-changes.ts';
import { compactJson, isArray, isObject, parseJson } from '../../lib/json/json.ts';
import { truncateText, wholeSeconds } from './io.ts';

/** Widths are fixed: with `--follow` the longest value is not known in advance. */
const COLUMNS = [
  { title: 'seq', width: 8 },
  { title: 'observed (UTC)', width: -19 },
  { title: 'kind', width: -17 },
  { title: 'record', width: 10 },
  { title: 'change', width: -8 },
  { title: 'fields', width: 0 },
] as const;

const FIELDS_SHOWN = 5;
const LONGEST_VALUE = 40;

export const CHANGE_HEADER = [
  line(COLUMNS.map(({ title }) => title)),
  line(COLUMNS.map(({ title, width }) => '-'.repeat(Math.abs(width) || title.length))),
];

export function changeRow(event: RecordedChange): string {
  const { seq, observedAt, kind, recordId, change, fields } = event;
  return line([String(seq), wholeSeconds(observedAt), kind, recordId, change, fieldsShown(fields)]);
}

function line(cells: readonly string[]): string {
  return COLUMNS.map(({ width }, index) => {
    const cell = cells[index] ?? '';
    return width > 0 ? cell.padStart(width) : cell.padEnd(-width);
  })
    .join('  ')
    .trimEnd();
}

export function fieldsShown(text: string): string {
  const fields = changedFieldTexts(text, LONGEST_VALUE);
  const hidden = fields.length - FIELDS_SHOWN;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  return [...fields.slice(0, FIELDS_SHOWN), ...more].join(', ');
}

/** Writes each changed field of an event as `name: old → new`, values of more than `longest` characters shortened. */
export function changedFieldTexts(text: string, longest: number): string[] {
  const fields = parseJson(text);
  if (!isObject(fields)) return [];
  return Object.entries(fields).map(([name, pair]) => {
    const values = isArray(pair) ? pair : [];
    const [before, after] = values.map((value) => truncateText(compactJson(value), longest));
    return `${name}: ${before ?? 'null'} → ${after ?? 'null'}`;
  });
}
