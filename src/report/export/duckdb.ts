import type * as Library from '@duckdb/node-api';

/** The library, which is loaded only where it is needed. */
export type Duckdb = typeof Library;

interface OpenDuckdb {
  readonly run: (statement: string) => Promise<void>;
  readonly close: () => void;
}

interface DuckdbOptions {
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
