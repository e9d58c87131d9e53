import type { Command } from 'commander';
import { admit } from '../app/open-mirror.ts';
import { documentedKind } from '../catalog/kinds/catalog.ts';
import type { Kind } from '../catalog/kind.ts';
import { allKinds, requireKnownKind } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { readFields, type KnownField } from '../store/kinds/field-store.ts';
import { absentFile, openSession } from '../db/open-session.ts';
import { isMirrorPresent } from '../store/kinds/meta.ts';
import { describeKind, type KindDescription } from './describe-kind.ts';
import { createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { textTable, type Printed } from './parts/io.ts';

export function kindsCommand(context: CommandContext): Command {
  return createCommand('kinds')
    .argument('[kind]', 'record kind')
    .action(async (name: string | undefined, options: CommonOptions) => {
      const config = await context.keptSettings(options);
      const kinds = name === undefined ? allKinds(config) : [requireKnownKind(config, name)];
      const fields = await seenFields(config, kinds);
      const mirror = fields === null ? 'absent' : 'read';
      const described = kinds.map((kind) => {
        const isDocumented = documentedKind(kind.name) !== undefined;
        const seen = fields && (fields.get(kind.name) ?? new Map<string, KnownField>());
        return describeKind(kind, isDocumented, seen);
      });
      const [first] = described;
      if (name === undefined || !first)
        context.printResult(options, { kinds: described, mirror }, kindsTexts(described));
      else context.printResult(options, { ...first, mirror }, kindTexts(first, mirror));
    });
}

/** The fields that the mirror has seen, by kind; null without a mirror. Creates nothing. */
async function seenFields({ database: { url } }: Config, kinds: readonly Kind[]) {
  if (absentFile(url) !== null) return null;
  await using session = await openSession(url);
  await admit(session, 'read');
  if (!(await isMirrorPresent(session))) return null;
  const fields = new Map<string, ReadonlyMap<string, KnownField>>();
  for (const { name, excluded } of kinds) fields.set(name, await readFields(session, name, excluded));
  return fields;
}

function* kindsTexts(kinds: readonly KindDescription[]): Iterable<Printed> {
  const rows = kinds.map((kind) => [
    kind.kind,
    kind.list === null ? 'no' : kind.list.paging === 'documented' ? 'in pages' : 'yes',
    kind.retrieve === null ? 'no' : kind.retrieve.usable ? 'yes' : 'misprinted',
    kind.create === null ? 'no' : 'yes',
    kind.update === null ? 'no' : 'yes',
    kind.naturalKey?.join(' + ') ?? 'all sent fields',
    kind.fields.length,
  ]);
  yield textTable(['kind', 'list', 'one by one', 'create', 'update', 'natural key', 'fields'], rows);
  yield '\nField by field: bms-sync kinds KIND';
}

const READ_COLUMNS = ['field', 'type', 'known'];
const COLUMNS = [...READ_COLUMNS, 'written as', 'form', 'in a create'];

function* kindTexts(kind: KindDescription, mirror: string): Iterable<Printed> {
  const origin = kind.declaredBy === 'settings' ? ' (a kind of the settings: read, never written)' : '';
  yield `${kind.kind}${origin}\n`;
  yield* offerLines(kind);
  yield '';
  const columns = kind.create === null && kind.update === null ? READ_COLUMNS : COLUMNS;
  const rows = kind.fields.flatMap((field): (string | null)[][] => {
    const { name, meaning, known, write, shownInCreate, items, seen } = field;
    const isMissing = seen === false && known !== 'discovered';
    const origin = isMissing ? `${known}, not seen yet` : known;
    const cells = [name, meaning, origin, write?.name ?? null, write?.form ?? null];
    const itemRows = (items ?? []).map((item) => [`  ${name}[].${item.name}`, item.meaning]);
    return [[...cells, shownInCreate ? 'shown' : null].slice(0, columns.length), ...itemRows];
  });
  yield textTable(columns, rows);
  if (mirror !== 'read') yield '\nNo mirror was read: it would add the other fields that the service sends.';
}

const PAGING = { documented: 'page by page (page, per_page)', 'by answer': 'as far as its answers tell' };

function* offerLines(description: KindDescription): Iterable<string> {
  const { list, retrieve, create, update, naturalKey, repeats } = description;
  if (list === null) yield 'List:        none; its records are read one by one.';
  else yield `List:        ${list.path}, read ${PAGING[list.paging]}, in the order: ${list.order}.`;
  if (retrieve === null) yield 'One by one:  no path is known.';
  else
    yield `One by one:  ${retrieve.path}${retrieve.note === null ? '' : `, which ${retrieve.note}: not used`}.`;
  const shown = create?.shown.join(', ') || 'no field';
  if (create === null) yield 'Create:      not offered.';
  else yield `Create:      the documentation shows ${shown}; which fields are required it does not say.`;
  if (update === null) yield 'Update:      not offered.';
  else yield 'Update:      any field that has a form below; the documentation lists none.';
  const same = naturalKey?.join(' + ') ?? 'all sent fields';
  yield `Natural key: ${same}${repeats ? '; equal records are legitimate' : ''}.`;
}
