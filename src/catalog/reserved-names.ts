/** Reserved names: configured kinds and their fields cannot use them. */

/** The engine's tables, those of later stages included: a kind declared today must not collide with them later. */
export const ENGINE_TABLE_NAMES: readonly string[] = [
  'mirror_meta',
  'kind_state',
  'runs',
  'run_kinds',
  'pages',
  'sightings',
  'request_budgets',
  'freshness',
  'unlisted_rows',
  'fields',
  'drift',
  'issues',
  'touched',
  'changes',
  'deletions',
  'erasures',
  'outbox',
  'outbox_attempts',
  'outbox_keys',
  'links',
  'plans',
  'plan_rows',
  'write_blocks',
  'workers',
  'webhook_endpoints',
  'webhook_secrets',
  'webhook_deliveries',
  'users',
  'decisions',
  'dictionary',
  'relations',
];

/** `bi_sync_status`, `bi_statuses`, `bi_purchase_statuses`, `sync_status_now`, `statuses_now`, `price_changes_now` and `client_contacts` are views, `calendar_days` is a table; `schedules.timezone` is a setting. */
export const OTHER_RESERVED_NAMES: readonly string[] = [
  'sync_status',
  'sync_status_now',
  'calendar_days',
  'price_changes_now',
  'statuses',
  'statuses_now',
  'purchase_statuses',
  'client_contacts',
  'timezone',
  'verify',
  'constructor', // A member of every JavaScript object.
];

/** Prefixes of our views and of names that each database reserves. */
export const RESERVED_PREFIXES = ['bi_', 'sqlite_', 'pg_'] as const;

/** A kind's index of deleted rows, its primary key, its history view, and the indexes of nested arrays and of reports. */
export const RESERVED_SUFFIXES = ['_deleted', '_pkey', '_history', '_parents', '_index'] as const;

/** Columns derived from a decimal field, in its table or its view. */
export const DECIMAL_SUFFIXES = ['_real', '_e4', '_exact'] as const;

/** The columns that PostgreSQL gives every table. */
export const POSTGRES_COLUMNS: readonly string[] = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];

/** PostgreSQL truncates names to this number of bytes. */
export const MAX_IDENTIFIER_BYTES = 63;

/** The longest allowed name; leaves room for `bi_`, for derived columns and for the views of nested arrays. */
export const MAX_NAME_LENGTHS = { kind: 40, field: 57 } as const;
