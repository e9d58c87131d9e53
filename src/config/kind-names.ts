import { KINDS } from '../catalog/catalog.ts';
import { didYouMean } from './did-you-mean.ts';
import { isTree, originOf, valueAt } from './layer.ts';
import type { Layer, Tree } from './layer.ts';

/** The settings whose keys are record kinds. */
const KEYED_BY_KIND = [
  ['diff', 'ignoreFields'],
  ['outbound', 'markerFields'],
];

/** Finds keys that name neither a kind of the catalogue nor a further one; the schema alone knows no names. */
export function unknownKinds(values: Tree, layers: readonly Layer[]): string[] {
  const known = [...KINDS.map(({ name }) => name), ...keysAt(values, ['kinds'])];
  return KEYED_BY_KIND.flatMap((path) =>
    keysAt(values, path)
      .filter((key) => !known.includes(key))
      .map((key) => {
        const place = [...path, key];
        return `${place.join('.')} (from ${originOf(layers, place)}): unknown record kind${didYouMean(key, known)}`;
      }),
  );
}

function keysAt(values: Tree, path: readonly string[]): string[] {
  const map = valueAt(values, path);
  return isTree(map) ? Object.keys(map) : [];
}
