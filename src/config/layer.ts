export type Path = readonly string[];
export type Tree = Readonly<Record<string, unknown>>;

/** What is wrong with the value at a path. */
export interface SettingFault {
  readonly path: Path;
  readonly fault: string;
}

/** Settings from one origin, in the nested form. */
export interface Layer {
  /** Where they came from, for messages: a variable, a file, the command line. */
  readonly origin: string;
  readonly values: Tree;
}

/** The layers that were read, the strongest first, and the faults found in reading them. */
export interface ReadLayers {
  readonly layers: readonly Layer[];
  readonly faults: readonly string[];
}

export const combined = (readings: readonly ReadLayers[]): ReadLayers => ({
  layers: readings.flatMap((reading) => reading.layers),
  faults: readings.flatMap((reading) => reading.faults),
});

/** Lays the layers over each other: maps are merged, other values replace weaker ones. */
export function merged(layers: readonly Layer[]): Tree {
  return layers.reduceRight<Tree>((below, layer) => mergedTrees(below, layer.values), {});
}

/** The origin of a merged value; for a missing value, the origin of its nearest existing parent. */
function originOf(layers: readonly Layer[], path: Path): string {
  const value = valueAt(merged(layers), path);
  const holders = layers.filter((layer) => valueAt(layer.values, path) !== undefined);
  const layer = holders.find((holder) => valueAt(holder.values, path) === value) ?? holders[0];
  if (layer) return layer.origin;
  return path.length > 0 ? originOf(layers, path.slice(0, -1)) : 'nowhere';
}

/** Names a setting and its origin, for a message. */
export function located(layers: readonly Layer[], path: Path): string {
  return `${path.join('.')} (from ${originOf(layers, path)})`;
}

export function valueAt(values: unknown, path: Path): unknown {
  return path.reduce((value, key) => {
    const holds = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return holds ? (value as Tree)[key] : undefined;
  }, values);
}

/** The map at a path; empty where there is none, which is for the schema to say. */
export function mapAt(values: Tree, path: Path): Tree {
  const map = valueAt(values, path);
  return isTree(map) ? map : {};
}

/** Wraps a value so that it lies at a path. */
export function treeWith(path: Path, value: unknown): Tree {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value) as Tree;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mergedTrees(below: Tree, above: Tree): Tree {
  const mergedAt = (key: string): unknown => {
    const weaker = valueAt(below, [key]);
    const stronger = valueAt(above, [key]);
    if (!isTree(stronger)) return stronger === undefined ? weaker : stronger;
    // A value where a map belongs stays, so that it is refused rather than hidden by a stronger map.
    return isTree(weaker) ? mergedTrees(weaker, stronger) : (weaker ?? stronger);
  };
  return Object.fromEntries(Object.keys({ ...below, ...above }).map((key) => [key, mergedAt(key)]));
}
