/** Engine tables of corrections from spreadsheets. drizzle-kit generates the migrations from them. */

import {
  bigint,
  integerColumn,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  textColumn,
  timestampColumn,
  type EngineTable,
} from '../../db/rows/engine-column.ts';

/** What a spreadsheet, or an undo, would change. */
export const PLANS = {
  name: 'plans',
  columns: [
    serial('id'),
    textColumn('kind', 'nothing'),
    textColumn<'state', 'open' | 'applied' | 'rejected' | 'withdrawn'>('state', 'nothing'),
    textColumn('origin', 'quotes'), // The name of the file, or `undo of plan 7`.
    textColumn('checksum', 'nothing'), // Of kind and rows: what is applied is what was shown.
    timestampColumn('created_at'),
    textColumn('created_by', 'nothing'),
    optionalTimestamp('applied_at'),
    optionalText('applied_by', 'nothing'),
    optionalTimestamp('approved_at'),
    optionalText('approved_by', 'nothing'), // Another person than who made it.
    optionalTimestamp('closed_at'), // When it was rejected or withdrawn.
    optionalText('closed_by', 'nothing'),
    optionalText('reason', 'quotes'), // Of the rejection.
  ],
  primaryKey: ['id'],
} as const satisfies EngineTable;

/** A row of a plan: what it changes, or why it is refused. */
export const PLAN_ROWS = {
  name: 'plan_rows',
  columns: [
    bigint('plan_id'),
    integerColumn('position'), // The number of the row in the sheet.
    textColumn<'operation', 'create' | 'update'>('operation', 'nothing'),
    optionalText('record_id', 'nothing'),
    textColumn('cells', 'record'), // JSON: `[{"field","old","new"}]`, by the names of a read.
    optionalText('refusal', 'quotes'),
    optionalBigint('entry_id'), // Of the outbox, once the plan is applied.
  ],
  primaryKey: ['plan_id', 'position'],
  indexes: [['record_id']],
} as const satisfies EngineTable;
