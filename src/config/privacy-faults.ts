import { kindNamed } from '../catalog/catalog.ts';
import { located, mapAt } from './layer.ts';
import type { Layer, Tree } from './layer.ts';

/**
 * Finds fields that `privacy.exclude` cannot name: without them a record could not be told from others, nor its company from
 * another. Names that nobody knows are judged with the mirror, which knows fields that the documentation does not show.
 */
export function privacyFaults(values: Tree, layers: readonly Layer[]): string[] {
  return Object.entries(mapAt(values, ['privacy', 'exclude'])).flatMap(([kind, names]) => {
    const path = ['privacy', 'exclude', kind];
    const texts = (Array.isArray(names) ? (names as unknown[]) : []).map(String);
    return texts.flatMap((name) => {
      const reason = reasonToKeep(values, kind, name);
      return reason === null ? [] : [`${located(layers, path)}: ${name} cannot be excluded: ${reason}`];
    });
  });
}

function reasonToKeep(values: Tree, kind: string, name: string): string | null {
  if (name === 'id') return 'a record is known by it';
  if (name === 'system_id') return 'it tells which company a record belongs to';
  if (keyOf(values, kind).includes(name)) return `it is of the natural key of ${kind}`;
  const marker: unknown = mapAt(values, ['outbound', 'markerFields'])[kind];
  return marker === name ? 'outbound.markerFields needs it to find our creates' : null;
}

function keyOf(values: Tree, kind: string): readonly unknown[] {
  const key: unknown = kindNamed(kind)?.naturalKey ?? mapAt(values, ['kinds', kind])['naturalKey'];
  return Array.isArray(key) ? key : [];
}
