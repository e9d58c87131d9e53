import type { RecordedChange } from '../../feed/read-changes.ts';
import { compactJson, isArray, isObject, parseJson } from '../../lib/json/json.ts';
import { truncateText } from './io.ts';

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

export function changeRow(recordedChange: RecordedChange): string {
  return line([
    String(recordedChange.seq),
    recordedChange.observedAt,
    recordedChange.kind,
    recordedChange.recordId,
    recordedChange.change,
    fieldsShown(recordedChange.fields),
  ]);
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
  const all = changedFieldTexts(text, LONGEST_VALUE);
  const hiddenFields = all.length - FIELDS_SHOWN;
  return [...all.slice(0, FIELDS_SHOWN), ...(hiddenFields > 0 ? [`and ${hiddenFields} more`] : [])].join(
    ', ',
  );
}

/** Writes each changed field of an event as `name: old → new`, values of more than `longest` characters shortened. */
export function changedFieldTexts(text: string, longest: number): string[] {
  const fields = parseJson(text);
  if (!isObject(fields)) return [];
  return Object.entries(fields).map(([name, pair]) => {
    const [before, after] = (isArray(pair) ? pair : []).map((value) =>
      truncateText(compactJson(value), longest),
    );
    return `${name}: ${before ?? 'null'} → ${after ?? 'null'}`;
  });
}
