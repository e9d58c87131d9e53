import type { RecordedChange } from '../../app/changes.ts';
import { compactJson, isArray, isObject, parseJson } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { shortened } from '../../lib/text.ts';

/** Widths are fixed: with `--follow` the longest value is not known in advance. */
const COLUMNS = [
  { title: 'seq', width: 8 },
  { title: 'observed (UTC)', width: -23 },
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

/** Writes an event as one line for a person. */
export function changeRow({ seq, observedAt, kind, recordId, change, fields }: RecordedChange): string {
  return line([String(seq), observedAt, kind, recordId, change, fieldsShown(fields)]);
}

function line(cells: readonly string[]): string {
  return COLUMNS.map(({ width }, index) => {
    const cell = cells[index] ?? '';
    return width > 0 ? cell.padStart(width) : cell.padEnd(-width);
  })
    .join('  ')
    .trimEnd();
}

/** `name: old → new`, for the first few fields. */
export function fieldsShown(text: string): string {
  const fields = parseJson(text);
  if (!isObject(fields)) return '';
  const all = Object.entries(fields);
  const shown = all.slice(0, FIELDS_SHOWN).map(([name, pair]) => {
    const [before = null, after = null] = isArray(pair) ? pair : [];
    return `${name}: ${valueShown(before)} → ${valueShown(after)}`;
  });
  const rest = all.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
}

function valueShown(value: Json): string {
  const text = compactJson(value);
  return text.length > LONGEST_VALUE ? `${shortened(text, LONGEST_VALUE - 1)}…` : text;
}
