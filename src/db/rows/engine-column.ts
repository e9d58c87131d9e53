/** The types that declare the engine's tables, once for both databases and for the rows that the stores read and write. */

import type { SqlValue } from '../session/session.ts';

export type EngineType = 'serial' | 'text' | 'integer' | 'bigint' | 'timestamp';

export interface EngineColumn<Name extends string = string, Value extends SqlValue = SqlValue> {
  readonly name: Name;
  readonly type: EngineType;
  readonly notNull: boolean;
  /** The default value: an SQL literal, or `now`. */
  readonly defaultValue?: string;
  /** Never set: it carries the type of the column's values. */
  readonly value?: Value;
}

export interface EngineTable {
  readonly name: string;
  readonly columns: readonly EngineColumn[];
  readonly primaryKey: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
  readonly unique?: string;
  /** It has `record_number` behind its columns: `record_id` as the database computes it, null where it is no 64-bit integer. */
  readonly isNumbered?: true;
}

export const RECORD_NUMBER = 'record_number';

const column =
  <Value extends SqlValue>(type: EngineType, notNull: boolean) =>
  <Name extends string>(name: Name): EngineColumn<Name, Value> => ({ name, type, notNull });

export const serial = <Name extends string>(
  name: Name,
): EngineColumn<Name, number> & { readonly type: 'serial' } => ({ name, type: 'serial', notNull: true });

/** A column of texts; `textColumn<'state', State>('state')` declares that they are the words of a type. */
export const textColumn = <Name extends string, Word extends string = string>(
  name: Name,
): EngineColumn<Name, Word> => ({ name, type: 'text', notNull: true });

export const optionalText = <Name extends string, Word extends string = string>(
  name: Name,
): EngineColumn<Name, Word | null> => ({ name, type: 'text', notNull: false });

export const integerColumn = column<number>('integer', true);
export const bigint = column<number>('bigint', true);
export const timestampColumn = column<string>('timestamp', true);
export const optionalBigint = column<number | null>('bigint', false);
export const optionalTimestamp = column<string | null>('timestamp', false);

export const withDefault = <Column extends EngineColumn>(
  plain: Column,
  defaultValue: string,
): Column & { readonly defaultValue: string } => ({ ...plain, defaultValue });
