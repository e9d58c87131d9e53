import type { RecordedChange } from '../../events/read-changes.ts';
import { compactJson, isArray, isObject, parseJson } from '../../lib/json/json.ts';
import { FIELDS_EXCLUDED } from '../../store/records/record-story.ts';
import { tableLine, truncateText, utcCell } from './io.ts';

/** Widths are fixed: with `--follow` the longest value is not known in advance. */
const COLUMNS = { seq: 8, 'observed (UTC)': -20, kind: -17, record: 10, change: -8, fields: 0 };
const TITLES = Object.keys(COLUMNS);
const WIDTHS = Object.values(COLUMNS);

const FIELDS_SHOWN = 5;
const LONGEST_VALUE = 40;

export const CHANGE_HEADER = [
  TITLES,
  TITLES.map((title, column) => '-'.repeat(Math.abs(WIDTHS[column] ?? 0) || title.length)),
].map((cells) => tableLine(cells, WIDTHS));

export function changeRow(event: RecordedChange): string {
  const { seq, observedAt, kind, recordId, change, fields } = event;
  const shown = change === 'updated' ? fieldsShown(fields) : '';
  const cells = [String(seq), utcCell(observedAt), kind, recordId, change, shown];
  return tableLine(cells, WIDTHS);
}

export function fieldsShown(text: string): string {
  const fields = changedFieldTexts(text, LONGEST_VALUE);
  const hidden = fields.length - FIELDS_SHOWN;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  return [...fields.slice(0, FIELDS_SHOWN), ...more].join(', ');
}

/** Writes each changed field of an update as `name: old → new`, values of more than `longest` characters shortened. */
export function changedFieldTexts(text: string, longest: number): string[] {
  const fields = parseJson(text);
  if (!isObject(fields)) return [];
  if (text === '{}') return [FIELDS_EXCLUDED];
  return Object.entries(fields).map(([name, pair]) => {
    const values = isArray(pair) ? pair : [];
    const [before, after] = values.map((value) => truncateText(compactJson(value), longest));
    return `${name}: ${before ?? 'null'} → ${after ?? 'null'}`;
  });
}
