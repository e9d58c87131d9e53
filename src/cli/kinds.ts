import type { Command } from 'commander';
import { isFileMissing } from '../app/open-mirror.ts';
import { kindNamed as documentedKind } from '../catalog/kinds/catalog.ts';
import type { Kind } from '../catalog/kind.ts';
import { allKinds, kindNamed } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { SyncError } from '../lib/sync-error.ts';
import { readFields } from '../mirror/kinds/field-store.ts';
import type { KnownField } from '../mirror/kinds/field-store.ts';
import { openSession } from '../db/open-session.ts';
import { isMirrorPresent } from '../mirror/kinds/meta.ts';
import { describeKind } from '../report/describe-kind.ts';
import type { FieldDescription, KindDescription } from '../report/describe-kind.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';

export function kindsCommand(context: CommandContext): Command {
  return createCommand('kinds', 'show what can be read and written, field by field')
    .argument('[kind]', 'record kind')
    .action((kind: string | undefined, options: CommonOptions) => showKinds(context, kind, options));
}

async function showKinds(
  context: CommandContext,
  name: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const { stdout, stderr } = context.io;
  const described = await describeKinds(settingsOf(context, options), name);
  const { kinds, mirror, reason } = described;
  if (reason !== null) printLine(stderr, `Fields that only the mirror knows are left out: ${reason}`);
  const [kind] = kinds;
  if (options.json) printJson(stdout, name === undefined || !kind ? { kinds, mirror } : { ...kind, mirror });
  else if (name === undefined || !kind) printKinds(stdout, kinds);
  else printKind(stdout, kind, mirror);
}

/**
 * Describes record kinds from the catalogue, the settings and the fields that the mirror has seen. Creates nothing, and needs
 * no mirror.
 *
 * @throws {UsageError} For an unknown kind.
 */
async function describeKinds(config: Config, name?: string) {
  const kinds = name === undefined ? allKinds(config) : [kindNamed(config, name)];
  const { mirror, reason, fields } = await seenFields(config, kinds);
  const described = kinds.map((kind) =>
    describeKind({
      kind,
      isDocumented: documentedKind(kind.name) !== undefined,
      seen: fields === null ? null : (fields.get(kind.name) ?? new Map<string, KnownField>()),
    }),
  );
  return { kinds: described, mirror, reason };
}

interface SeenFields {
  readonly mirror: 'read' | 'absent' | 'unreadable';
  /** Why the mirror cannot be read. */
  readonly reason: string | null;
  /** By kind; null without a mirror. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, KnownField>> | null;
}

const ABSENT: SeenFields = { mirror: 'absent', reason: null, fields: null };

async function seenFields({ database: { url } }: Config, kinds: readonly Kind[]): Promise<SeenFields> {
  if (isFileMissing(url)) return ABSENT;
  try {
    await using session = await openSession(url);
    if (!(await isMirrorPresent(session))) return ABSENT;
    const fields = new Map<string, ReadonlyMap<string, KnownField>>();
    for (const { name, excluded } of kinds) fields.set(name, await readFields(session, name, excluded));
    return { mirror: 'read', reason: null, fields };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { mirror: 'unreadable', reason: error.message, fields: null };
  }
}

/** Prints a line for each record kind. */
function printKinds(stdout: Output, kinds: readonly KindDescription[]): void {
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
function printKind(stdout: Output, kind: KindDescription, mirror: SeenFields['mirror']): void {
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
