import { join } from 'node:path';
import type * as Library from '@duckdb/node-api';
import { identifier, literal } from '../../mirror/session/sql-text.ts';
import type { SqlValue, Values } from '../../mirror/session/session.ts';
import type { ExportColumn, ExportType } from './columns.ts';

/** The library, which is loaded only where it is needed. */
export type Duckdb = typeof Library;

const DUCKDB_TYPES: Record<ExportType, string> = {
  integer: 'BIGINT',
  decimal: 'DECIMAL(38,10)',
  exact: 'VARCHAR',
  real: 'DOUBLE',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  text: 'VARCHAR',
  untyped: 'VARCHAR',
};

/** The memory that DuckDB may take, in MB, beside the texts that it is given at once: it copies them several times. */
export const MEMORY_MB = 16;
const COPIES = 16;
const [ROWS_A_PART, LETTERS_A_PART] = [1_536, 750_000];
const [ROWS_A_GROUP, LETTERS_A_GROUP] = [6_144, 1_500_000];

interface Parts {
  readonly add: (values: Values) => void;
  /** Whether enough rows wait for a file of their own. */
  readonly isFull: () => boolean;
  readonly write: () => Promise<void>;
  /** So many rows that a group of the joined file takes little memory. */
  readonly rowsAGroup: () => number;
}

interface PartsOptions {
  readonly connection: Library.DuckDBConnection;
  /** Runs a statement. */
  readonly run: (statement: string) => Promise<void>;
  readonly library: Duckdb;
  readonly columns: readonly ExportColumn[];
  readonly folder: string;
}

/** Collects rows and writes them into small files, whose names are in the order of the rows. */
export function createParts({ connection, run, library, columns, folder }: PartsOptions): Parts {
  const waiting = createWaitingRows(columns.length);
  registerRows({ connection, library, columns }, waiting.fill);
  const typed = columns.map(
    ({ name, type }, index) => `cast(c${index} as ${DUCKDB_TYPES[type]}) as ${identifier(name)}`,
  );
  let [parts, memoryMb] = [0, MEMORY_MB];
  const raiseMemory = async (): Promise<void> => {
    const needed = MEMORY_MB + Math.ceil((waiting.letters() * COPIES) / 1_000_000);
    if (needed <= memoryMb) return;
    memoryMb = needed;
    await run(`set memory_limit = '${memoryMb}MB'`);
  };
  return {
    add: waiting.add,
    isFull: () => waiting.rows() >= ROWS_A_PART || waiting.letters() >= LETTERS_A_PART,
    write: async () => {
      if (waiting.rows() === 0 && parts > 0) return;
      await raiseMemory();
      const path = join(folder, `${String(parts++).padStart(9, '0')}.parquet`);
      await run(`copy (select ${typed.join(', ')} from waiting_rows()) to ${literal(path)} (format parquet)`);
      waiting.clear();
    },
    rowsAGroup: () => Math.min(ROWS_A_GROUP, Math.max(1, Math.floor(LETTERS_A_GROUP / waiting.mean()))),
  };
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

function createWaitingRows(width: number): WaitingRows {
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

/** Gives DuckDB the table function `waiting_rows`, whose columns are texts. */
function registerRows(
  { connection, library, columns }: Omit<PartsOptions, 'folder' | 'run'>,
  fill: WaitingRows['fill'],
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

/** The most rows that DuckDB takes at once. */
const VECTOR_ROWS = 2_048;

const textOf = (value: SqlValue): string | null => (value === null ? null : String(value));
