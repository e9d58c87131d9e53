import type { Kind } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';

/** Field names tracked for a kind; a service that sends more sends data as names. */
export const MOST_FIELDS = 1_000;
/** A longer name could have no column, and PostgreSQL could not index it. */
const LONGEST_NAME = 255;

interface BoundedFields {
  /** The records with the tracked fields only. */
  readonly records: readonly JsonObject[];
  /** Names that are not tracked. */
  readonly untracked: ReadonlySet<string>;
}

/**
 * Keeps the number of field names bounded: documented and known ones are tracked, further ones while there is room.
 *
 * @param known Names that are tracked so far.
 */
export function boundFields(
  kind: Kind,
  known: ReadonlyMap<string, unknown>,
  records: readonly JsonObject[],
): BoundedFields {
  const documented = new Set(kind.fields.map(({ name }) => name));
  const isKnown = (name: string): boolean => documented.has(name) || known.has(name);
  if (records.every((record) => Object.keys(record).every(isKnown)))
    return { records, untracked: new Set() }; // Nearly always.
  const [added, untracked] = [new Set<string>(), new Set<string>()];
  const isTracked = (name: string): boolean => {
    if (isKnown(name) || added.has(name)) return true;
    if (known.size + added.size >= MOST_FIELDS || name.length > LONGEST_NAME) return false;
    added.add(name);
    return true;
  };
  const bounded = records.map((record) => {
    const names = Object.keys(record);
    const others = names.filter((name) => !isTracked(name));
    if (others.length === 0) return record;
    for (const name of others) untracked.add(name);
    const tracked = names.filter(isTracked).map((name) => [name, record[name]] as const);
    return Object.fromEntries(tracked) as JsonObject;
  });
  return { records: bounded, untracked };
}
