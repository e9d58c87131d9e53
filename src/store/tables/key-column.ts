import type { Field, Kind } from '../../catalog/kind.ts';
import type { ColumnValue } from '../../diff/decode-record.ts';
import { keyText } from '../../diff/match.ts';
import { writeNameOf } from '../../diff/shown-value.ts';

/** Our column of the natural key, by which a create finds what it would double; null in a row that is not filled yet. */
export const KEY_COLUMN = '_key';

/** The fields whose values the column holds: none where nothing is created, or where only a create names its key. */
export const keyedFields = ({ create, repeats, naturalKey, fields }: Kind): readonly Field[] =>
  create === null || repeats === true || naturalKey === 'all sent fields'
    ? []
    : naturalKey.flatMap((name) => fields.find((field) => field.name === name) ?? []);

/** Makes the column's value of a decoded record: none in a kind without it. Some lists show a field under its name in a write. */
export function keyWriter(kind: Kind): (values: readonly ColumnValue[]) => [] | [string] {
  const at = (name: string): number => kind.fields.findIndex((field) => field.name === name);
  const places = keyedFields(kind).map((field) => [at(field.name), at(writeNameOf(field))] as const);
  if (places.length === 0) return () => [];
  return (values) => [keyText(places.map(([own, other]) => values[own] ?? values[other] ?? null))];
}
