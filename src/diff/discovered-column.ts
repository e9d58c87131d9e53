import type { Field, Kind } from '../catalog/kind.ts';
import {
  DECIMAL_TWINS,
  LONGEST_IDENTIFIER,
  LONGEST_NAMES,
  POSTGRES_COLUMNS,
} from '../catalog/reserved-names.ts';
import { isStorable } from '../lib/text/text.ts';
import type { SeenField } from './observe-fields.ts';

/** A kind with more columns sends data as field names; further fields stay in `_raw`. */
const MOST_COLUMNS = 300;

/**
 * The column for an undocumented field. Its type never changes afterwards: a field that was only ever empty is a text, which
 * holds any later scalar.
 */
export function discoveredColumn({ hints }: Kind, name: string, { type, fitsHint }: SeenField): Field {
  const hint = hints.find((candidate) => candidate.name === name);
  if (hint !== undefined && fitsHint) return hint;
  return { name, type: type === 'none' ? 'text' : type };
}

/**
 * The reason why a field cannot have a column of its own name; null if it can.
 *
 * Databases compare names without regard to case, decimals take further names, and the mirror's own names begin with
 * `_`.
 */
export function columnObstacle(kind: Kind, { name, type }: Field): string | null {
  if (!isStorable(name) || name === '') return 'its name is no text that a database keeps';
  if (Buffer.byteLength(name) > LONGEST_NAMES.field) return 'its name is too long';
  if (name.startsWith('_')) return 'names that begin with _ are those of bms-sync';
  if (kind.fields.length >= MOST_COLUMNS) return `the kind has ${kind.fields.length} columns already`;
  const taken = takenNames(kind);
  const clash = namesOf({ name, type }).find((candidate) => taken.has(candidate));
  return clash === undefined ? null : `the name "${clash}" is taken`;
}

/**
 * The name of the text column for values that do not fit a field: `<field>_text`, or `<field>_text_2` and so on if a
 * field of the service has that name; null if the kind can have no further column, or no name is short enough.
 */
export function textColumnName(kind: Kind, field: string): string | null {
  if (kind.fields.length >= MOST_COLUMNS) return null;
  const taken = takenNames(kind);
  const names = Array.from(
    { length: MOST_COLUMNS },
    (_, at) => `${field}_text${at === 0 ? '' : `_${at + 1}`}`,
  );
  const free = names.find((name) => !taken.has(name.toLowerCase()));
  return free !== undefined && Buffer.byteLength(free) <= LONGEST_IDENTIFIER ? free : null;
}

const takenNames = (kind: Kind): ReadonlySet<string> =>
  new Set([...POSTGRES_COLUMNS, ...kind.fields.flatMap(namesOf)]);

function namesOf({ name, type }: Field): string[] {
  const twins = type === 'decimal' ? DECIMAL_TWINS : [];
  return ['', ...twins].map((twin) => (name + twin).toLowerCase());
}
