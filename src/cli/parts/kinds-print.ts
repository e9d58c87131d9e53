import type { FieldDescription, KindDescription, KindDescriptions } from '../../app/commands/show.ts';
import { printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

/** Prints a line for each record kind. */
export function printKinds(stdout: Output, kinds: readonly KindDescription[]): void {
  const rows = kinds.map((kind) => [
    kind.kind,
    kind.list === null ? 'no' : kind.list.paging === 'documented' ? 'in pages' : 'yes',
    kind.retrieve === null ? 'no' : kind.retrieve.usable ? 'yes' : 'misprinted',
    kind.create === null ? 'no' : 'yes',
    kind.update === null ? 'no' : 'yes',
    kind.naturalKey?.join(' + ') ?? 'all sent fields',
    kind.fields.length,
  ]);
  const header = ['kind', 'list', 'one by one', 'create', 'update', 'natural key', 'fields'];
  printLine(stdout, textTable(header, rows));
  printLine(stdout, '\nField by field: bms-sync kinds KIND');
}

const READ_COLUMNS = ['field', 'type', 'known'];
const COLUMNS = [...READ_COLUMNS, 'written as', 'form', 'in a create'];

/** Prints one kind field by field. */
export function printKind(stdout: Output, kind: KindDescription, mirror: KindDescriptions['mirror']): void {
  const origin = kind.declaredBy === 'settings' ? ' (a kind of the settings: read, never written)' : '';
  printLine(stdout, `${kind.kind}${origin}\n`);
  for (const line of [...readLines(kind), ...writeLines(kind)]) printLine(stdout, line);
  printLine(stdout);
  const columns = kind.create === null && kind.update === null ? READ_COLUMNS : COLUMNS;
  const rows = kind.fields.flatMap(rowsOf).map((row) => row.slice(0, columns.length));
  printLine(stdout, textTable(columns, rows));
  if (mirror !== 'read')
    printLine(stdout, '\nA mirror adds the fields that the service sends beyond these: none was read.');
}

function readLines({ list, retrieve }: KindDescription): string[] {
  const paging = { documented: 'page by page (page, per_page)', 'by answer': 'as far as its answers tell' };
  const order = list?.order === 'unknown' ? 'in no known order' : `in the order: ${list?.order ?? ''}`;
  return [
    list === null
      ? 'List:        none; its records are read one by one.'
      : `List:        ${list.path}, read ${paging[list.paging]}, ${order}.`,
    retrieve === null
      ? 'One by one:  no path is known.'
      : `One by one:  ${retrieve.path}${retrieve.note === null ? '' : `, which ${retrieve.note}: not used`}.`,
  ];
}

function writeLines({ create, update, naturalKey, repeats }: KindDescription): string[] {
  const shown = create?.shown.join(', ') ?? '';
  const same = naturalKey?.join(' + ') ?? 'all sent fields';
  return [
    create === null
      ? 'Create:      not offered.'
      : `Create:      the documentation shows ${shown === '' ? 'no field' : shown}; which fields are required it does not say.`,
    update === null
      ? 'Update:      not offered.'
      : 'Update:      any field that has a form below; the documentation lists none.',
    `Natural key: ${same}${repeats ? '; equal records are legitimate' : ''}.`,
  ];
}

function rowsOf(field: FieldDescription): (string | null)[][] {
  const { name, meaning, known, write, shownInCreate, items, seen } = field;
  const isMissing = seen === false && known !== 'discovered';
  const form = write === null ? [null, null] : [write.name, write.form];
  return [
    [name, meaning, isMissing ? `${known}, not seen yet` : known, ...form, shownInCreate ? 'shown' : null],
    ...(items ?? []).map((item) => [`  ${name}[].${item.name}`, item.meaning, null, null, null, null]),
  ];
}
