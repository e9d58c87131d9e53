import type { TreeFile } from './tree.ts';

/** Circles of imports, types included: each as the files on it. */
export function circles(files: readonly TreeFile[]): string[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map(({ from }) => from)]));
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}
