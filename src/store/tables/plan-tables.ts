/** Engine tables of corrections from spreadsheets. drizzle-kit generates the migrations from them. */

import {
  bigint,
  integer,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  text,
  timestamp,
  type EngineTable,
} from '../../db/rows/engine-column.ts';

/** What a spreadsheet, or an undo, would change. */
export const PLANS = {
  name: 'plans',
  columns: [
    serial('id'),
    text('kind'),
    text<'state', 'open' | 'applied'>('state'),
    text('origin'), // The name of the file, or `undo of plan 7`.
    text('checksum'), // Of kind and rows: what is applied is what was shown.
    timestamp('created_at'),
    text('created_by'),
    optionalTimestamp('applied_at'),
    optionalText('applied_by'),
    optionalTimestamp('approved_at'),
    optionalText('approved_by'), // Another person than who made it.
  ],
  primaryKey: ['id'],
} as const satisfies EngineTable;

/** A row of a plan: what it changes, or why it is refused. */
export const PLAN_ROWS = {
  name: 'plan_rows',
  columns: [
    bigint('plan_id'),
    integer('position'), // The number of the row in the sheet.
    text<'operation', 'create' | 'update'>('operation'),
    optionalText('record_id'),
    text('cells'), // JSON: `[{"field","old","new"}]`, by the names of a read.
    optionalText('refusal'),
    optionalBigint('entry_id'), // Of the outbox, once the plan is applied.
  ],
  primaryKey: ['plan_id', 'position'],
  indexes: [['record_id']],
} as const satisfies EngineTable;
