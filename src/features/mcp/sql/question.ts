import { SyncError } from '../../../lib/sync-error.ts';

/** A select over the views, as the reader of either database gets it. */
export interface SqlQuestion {
  readonly sql: string;
  /** The most rows that are returned. */
  readonly limit: number;
  readonly timeoutMs: number;
  /** The views that a stranger's select may read; null: the text is our own, and is not checked. */
  readonly views: readonly string[] | null;
}

/** The rows of a select; every value is text, and null is null. */
export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly isTruncated: boolean;
  /** The views that a stranger's select names. */
  readonly views: readonly string[];
}

/** The most rows of an answer. */
export const MOST_ROWS = 200;
/** How long a select may run. */
export const QUERY_MS = 10_000;
/** The longest text of a select. */
export const LONGEST_SQL = 20_000;
/** The most bytes that are read of an answer. */
export const MOST_BYTES = 1_000_000;

/** How each database writes what their selects differ by most. */
export const IDIOMS = {
  sqlite: `In SQLite, a month is substr(day, 1, 7), the days between two are julianday(b) - julianday(a), money is sum(total_e4) / 10000.0.`,
  postgres: `In PostgreSQL, a month is to_char(day, 'YYYY-MM'), the days between two are b - a, money is sum(total_e4) / 10000.0.`,
} as const;

/** Returns the error for a select that is refused. */
export const refusedError = (reason: string): SyncError =>
  new SyncError(`The query was refused: ${reason}.`, {
    code: 'mcp.refused',
    hint: `Write one select over the views that describe lists. ${IDIOMS.sqlite} ${IDIOMS.postgres}`,
  });

/** Returns the error for a select that ran too long. */
export const tooLongError = (timeoutMs: number): SyncError =>
  new SyncError(`The query was ended after ${timeoutMs / 1000} s.`, {
    code: 'mcp.too_long',
    hint: 'Read fewer rows: add a condition, or run a report.',
  });

/** Returns the error for an answer that no process can hold. */
export const tooLargeError = (): SyncError =>
  new SyncError('The answer is too large.', {
    code: 'mcp.too_large',
    hint: 'Select fewer or shorter columns.',
  });

/** Functions that SQLite and PostgreSQL both have; none reads a file, waits, writes, or makes a text much longer. */
const SHARED = `abs avg ceil ceiling coalesce concat concat_ws count cume_dist date degrees dense_rank exp first_value floor
  lag last_value lead length ln log lower ltrim max min mod nth_value ntile nullif octet_length percent_rank power radians rank
  replace round row_number rtrim sign sqrt substr substring sum trim trunc upper`;

/** The functions that a stranger's select may use. */
export const FUNCTIONS = {
  sqlite: new Set(
    `${SHARED} datetime glob group_concat hex ifnull iif if instr json json_array_length json_extract json_type json_valid
    json_each json_tree julianday like likely nullif printf format quote strftime string_agg time timediff total typeof unicode
    unixepoch unlikely -> ->>`.split(/\s+/),
  ),
  postgres: new Set(
    `${SHARED} age bool_and bool_or btrim char_length date_part date_trunc every extract jsonb_array_length json_array_length
    json_extract_path_text jsonb_extract_path_text jsonb_typeof left like_escape make_date mode now overlay percentile_cont
    json percentile_disc position regexp_count reverse right split_part starts_with stddev strpos timezone to_char to_date to_number
    variance width_bucket`.split(/\s+/),
  ),
} as const;
