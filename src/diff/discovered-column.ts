import type { Field, Kind } from '../catalog/kind.ts';
import { DECIMAL_TWINS, LONGEST_NAMES, POSTGRES_COLUMNS } from '../catalog/reserved-names.ts';
import { isStorable } from '../lib/text.ts';
import type { SeenField } from './observe-fields.ts';

/** A kind with more columns than this sends data as names; what is beyond stays in `_raw`. */
const MOST_COLUMNS = 300;

/** The column that an undocumented field becomes; null while it has shown no value. Never retyped afterwards. */
export function discoveredColumn({ hints }: Kind, name: string, { type, fitsHint }: SeenField): Field | null {
  if (type === 'none') return null;
  const hint = hints.find((candidate) => candidate.name === name);
  return hint !== undefined && fitsHint ? hint : { name, type };
}

/**
 * Why a field cannot have a column of its own name; null where it can.
 *
 * Databases tell names apart without regard to case, decimals take further names, and ours begin with `_`.
 */
export function columnObstacle(kind: Kind, { name, type }: Field): string | null {
  if (!isStorable(name) || name === '') return 'its name is no text that a database keeps';
  if (Buffer.byteLength(name) > LONGEST_NAMES.field) return 'its name is too long';
  if (name.startsWith('_')) return 'names that begin with _ are those of bms-sync';
  if (kind.fields.length >= MOST_COLUMNS) return `the kind has ${kind.fields.length} columns already`;
  const taken = new Set([...POSTGRES_COLUMNS, ...kind.fields.flatMap(namesOf)]);
  const clash = namesOf({ name, type }).find((candidate) => taken.has(candidate));
  return clash === undefined ? null : `the name "${clash}" is taken`;
}

function namesOf({ name, type }: Field): string[] {
  const twins = type === 'decimal' ? DECIMAL_TWINS : [];
  return ['', ...twins].map((twin) => (name + twin).toLowerCase());
}
