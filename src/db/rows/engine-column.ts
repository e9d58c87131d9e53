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

/** What a text column can hold of a record: its content, names of its fields, quotes from it or from an answer about it. */
export type Holds = 'record' | 'names' | 'quotes' | 'nothing';

/** A column of a table: one of texts declares what `forget` and `privacy.exclude` have to clean in it. */
type TableColumn = EngineColumn &
  ({ readonly type: Exclude<EngineType, 'text'> } | { readonly type: 'text'; readonly holds: Holds });

export interface EngineTable {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly primaryKey: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
  readonly unique?: string;
  /** It has `record_number` behind its columns: `record_id` as the database computes it, null where it is no 64-bit integer. */
  readonly isNumbered?: true;
}

export const RECORD_NUMBER = 'record_number';

const column =
  <Type extends EngineType, Value extends SqlValue>(type: Type, notNull: boolean) =>
  <Name extends string>(name: Name): EngineColumn<Name, Value> & { readonly type: Type } => ({
    name,
    type,
    notNull,
  });

export const serial = column<'serial', number>('serial', true);

/** A text column as a table declares it. */
type TextColumn<Name extends string, Word extends string | null> = EngineColumn<Name, Word> & {
  readonly type: 'text';
  readonly holds: Holds;
};

const text = <Null extends null = never>(notNull: boolean) => {
  function make<Name extends string, Word extends string = string>(
    name: Name,
    holds: Holds,
  ): TextColumn<Name, Word | Null>;
  function make<Name extends string, Word extends string = string>(
    name: Name,
  ): EngineColumn<Name, Word | Null>;
  function make(name: string, holds?: Holds): EngineColumn {
    return { name, type: 'text', notNull, ...(holds && { holds }) };
  }
  return make;
};

/** A column of texts; `textColumn<'state', State>('state')` declares that they are the words of a type. */
export const textColumn = text(true);
export const optionalText = text<null>(false);

export const integerColumn = column<'integer', number>('integer', true);
export const bigint = column<'bigint', number>('bigint', true);
export const timestampColumn = column<'timestamp', string>('timestamp', true);
export const optionalBigint = column<'bigint', number | null>('bigint', false);
export const optionalTimestamp = column<'timestamp', string | null>('timestamp', false);

export const withDefault = <Column extends EngineColumn>(
  plain: Column,
  defaultValue: string,
): Column & { readonly defaultValue: string } => ({ ...plain, defaultValue });
