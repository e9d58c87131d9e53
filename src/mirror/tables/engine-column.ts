/** Types for declaring the engine's tables, once for both databases. */

export type EngineType = 'serial' | 'text' | 'integer' | 'bigint' | 'timestamp';

export interface EngineColumn {
  readonly name: string;
  readonly type: EngineType;
  readonly notNull: boolean;
  /** The default value: an SQL literal, or `now`. */
  readonly byDefault?: string;
}

export interface EngineTable {
  readonly name: string;
  readonly columns: readonly EngineColumn[];
  readonly primaryKey: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
  readonly unique?: string;
}

const column =
  (type: EngineType, notNull: boolean) =>
  (name: string): EngineColumn => ({ name, type, notNull });

export const serial = column('serial', true);
export const text = column('text', true);
export const integer = column('integer', true);
export const bigint = column('bigint', true);
export const timestamp = column('timestamp', true);
export const optionalText = column('text', false);
export const optionalBigint = column('bigint', false);
export const optionalTimestamp = column('timestamp', false);

export const withDefault = (plain: EngineColumn, byDefault: string): EngineColumn => ({
  ...plain,
  byDefault,
});
