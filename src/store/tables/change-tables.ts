/**
 * Engine tables of change events, deletions, the pages that they are found by, and the reading between sweeps. drizzle-kit
 * generates the migrations from them.
 */

import type { Change } from '../../diff/compare-page.ts';
import type { AbsenceState } from '../../diff/absence.ts';
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core';
import { bigint, recordNumber, serial, text, timestamp } from './column-types.ts';

/** The content of each list page when it was last landed. While the page's digest stays the same, it need not be parsed. */
export const PAGES = sqliteTable(
  'pages',
  {
    kind: text('kind', 'nothing').notNull(),
    page: integer('page').notNull(),
    digest: text('digest', 'nothing').notNull(),
    bytes: bigint('bytes').notNull(),
    ids: text('ids', 'nothing').notNull(),
    fields: text('fields', 'names').notNull(),
    sent: bigint('sent').notNull(),
    response: bigint('response').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.page] })],
);

/** Dirty rows: rows rewritten since their page was landed. Such a page must be parsed even if its digest is unchanged. */
export const DIRTY_ROWS = sqliteTable(
  'touched',
  {
    kind: text('kind', 'nothing').notNull(),
    response: bigint('response').notNull(),
    recordId: text('record_id', 'nothing').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.response, t.recordId] })],
);

/** Change events of records. `seq` is the order that readers may rely on. */
export const CHANGES = sqliteTable(
  'changes',
  {
    seq: serial('seq'),
    kind: text('kind', 'nothing').notNull(),
    recordId: text('record_id', 'nothing').notNull(),
    change: text('change', 'nothing').$type<Change>().notNull(),
    observedFrom: timestamp('observed_from'),
    observedAt: timestamp('observed_at').notNull(),
    before: text('before', 'record'),
    after: text('after', 'record'),
    fields: text('fields', 'record').notNull(),
    origin: text('origin', 'nothing').notNull(),
    runId: bigint('run_id'),
    recordNumber: recordNumber(),
  },
  (t) => [
    index('changes_by_kind_record_id_observed_at_seq').on(t.kind, t.recordId, t.observedAt, t.seq),
    index('changes_by_record_number').on(t.recordNumber),
  ],
);

/** Records that a list no longer shows: suspected, held for a person, or found to be gone, each with its proof. */
export const DELETIONS = sqliteTable(
  'deletions',
  {
    kind: text('kind', 'nothing').notNull(),
    recordId: text('record_id', 'nothing').notNull(),
    state: text('state', 'nothing').$type<AbsenceState>().notNull(), // `deleted` once it is concluded.
    sweep: bigint('sweep').notNull(),
    absentSince: timestamp('absent_since').notNull(),
    lastSeenAt: timestamp('last_seen_at'),
    struckAt: timestamp('struck_at'),
    proof: text('proof', 'nothing'),
    concludedAt: timestamp('concluded_at'),
    certified: bigint('certified')
      .notNull()
      .default(sql`1`), // 1: a certified list lacked the record.
  },
  (t) => [primaryKey({ columns: [t.kind, t.recordId] })],
);

/** Records whose content a person removed: who, when, and whether the record is kept out from then on. */
export const ERASURES = sqliteTable(
  'erasures',
  {
    id: serial('id'),
    kind: text('kind', 'nothing').notNull(),
    recordId: text('record_id', 'nothing').notNull(),
    erasedAt: timestamp('erased_at').notNull(),
    erasedBy: text('erased_by', 'nothing').notNull(), // A user of a machine: `ada@office`.
    suppressed: integer('suppressed').notNull(), // 1: the service still lists the record, and nothing of it is landed.
  },
  (t) => [index('erasures_by_kind_suppressed').on(t.kind, t.suppressed)],
);

/**
 * Rows that we landed and that no kept list response shows: their records were retrieved one by one, or have left the list.
 * The table distinguishes such rows from rows that another program inserted.
 */
export const UNLISTED_ROWS = sqliteTable(
  'unlisted_rows',
  { kind: text('kind', 'nothing').notNull(), recordId: text('record_id', 'nothing').notNull() },
  (t) => [primaryKey({ columns: [t.kind, t.recordId] })],
);

/** The one row `between sweeps`: the token bucket that all processes take their requests from. */
export const REQUEST_BUDGETS = sqliteTable('request_budgets', {
  name: text('name', 'nothing').primaryKey(),
  thousandths: bigint('thousandths').notNull(), // Below 0, requests were made on credit.
  filledAt: timestamp('filled_at').notNull(),
});
