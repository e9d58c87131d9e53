export type Path = readonly string[];
export type Tree = Readonly<Record<string, unknown>>;

/** Settings from one origin, in the nested form. */
export interface Layer {
  /** Where they came from, for messages: a variable, a file, the command line. */
  readonly origin: string;
  readonly values: Tree;
}

/** A layer, or the text of a fault that was found in reading it. */
export type ReadLayer = Layer | string;

/** Lays the layers over each other: maps are merged, other values replace weaker ones. */
export function mergeLayers(layers: readonly Layer[]): Tree {
  return layers.reduceRight<Tree>((below, layer) => mergeTrees(below, layer.values), {});
}

/** The origin of a merged value; for a missing value, the origin of its nearest existing parent. */
function findOrigin(layers: readonly Layer[], path: Path): string {
  const value = valueAt(mergeLayers(layers), path);
  const layersWithValue = layers.filter((layer) => valueAt(layer.values, path) !== undefined);
  const layer =
    layersWithValue.find((holder) => valueAt(holder.values, path) === value) ?? layersWithValue[0];
  if (layer) return layer.origin;
  return path.length > 0 ? findOrigin(layers, path.slice(0, -1)) : 'nowhere';
}

/** Names a setting and its origin, for a message. */
export function nameWithOrigin(layers: readonly Layer[], path: Path): string {
  return `${path.join('.')} (from ${findOrigin(layers, path)})`;
}

export function valueAt(values: unknown, path: Path): unknown {
  return path.reduce((value, key) => {
    const hasKey = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return hasKey ? (value as Tree)[key] : undefined;
  }, values);
}

/** Returns the map at a path, or an empty one. The schema reports the fault. */
export function mapAt(values: Tree, path: Path): Tree {
  const map = valueAt(values, path);
  return isTree(map) ? map : {};
}

/** The same for a list. */
export function listAt(values: Tree, path: Path): readonly unknown[] {
  const list = valueAt(values, path);
  return Array.isArray(list) ? list : [];
}

/** Wraps a value so that it lies at a path. */
export function nestAt(path: Path, value: unknown): Tree {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value) as Tree;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mergeTrees(below: Tree, above: Tree): Tree {
  const mergeKey = (key: string): unknown => {
    const weaker = valueAt(below, [key]);
    const stronger = valueAt(above, [key]);
    if (!isTree(stronger)) return stronger === undefined ? weaker : stronger;
    // Keeps a value that should be a map, so that validation reports it.
    return isTree(weaker) ? mergeTrees(weaker, stronger) : (weaker ?? stronger);
  };
  return Object.fromEntries(Object.keys({ ...below, ...above }).map((key) => [key, mergeKey(key)]));
}
