import type { DeclaredColumn } from '../../mirror/views/view-columns.ts';

/**
 * The type of an exported column. `exact` is the text of an amount that another column shows as a number; the type of an
 * `untyped` column is that of each value.
 */
export type ExportType = 'integer' | 'decimal' | 'exact' | 'real' | 'date' | 'timestamp' | 'text' | 'untyped';

export interface ExportColumn {
  readonly name: string;
  readonly type: ExportType;
}

const TYPES: readonly (readonly [RegExp, ExportType])[] = [
  [/int/, 'integer'],
  [/^(?:numeric|decimal)/, 'decimal'],
  [/^(?:real|double|float)/, 'real'],
  [/^date$/, 'date'],
  [/^timestamp/, 'timestamp'],
  [/^$/, 'untyped'],
];

const EXACT = '_exact';

/** The types in which a view's columns are exported: the same on both databases. An amount comes with its exact digits. */
export function exportColumns(declared: readonly DeclaredColumn[]): readonly ExportColumn[] {
  const types = new Map(declared.map(({ name, type }) => [name, typeOf(type)]));
  const isAmount = (name: string): boolean =>
    types.has(`${name}${EXACT}`) && ['decimal', 'real', 'untyped'].includes(types.get(name) ?? '');
  return declared.map(({ name }) => {
    if (isAmount(name)) return { name, type: 'decimal' };
    const isExact = name.endsWith(EXACT) && isAmount(name.slice(0, -EXACT.length));
    return { name, type: isExact ? 'exact' : (types.get(name) ?? 'text') };
  });
}

const typeOf = (declared: string): ExportType =>
  TYPES.find(([pattern]) => pattern.test(declared))?.[1] ?? 'text';

/** The name of the column that has the exact digits of an amount. */
export const exactName = (amount: string): string => `${amount}${EXACT}`;

/** The name of the amount whose exact digits a column has. */
export const amountName = (exact: string): string => exact.slice(0, -EXACT.length);

/**
 * The columns that order a view's rows and name each of them, so that it can be read in steps; null where there are none:
 * such views are small.
 */
export function keyOf(view: string, columns: readonly ExportColumn[]): readonly string[] | null {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const keys = [view.endsWith('_history') ? ['id', 'seq'] : [], ['parent_id', 'position'], ['id'], ['seq']];
  return keys.find((key) => key.length > 0 && key.every(has)) ?? null;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a text is a number in the grammar of JSON, which CSV and SQL read too. */
export const isNumberText = (text: string): boolean => JSON_NUMBER.test(text);
