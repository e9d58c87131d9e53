import type * as Library from '@duckdb/node-api';
import { errorCode, UsageError } from '../../lib/sync-error.ts';
import type { SqlValue, Values } from '../../mirror/session/session.ts';

/** The library, which is loaded only where it is needed. */
export type Duckdb = typeof Library;

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

interface OpenDuckdb {
  readonly run: (statement: string) => Promise<void>;
  readonly close: () => void;
}

/** The way that DuckDB is opened. */
export interface DuckdbOptions {
  readonly library: Duckdb;
  /** Where it may put what its memory has no room for. */
  readonly folder: string;
  readonly memoryMb: number;
  readonly columns: readonly unknown[];
  /** Puts the next rows into a chunk; none left leaves it empty, which DuckDB takes for the end. */
  readonly fill: (chunk: Library.DuckDBDataChunk) => void;
  /** Makes an error of what DuckDB has thrown. */
  readonly describe: (cause: unknown) => Error;
}

/** Opens DuckDB in memory, with a table function `waiting_rows` whose columns `c0`, `c1`, … are texts. */
export async function openDuckdb({ library, folder, memoryMb, ...rows }: DuckdbOptions): Promise<OpenDuckdb> {
  const instance = await library.DuckDBInstance.create(':memory:', {
    ...{ memory_limit: `${memoryMb}MB`, threads: '1', temp_directory: folder },
  });
  const connection = await instance.connect();
  registerRows(connection, library, rows);
  const run = async (statement: string): Promise<void> => {
    try {
      await connection.run(statement);
    } catch (cause) {
      throw rows.describe(cause);
    }
  };
  let isOpen = true;
  return {
    run,
    close: () => {
      if (!isOpen) return; // A failed reopening leaves this one to be closed again.
      isOpen = false;
      connection.closeSync();
      instance.closeSync();
    },
  };
}

function registerRows(
  connection: Library.DuckDBConnection,
  library: Duckdb,
  { columns, fill }: Pick<DuckdbOptions, 'columns' | 'fill'>,
): void {
  connection.registerTableFunction(
    library.DuckDBTableFunction.create({
      name: 'waiting_rows',
      bindFunction: (bind) => {
        for (const index of columns.keys()) bind.addResultColumn(`c${index}`, library.VARCHAR);
      },
      initFunction: (init) => {
        init.setMaxThreads(1);
      },
      mainFunction: (_, chunk) => {
        fill(chunk);
      },
    }),
  );
}

interface WaitingRows {
  readonly add: (values: Values) => void;
  /** Puts the next rows into a chunk; none left leaves it empty, which DuckDB takes for the end. */
  readonly fill: (chunk: Library.DuckDBDataChunk) => void;
  readonly clear: () => void;
  readonly rows: () => number;
  /** The length of all their texts. */
  readonly letters: () => number;
  /** The length of the texts of a row on average, over all rows. */
  readonly mean: () => number;
}

/** Collects rows, whose values DuckDB gets as texts. @param width The number of columns. */
export function createWaitingRows(width: number): WaitingRows {
  let [rows, taken, letters]: [Values[], number, number] = [[], 0, 0];
  const all = { rows: 0, letters: 0 };
  return {
    add: (values) => {
      const length = values.reduce<number>((sum, value) => sum + String(value ?? '').length, 0);
      rows.push(values);
      letters += length;
      all.rows++;
      all.letters += length;
    },
    fill: (chunk) => {
      const some = rows.slice(taken, taken + VECTOR_ROWS);
      taken += some.length;
      chunk.rowCount = some.length;
      if (some.length === 0) return;
      for (let index = 0; index < width; index++)
        chunk.setColumnValues(
          index,
          some.map((values) => textOf(values[index] ?? null)),
        );
    },
    clear: () => {
      [rows, taken, letters] = [[], 0, 0];
    },
    rows: () => rows.length,
    letters: () => letters,
    mean: () => all.letters / Math.max(1, all.rows) + 1,
  };
}

/** The most rows that DuckDB takes at once. */
const VECTOR_ROWS = 2_048;

const textOf = (value: SqlValue): string | null => (value === null ? null : String(value));
