import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PACKAGE_FOLDER } from '../lib/package-folder.ts';
import { decimalField, integerField, referenceField, textField } from './field.ts';
import type { Field, Kind, ListEndpoint, ListedKind } from './kind.ts';

export const PLAIN_TYPES = [
  'integer',
  'flag',
  'date',
  'time',
  'timestamp',
  'text',
  'json',
] as const satisfies Field['type'][];

/** A record kind as settings and ready files declare it. */
interface DeclaredKind extends Omit<ListEndpoint, 'path'>, Pick<Kind, 'naturalKey'> {
  readonly list: string;
  readonly retrieve: string | null;
  /** Name to type: `text`, `decimal(2)`, `reference(clients)` … */
  readonly fields: Readonly<Record<string, string>>;
}

type DeclaredKinds = Readonly<Record<string, DeclaredKind>>;

const FOLDER = join(PACKAGE_FOLDER, 'config/kinds');

/** The names that `includeKinds` takes: the files of config/kinds. */
export const listReadyFiles = (): readonly string[] =>
  readdirSync(FOLDER)
    .map((file) => file.replace(/\.yaml$/, ''))
    .sort();

/** Reads the kinds of a file of config/kinds; they have every property. */
export const readReadyFile = (name: string): DeclaredKinds =>
  parse(readFileSync(join(FOLDER, `${name}.yaml`), 'utf8')) as DeclaredKinds;

/** Turns declared kinds into kinds like those of the catalogue; they are read, never written. */
export const fromDeclared = (kinds: DeclaredKinds): readonly ListedKind[] =>
  Object.entries(kinds).map(
    ([name, { list, retrieve, header, paging, order, naturalKey, fields }]): ListedKind => ({
      name,
      list: { path: list, header, paging, order },
      retrieve: retrieve === null ? null : { path: retrieve, header },
      create: null,
      update: null,
      naturalKey,
      fields: [
        integerField('id'),
        ...Object.entries(fields)
          .filter(([field]) => field !== 'id')
          .map(([field, type]) => parseField(field, type)),
      ],
      hints: [],
    }),
  );

/** The kinds of a ready file: a service may lack them, and nothing promises their fields or the types of these. */
export const readyKinds = (file: string): readonly ListedKind[] =>
  fromDeclared(readReadyFile(file)).map((kind) => ({ ...kind, isOptional: true }));

/**
 * The kinds of the catalogue, then further ones. A further kind that has a documented name gives that kind its list, and an
 * integer such as `sale_id` refers to the kind `sales`, once there is one.
 */
export function joinKinds(documented: readonly Kind[], further: readonly ListedKind[]): readonly Kind[] {
  const isDocumented = ({ name }: Kind): boolean => documented.some((kind) => kind.name === name);
  const listed = documented.map((kind): Kind => {
    const ready = further.find(({ name, isOptional }) => name === kind.name && isOptional);
    return ready === undefined || kind.list !== null ? kind : { ...kind, list: ready.list, isOptional: true };
  });
  const added = further.filter((kind) => !isDocumented(kind));
  const targets = new Map(added.map((kind) => [`${kind.name.replace(/s$/, '')}_id`, kind.name]));
  const linked = (field: Field): Field => {
    const target =
      field.type === 'integer' && field.refersTo === undefined ? targets.get(field.name) : undefined;
    return target === undefined ? field : referenceField(field, target);
  };
  return [...listed, ...added].map((kind) =>
    targets.size === 0 ? kind : { ...kind, fields: kind.fields.map(linked), hints: kind.hints.map(linked) },
  );
}

function parseField(name: string, type: string): Field {
  const plain = PLAIN_TYPES.find((each) => each === type);
  if (plain !== undefined) return { name, type: plain };
  if (type.startsWith('reference(')) return referenceField(textField(name), parseReferenceKind(type) ?? '');
  return decimalField(name, Number(type.slice('decimal('.length, -1)));
}

/** The kind named by a `reference(KIND)`; null for every other type. */
export function parseReferenceKind(type: unknown): string | null {
  return /^reference\((.*)\)$/.exec(String(type))?.[1] ?? null;
}
