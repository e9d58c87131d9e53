/** Engine tables of corrections from spreadsheets. drizzle-kit generates the migrations from them. */

import { index, integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core';
import { bigint, serial, text, timestamp } from '../../store/tables/column-types.ts';

/** What a spreadsheet, or an undo, would change. */
export const PLANS = sqliteTable('plans', {
  id: serial('id'),
  kind: text('kind', 'nothing').notNull(),
  state: text('state', 'nothing').$type<'open' | 'applied' | 'rejected' | 'withdrawn'>().notNull(),
  origin: text('origin', 'quotes').notNull(), // The name of the file, or `undo of plan 7`.
  checksum: text('checksum', 'nothing').notNull(), // Of kind and rows: what is applied is what was shown.
  createdAt: timestamp('created_at').notNull(),
  createdBy: text('created_by', 'nothing').notNull(),
  appliedAt: timestamp('applied_at'),
  appliedBy: text('applied_by', 'nothing'),
  approvedAt: timestamp('approved_at'),
  approvedBy: text('approved_by', 'nothing'), // Another person than who made it.
  closedAt: timestamp('closed_at'), // When it was rejected or withdrawn.
  closedBy: text('closed_by', 'nothing'),
  reason: text('reason', 'quotes'), // Of the rejection.
});

/** A row of a plan: what it changes, or why it is refused. */
export const PLAN_ROWS = sqliteTable(
  'plan_rows',
  {
    planId: bigint('plan_id').notNull(),
    position: integer('position').notNull(), // The number of the row in the sheet.
    operation: text('operation', 'nothing').$type<'create' | 'update'>().notNull(),
    recordId: text('record_id', 'nothing'),
    cells: text('cells', 'record').notNull(), // JSON: `[{"field","old","new"}]`, by the names of a read.
    refusal: text('refusal', 'quotes'),
  },
  (t) => [primaryKey({ columns: [t.planId, t.position] }), index('plan_rows_by_record_id').on(t.recordId)],
);
