import { mkdtemp, rm } from 'node:fs/promises';
import { shortestNumber } from '../../lib/json/decimal.ts';
import { errorCode, SyncError, UsageError } from '../../lib/sync-error.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import type { Values } from '../../mirror/session/session.ts';
import type { Duckdb } from './duckdb.ts';
import { createParts } from './parquet-parts.ts';
import type { ExportColumn, ExportSource, ExportType } from './read-rows.ts';

const ABSENT: readonly string[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * Loads DuckDB, which is optional: it is large, and only Parquet needs it.
 *
 * @throws {UsageError} `export.no_duckdb` where it is not installed.
 */
export async function loadDuckdb(): Promise<Duckdb> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    if (!ABSENT.includes(errorCode(cause))) throw cause;
    throw new UsageError('Parquet is written by DuckDB, and @duckdb/node-api is not installed.', {
      code: 'export.no_duckdb',
      hint: 'Run npm install @duckdb/node-api beside bms-sync, or take --format csv or ndjson.',
      cause,
    });
  }
}

interface ParquetFile {
  readonly source: ExportSource;
  /** The file to write. */
  readonly path: string;
  readonly library: Duckdb;
  /** Called after each batch. */
  readonly onRows: (rows: number) => void;
}

/**
 * Writes rows as a Parquet file: amounts as DECIMAL(38,10), never rounded.
 *
 * DuckDB takes rows synchronously while a database gives them in its own time: so small files are written beside the target
 * and then joined, in little memory.
 *
 * @returns How many values of which columns fit no such type; they are null.
 */
export async function writeParquet(file: ParquetFile): Promise<Unfit> {
  const folder = await mkdtemp(`${file.path}.parts-`);
  try {
    return await writeParts(file, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeParts({ source, path, library, onRows }: ParquetFile, folder: string): Promise<Unfit> {
  const unfit = new Map<string, number>();
  const parts = await createParts({ library, columns: source.columns, folder, describe: faultOf(path) });
  try {
    for await (const batch of source.batches) {
      for (const values of batch) parts.add(fitted(source.columns, values, unfit));
      if (parts.isFull()) await parts.write();
      onRows(batch.length);
    }
    await parts.write();
    await parts.joinTo(path);
    return unfit;
  } finally {
    parts.close();
  }
}

/** How many values of a column fit no Parquet type, by the column's name. */
export type Unfit = ReadonlyMap<string, number>;

/** The fault of a statement, with the first line of what DuckDB says. */
const faultOf =
  (path: string) =>
  (cause: unknown): SyncError => {
    const [said = ''] = String(cause).split('\n');
    return new SyncError(`DuckDB could not write ${path}: ${said}`, {
      code: 'export.duckdb',
      hint: 'Look at the free space and the rights there, or take --format csv or ndjson.',
      cause,
    });
  };

/** A row whose values DuckDB casts without rounding; any other value is null and counted. */
function fitted(columns: readonly ExportColumn[], values: Values, unfit: Map<string, number>): Values {
  return columns.map(({ name, type }, index) => {
    const value = values[index] ?? null;
    if (value === null || FITS[type](String(value))) return value;
    unfit.set(name, (unfit.get(name) ?? 0) + 1);
    return null;
  });
}

const INT64 = { smallest: -(2n ** 63n), largest: 2n ** 63n - 1n };
const [WHOLE_DIGITS, PLACES] = [28, 10];
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/;
const always = (): boolean => true;

const FITS: Record<ExportType, (text: string) => boolean> = {
  integer: (text) =>
    /^-?\d{1,19}$/.test(text) && BigInt(text) >= INT64.smallest && BigInt(text) <= INT64.largest,
  decimal: (text) => {
    const [whole = '', fraction = ''] = (shortestNumber(text) ?? '').replace('-', '').split('.');
    return whole !== '' && whole.length <= WHOLE_DIGITS && fraction.length <= PLACES;
  },
  real: (text) => Number.isFinite(Number(text)),
  date: isCalendarDate,
  timestamp: (text) => TIMESTAMP.test(text) && isCalendarDate(text.slice(0, 10)),
  ...{ exact: always, text: always, untyped: always },
};
