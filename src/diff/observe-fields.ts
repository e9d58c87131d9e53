import type { Kind } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';
import { seenType, widerType } from './field-type.ts';
import type { SeenType } from './field-type.ts';

/**
 * Looks for fields that the documentation does not show.
 *
 * @param known The types that the kind's undocumented fields have shown so far.
 * @returns Only what is new or wider than known.
 */
export function observeFields(
  kind: Kind,
  known: ReadonlyMap<string, SeenType>,
  records: readonly JsonObject[],
): Map<string, SeenType> {
  const documented = new Set(kind.fields.map(({ name }) => name));
  const news = new Map<string, SeenType>();
  for (const record of records) {
    for (const name of Object.keys(record)) {
      if (documented.has(name)) continue;
      const before = news.get(name) ?? known.get(name);
      if (before === 'json') continue; // Nothing is wider.
      const type = widerType(before ?? 'none', seenType(record[name] ?? null));
      if (type !== before) news.set(name, type);
    }
  }
  return news;
}
