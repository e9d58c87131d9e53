/** The engine's own tables: what changed, and what it was found by. drizzle-kit makes their migrations from it. */

import {
  bigint,
  integer,
  optionalBigint,
  optionalText,
  optionalTimestamp,
  serial,
  text,
  timestamp,
} from './engine-column.ts';
import type { EngineTable } from './engine-column.ts';

/** What each page of a list showed when it was landed last: while it shows the same, it need not be parsed. */
export const PAGES: EngineTable = {
  name: 'pages',
  columns: [
    text('kind'),
    integer('page'),
    text('digest'),
    bigint('bytes'),
    text('ids'),
    text('fields'),
    bigint('sent'),
    bigint('response'),
    optionalText('records'),
  ],
  primaryKey: ['kind', 'page'],
};

/** Rows that were written again since their page was landed: such a page must be parsed, whatever its digest says. */
export const TOUCHED: EngineTable = {
  name: 'touched',
  columns: [text('kind'), bigint('response'), text('record_id')],
  primaryKey: ['kind', 'response', 'record_id'],
};

/** What happened to a record, in the order in which readers may rely on. */
export const CHANGES: EngineTable = {
  name: 'changes',
  columns: [
    serial('seq'),
    text('kind'),
    text('record_id'),
    text('change'),
    optionalTimestamp('observed_from'),
    timestamp('observed_at'),
    optionalText('before'),
    optionalText('after'),
    text('fields'),
    text('origin'),
    optionalBigint('run_id'),
  ],
  primaryKey: ['seq'],
  indexes: [['kind', 'record_id', 'observed_at', 'seq']],
};

/** Records that a list no longer has: suspected, held for a person, or found to be gone, and by what proof. */
export const DELETIONS: EngineTable = {
  name: 'deletions',
  columns: [
    text('kind'),
    text('record_id'),
    text('state'),
    bigint('sweep'),
    timestamp('absent_since'),
    optionalTimestamp('last_seen_at'),
    optionalTimestamp('struck_at'),
    optionalText('proof'),
    optionalTimestamp('concluded_at'),
    optionalBigint('certified'),
  ],
  primaryKey: ['kind', 'record_id'],
};

/**
 * Rows that we landed and that no kept list response shows: their records were asked for one by one, or have left the list.
 * Without this, such a row could not be told from one that somebody else has inserted.
 */
export const UNLISTED_ROWS: EngineTable = {
  name: 'unlisted_rows',
  columns: [text('kind'), text('record_id')],
  primaryKey: ['kind', 'record_id'],
};
