/** A dependency between two database objects, each named by a unique key. */
export interface Use {
  readonly dependent: string;
  readonly target: string;
  /** The number of the column that it needs; 0 for the whole object. */
  readonly column: number;
}

/** These objects and all that depend on them, in the order in which they can be dropped: dependants first. */
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
