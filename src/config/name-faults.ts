import { listReadyFiles, parseReferenceKind, readReadyFile } from '../catalog/declared-kinds.ts';
import { KINDS, documentedKind } from '../catalog/kinds/catalog.ts';
import {
  DECIMAL_SUFFIXES,
  ENGINE_TABLE_NAMES,
  MAX_NAME_LENGTHS,
  OTHER_RESERVED_NAMES,
  POSTGRES_COLUMNS,
  RESERVED_PREFIXES,
  RESERVED_SUFFIXES,
} from '../catalog/reserved-names.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { isTree, listAt, mapAt, type Path, type Tree } from './layers.ts';

/** What is wrong with the name at a path; null if nothing is. */
type NameCheck = readonly [path: Path, fault: string | null];

const NAME = /^[a-z][a-z0-9_]*$/;

/**
 * Checks the names of kinds and fields, which the schema cannot do: it knows no kinds, and sees each key by itself. Settings with other
 * faults are checked too.
 */
export function* checkNames(values: Tree): Iterable<NameCheck> {
  const declared = mapAt(values, ['kinds']);
  const files = listReadyFiles().filter((name) => listAt(values, ['includeKinds']).includes(name));
  const further = Object.assign({}, ...files.map(readReadyFile), declared) as Tree;
  // A ready file may have kinds of the catalogue.
  const isOwn = ([name]: [string, unknown]): boolean =>
    documentedKind(name) === undefined || Object.hasOwn(declared, name);
  yield* checkFurtherKinds(Object.fromEntries(Object.entries(further).filter(isOwn)));
  yield* checkUsedKinds(values, further);
  yield* checkExclusions(values, further);
}

const wrongKey = (path: Path, expected: string | null): NameCheck => [
  path,
  expected && `expected the key to be ${expected}`,
];

/** The names of further kinds and of their fields: they are free, and ours. */
function* checkFurtherKinds(kinds: Tree): Iterable<NameCheck> {
  // A further kind of the name `<kind>_<field>` would take the name of the array's view.
  const documentedArrays = KINDS.flatMap((kind) =>
    [...kind.fields, ...kind.hints]
      .filter(({ type, part }) => type === 'json' || part !== undefined)
      .map((field) => `${kind.name}_${field.name}`),
  );
  const arrays = Object.keys(kinds).flatMap((kind) => arrayNames(kinds, kind));
  const deleted = [...KINDS.map((kind) => kind.name), ...Object.keys(kinds)].map((name) => `deleted_${name}`);
  const otherViews = [...documentedArrays, ...arrays, ...deleted, 'price_changes'];
  for (const name of Object.keys(kinds)) {
    const path = ['kinds', name];
    const fields = mapAt(kinds, [name, 'fields']);
    const taken = arrayNames(kinds, name).find(isTakenByView);
    yield wrongKey(path, expectedName(name, otherViews));
    if (taken !== undefined) yield wrongKey(path, `a name that leaves the view bi_${taken} to its owner`);
    for (const [field, type] of Object.entries(fields)) {
      const kind = parseReferenceKind(type);
      const isKnown = kind === null || documentedKind(kind) !== undefined || Object.hasOwn(kinds, kind);
      const fault = isKnown ? null : `refers to "${kind}"; expected the name of a record kind`;
      yield [[...path, 'fields', field], fault];
      yield wrongKey([...path, 'fields', field], expectedField(fields, field));
    }
  }
}

const arrayNames = (kinds: Tree, kind: string): readonly string[] =>
  Object.entries(mapAt(kinds, [kind, 'fields'])).flatMap(([field, type]) =>
    type === 'json' ? [`${kind}_${field}`] : [],
  );

/** Kind `sales` with an array `products` would create the view of kind `sales_products`. */
const isTakenByView = (array: string): boolean =>
  documentedKind(array) !== undefined || OTHER_RESERVED_NAMES.includes(array) || array.endsWith('_history');

/** A description of the names that are allowed for a kind; null if this one can be used. */
function expectedName(name: string, otherViews: readonly string[]): string | null {
  if (!NAME.test(name)) return 'the name of a record kind: small letters, digits and _';
  if (name.length > MAX_NAME_LENGTHS.kind) return `a name of at most ${MAX_NAME_LENGTHS.kind} characters`;
  if (documentedKind(name)) return 'a name that the catalogue does not use';
  if (RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    return `a name that does not begin with ${RESERVED_PREFIXES.join(', ')}`;
  if (RESERVED_SUFFIXES.some((suffix) => name.endsWith(suffix)))
    return `a name that does not end in ${RESERVED_SUFFIXES.join(', ')}`;
  // Indexes and sequences of the engine have names that begin with their table's.
  const isOfEngine = ENGINE_TABLE_NAMES.some((table) => `${name}_`.startsWith(`${table}_`));
  const isTaken = isOfEngine || OTHER_RESERVED_NAMES.includes(name) || otherViews.includes(name);
  return isTaken ? 'a name that bms-sync does not use for a table or view' : null;
}

/** A description of the names that are allowed for a further kind's field, so that all can be columns of one table. */
function expectedField(fields: Tree, name: string): string | null {
  // Every record has an `id`: declaring it is allowed, but only as an integer.
  const isId = name === 'id' && fields[name] === 'integer';
  if (name.toLowerCase() === 'id') return isId ? null : 'no id: every record has one by itself, an integer';
  if (!/^\w+$/.test(name)) return 'the name of a field: letters, digits and _';
  if (name.startsWith('_')) return 'a name that does not begin with _';
  if (name.length > MAX_NAME_LENGTHS.field) return `a name of at most ${MAX_NAME_LENGTHS.field} characters`;
  if (POSTGRES_COLUMNS.includes(name.toLowerCase()))
    return 'a name that PostgreSQL does not use for its own columns';
  // Databases ignore case in names, and columns derived from a decimal occupy names too.
  const names = Object.keys(fields);
  const derivedNames = names
    .filter((each) => String(fields[each]).startsWith('decimal('))
    .flatMap((decimal) => DECIMAL_SUFFIXES.map((suffix) => `${decimal}${suffix}`));
  const usedNames = [...names.slice(0, names.indexOf(name)), ...derivedNames];
  const clash = usedNames.find((usedName) => usedName.toLowerCase() === name.toLowerCase());
  if (clash === undefined) return null;
  return `a name of its own: ${clash} is a column already${clash === name ? ', beside its decimal' : ''}`;
}

/** The names of kinds in other settings: there must be such a kind, and a schedule needs its list. */
function* checkUsedKinds(values: Tree, further: Tree): Iterable<NameCheck> {
  const known = [...KINDS.map((kind) => kind.name), ...Object.keys(further)];
  const unknownKind = (name: string): string | null =>
    known.includes(name) ? null : `unknown record kind "${name}"${didYouMean(name, known)}`;
  for (const path of ['diff.ignoreFields', 'privacy.exclude'].map((name) => name.split('.')))
    for (const kind of Object.keys(mapAt(values, path))) yield [[...path, kind], unknownKind(kind)];
  for (const rule of listAt(values, ['alerts']).filter(isTree))
    yield [['alerts'], unknownKind(String(rule['kind']))];
  for (const [name, schedule] of Object.entries(mapAt(values, ['schedules']))) {
    if (name === 'timezone') continue;
    const path = ['schedules', name];
    yield wrongKey(path, NAME.test(name) ? null : 'a name: small letters, digits and _');
    for (const kind of scheduledKinds(name, schedule)) {
      const isUnlisted = !Object.hasOwn(further, kind) && documentedKind(kind)?.list === null;
      const unlisted = `the service has no list of ${kind}, so it cannot be pulled`;
      yield [path, isUnlisted ? unlisted : unknownKind(kind)];
    }
  }
}

/** The kinds that a schedule names; the schema reports what is no name. */
function scheduledKinds(name: string, schedule: unknown): readonly string[] {
  if (!isTree(schedule)) return name === 'all' ? [] : [name];
  const named = [schedule['kind'], ...listAt(schedule, ['kinds'])];
  return named.filter((kind) => typeof kind === 'string');
}

/** Excluded fields: not those that identify the record and its company. The open mirror judges unknown ones. */
function* checkExclusions(values: Tree, further: Tree): Iterable<NameCheck> {
  for (const kind of Object.keys(mapAt(values, ['privacy', 'exclude']))) {
    const path = ['privacy', 'exclude', kind];
    const key: unknown = documentedKind(kind)?.naturalKey ?? mapAt(further, [kind])['naturalKey'];
    for (const name of listAt(values, path).map(String)) {
      const isKept = `${name} cannot be excluded: it`;
      if (name === 'id') yield [path, `${isKept} identifies the record`];
      else if (name === 'system_id') yield [path, `${isKept} identifies the company`];
      else if (Array.isArray(key) && key.includes(name))
        yield [path, `${isKept} belongs to the natural key of ${kind}`];
    }
  }
}
