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
import { parseReferenceKind } from '../catalog/declared-kinds.ts';
import { mapAt, type SettingFault, type Path, type Tree } from './layers.ts';

const KIND_NAME = /^[a-z][a-z0-9_]*$/;

/** Finds names of further kinds and of their fields that are taken or unusable; the schema sees each key by itself. */
export function findFurtherKindFaults(values: Tree): readonly SettingFault[] {
  const kinds = mapAt(values, ['kinds']);
  const further = Object.keys(kinds).flatMap((kind) => listArrayNames(kinds, kind));
  // A further kind of the name `<kind>_<field>` would take the name of the array's view.
  const documented = KINDS.flatMap((kind) =>
    [...kind.fields, ...kind.hints]
      .filter(({ type, part }) => type === 'json' || part !== undefined)
      .map((field) => `${kind.name}_${field.name}`),
  );
  const deleted = [...KINDS.map((kind) => kind.name), ...Object.keys(kinds)].map((name) => `deleted_${name}`);
  const otherViews = [...documented, ...further, ...deleted, 'price_changes'];
  const faults: SettingFault[] = [];
  const checkKey = (path: Path, expected: string | null): void => {
    if (expected !== null) faults.push({ path, fault: `expected the key to be ${expected}` });
  };
  for (const name of Object.keys(kinds)) {
    const path = ['kinds', name];
    const taken = listArrayNames(kinds, name).find(isTakenByView);
    checkKey(path, expectedName(name, otherViews));
    checkKey(path, taken === undefined ? null : `a name that leaves the view bi_${taken} to its owner`);
    const fields = mapAt(kinds, [name, 'fields']);
    for (const [field, type] of Object.entries(fields)) {
      const kind = parseReferenceKind(type);
      if (kind === null || documentedKind(kind) !== undefined || Object.hasOwn(kinds, kind)) continue;
      const fault = `refers to "${kind}"; expected the name of a record kind`; // It could not be joined.
      faults.push({ path: [...path, 'fields', field], fault });
    }
    for (const field of Object.keys(fields))
      checkKey([...path, 'fields', field], expectedField(fields, field));
  }
  return faults;
}

/** A description of the names that are allowed for a kind; null if this one can be used. */
function expectedName(name: string, otherViews: readonly string[]): string | null {
  if (!KIND_NAME.test(name)) return 'the name of a record kind: small letters, digits and _';
  if (name.length > MAX_NAME_LENGTHS.kind) return `a name of at most ${MAX_NAME_LENGTHS.kind} characters`;
  if (documentedKind(name)) return 'a name that the catalogue does not use';
  const prefix = RESERVED_PREFIXES.find((candidate) => name.startsWith(candidate));
  if (prefix !== undefined) return `a name that does not begin with ${RESERVED_PREFIXES.join(', ')}`;
  const suffix = RESERVED_SUFFIXES.find((candidate) => name.endsWith(candidate));
  if (suffix !== undefined) return `a name that does not end in ${RESERVED_SUFFIXES.join(', ')}`;
  // Indexes and sequences of the engine have names that begin with their table's.
  const isOfEngine = ENGINE_TABLE_NAMES.some((table) => name === table || name.startsWith(`${table}_`));
  const isTaken = isOfEngine || OTHER_RESERVED_NAMES.includes(name) || otherViews.includes(name);
  return isTaken ? 'a name that bms-sync does not use for a table or view' : null;
}

function listArrayNames(kinds: Tree, kind: string): string[] {
  return Object.entries(mapAt(kinds, [kind, 'fields']))
    .filter(([, type]) => type === 'json')
    .map(([field]) => `${kind}_${field}`);
}

/** Kind `sales` with an array `products` would create the view of kind `sales_products`. */
const isTakenByView = (array: string): boolean =>
  documentedKind(array) !== undefined || OTHER_RESERVED_NAMES.includes(array) || array.endsWith('_history');

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
