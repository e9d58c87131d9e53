import { KINDS, kindNamed } from '../catalog/catalog.ts';
import type { ListOrder } from '../catalog/kind.ts';
import { didYouMean } from './did-you-mean.ts';
import { isTree, originOf, valueAt } from './layer.ts';
import type { Layer, Path, Tree } from './layer.ts';

const NAME = /^[a-z][a-z0-9_]*$/;

/** Lists whose first pages never show new records. */
const NEWEST_ELSEWHERE: readonly unknown[] = ['created, oldest first', 'code'] satisfies ListOrder[];

/**
 * Finds schedules of kinds that do not exist, cannot be pulled or do not list new records first; the schema knows no kinds.
 */
export function scheduleFaults(values: Tree, layers: readonly Layer[]): string[] {
  const schedules = mapAt(values, ['schedules']);
  const further = mapAt(values, ['kinds']);
  const told = (path: Path, fault: string): string =>
    `${path.join('.')} (from ${originOf(layers, path)}): ${fault}`;
  return Object.entries(schedules)
    .filter(([name]) => name !== 'timezone' && name !== 'verify')
    .flatMap(([name, wish]) => {
      const path = ['schedules', name];
      const wrongName = NAME.test(name) ? [] : ['expected the key to be a name: small letters, digits and _'];
      const faults = kindsOf(name, wish).flatMap((kind) => kindFault(kind, further));
      return [...wrongName, ...faults, ...pagesFault(wish, further)].map((fault) => told(path, fault));
    });
}

function kindsOf(name: string, wish: unknown): string[] {
  if (typeof wish === 'string') return [name];
  if (!isTree(wish)) return []; // For the schema to say.
  const { kind, kinds } = wish;
  return [kind, ...(Array.isArray(kinds) ? (kinds as unknown[]) : [])].filter(
    (each) => typeof each === 'string',
  );
}

function kindFault(kind: string, further: Tree): string[] {
  if (Object.hasOwn(further, kind)) return [];
  const known = [...KINDS.map(({ name }) => name), ...Object.keys(further)];
  const declared = kindNamed(kind);
  if (declared === undefined) return [`unknown record kind${didYouMean(kind, known)}`];
  return declared.list === null ? [`the service has no list of ${kind}, so it cannot be pulled`] : [];
}

function pagesFault(wish: unknown, further: Tree): string[] {
  if (!isTree(wish) || wish['pages'] === undefined || wish['pages'] === null) return [];
  const kind = String(wish['kind']);
  const order = kindNamed(kind)?.list?.order ?? mapAt(further, [kind])['order'];
  if (!NEWEST_ELSEWHERE.includes(order)) return [];
  const why = order === 'code' ? 'is in the order of code' : 'shows the newest last';
  return [`pages are for a list that shows the newest first, and that of ${kind} ${why}`];
}

/** The map at a path; empty where there is none, which is for the schema to say. */
function mapAt(values: Tree, path: Path): Tree {
  const map = valueAt(values, path);
  return isTree(map) ? map : {};
}
