/**
 * Engine tables of change events, deletions, the pages that they are found by, and the reading between sweeps. drizzle-kit
 * generates the migrations from them.
 */

import type { Change } from '../../diff/compare-page.ts';
import type { AbsenceState } from '../../diff/absence.ts';
import {
  bigint,
  integerColumn,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  textColumn,
  timestampColumn,
  withDefault,
  type EngineTable,
} from '../../db/rows/engine-column.ts';

/** The content of each list page when it was last landed. While the page's digest stays the same, it need not be parsed. */
export const PAGES = {
  name: 'pages',
  columns: [
    textColumn('kind', 'nothing'),
    integerColumn('page'),
    textColumn('digest', 'nothing'),
    bigint('bytes'),
    textColumn('ids', 'nothing'),
    textColumn('fields', 'names'),
    bigint('sent'),
    bigint('response'),
  ],
  primaryKey: ['kind', 'page'],
} as const satisfies EngineTable;

/** Dirty rows: rows rewritten since their page was landed. Such a page must be parsed even if its digest is unchanged. */
export const DIRTY_ROWS = {
  name: 'touched',
  columns: [textColumn('kind', 'nothing'), bigint('response'), textColumn('record_id', 'nothing')],
  primaryKey: ['kind', 'response', 'record_id'],
} as const satisfies EngineTable;

/** Change events of records. `seq` is the order that readers may rely on. */
export const CHANGES = {
  name: 'changes',
  columns: [
    serial('seq'),
    textColumn('kind', 'nothing'),
    textColumn('record_id', 'nothing'),
    textColumn<'change', Change>('change', 'nothing'),
    optionalTimestamp('observed_from'),
    timestampColumn('observed_at'),
    optionalText('before', 'record'),
    optionalText('after', 'record'),
    textColumn('fields', 'record'),
    textColumn('origin', 'nothing'),
    optionalBigint('run_id'),
  ],
  primaryKey: ['seq'],
  indexes: [['kind', 'record_id', 'observed_at', 'seq'], ['record_number']],
  isNumbered: true,
} as const satisfies EngineTable;

/** Records that a list no longer shows: suspected, held for a person, or found to be gone, each with its proof. */
export const DELETIONS = {
  name: 'deletions',
  columns: [
    textColumn('kind', 'nothing'),
    textColumn('record_id', 'nothing'),
    textColumn<'state', AbsenceState>('state', 'nothing'), // `deleted` once it is concluded.
    bigint('sweep'),
    timestampColumn('absent_since'),
    optionalTimestamp('last_seen_at'),
    optionalTimestamp('struck_at'),
    optionalText('proof', 'nothing'),
    optionalTimestamp('concluded_at'),
    withDefault(bigint('certified'), '1'), // 1: a certified list lacked the record.
  ],
  primaryKey: ['kind', 'record_id'],
} as const satisfies EngineTable;

/** Records whose content a person removed: who, when, and whether the record is kept out from then on. */
export const ERASURES = {
  name: 'erasures',
  columns: [
    serial('id'),
    textColumn('kind', 'nothing'),
    textColumn('record_id', 'nothing'),
    timestampColumn('erased_at'),
    textColumn('erased_by', 'nothing'), // A user of a machine: `ada@office`.
    integerColumn('suppressed'), // 1: the service still lists the record, and nothing of it is landed.
  ],
  primaryKey: ['id'],
  indexes: [['kind', 'suppressed']],
} as const satisfies EngineTable;

/**
 * Rows that we landed and that no kept list response shows: their records were retrieved one by one, or have left the list.
 * The table distinguishes such rows from rows that another program inserted.
 */
export const UNLISTED_ROWS = {
  name: 'unlisted_rows',
  columns: [textColumn('kind', 'nothing'), textColumn('record_id', 'nothing')],
  primaryKey: ['kind', 'record_id'],
} as const satisfies EngineTable;

/** The one row `between sweeps`: the token bucket that all processes take their requests from. */
export const REQUEST_BUDGETS = {
  name: 'request_budgets',
  columns: [
    textColumn('name', 'nothing'),
    bigint('thousandths'), // Below 0, requests were made on credit.
    timestampColumn('filled_at'),
  ],
  primaryKey: ['name'],
} as const satisfies EngineTable;
