/** One object of a database that needs another; both by a key that names either among all. */
export interface Use {
  readonly dependent: string;
  readonly target: string;
  /** The number of the column that it needs; 0 for the whole. */
  readonly column: number;
}

/** These objects and all that is built on them: each comes before those that it needs, as they can be dropped. */
export function withAllAbove(uses: readonly Use[], objects: Iterable<string>): readonly string[] {
  const dependents = new Map<string, string[]>();
  for (const { dependent, target } of uses)
    dependents.set(target, [...(dependents.get(target) ?? []), dependent]);
  const [seen, ordered] = [new Set<string>(), [] as string[]];
  const visit = (object: string): void => {
    if (seen.has(object)) return;
    seen.add(object);
    for (const dependent of dependents.get(object) ?? []) visit(dependent);
    ordered.push(object);
  };
  for (const object of objects) visit(object);
  return ordered;
}
