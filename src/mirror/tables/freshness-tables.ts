/** Engine tables of the reading between sweeps. drizzle-kit generates the migrations from them. */

import { bigint, optionalBigint, optionalTimestamp, text, timestamp } from './engine-column.ts';
import type { EngineTable } from './engine-column.ts';

/** The one row `between sweeps`: the token bucket that all processes take their requests from, by compare-and-set. */
export const REQUEST_BUDGETS = {
  name: 'request_budgets',
  columns: [
    text('name'),
    bigint('thousandths'), // Below 0, requests were made on credit.
    timestamp('filled_at'),
    bigint('times_halved'), // How often the rate was halved because the service wanted fewer requests.
    optionalTimestamp('halved_at'),
  ],
  primaryKey: ['name'],
} as const satisfies EngineTable;

/** The expected age of changes that are not seen yet, by kind. */
export const FRESHNESS = {
  name: 'freshness',
  columns: [
    text('kind'),
    optionalBigint('unseen_p50_seconds'),
    optionalBigint('unseen_p95_seconds'),
    optionalTimestamp('measured_at'),
    optionalTimestamp('sweep_asked_at'), // When a sweep was last asked for before its time.
  ],
  primaryKey: ['kind'],
} as const satisfies EngineTable;
