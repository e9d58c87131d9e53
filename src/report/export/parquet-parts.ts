import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DuckDBDataChunk } from '@duckdb/node-api';
import type { SqlValue, Values } from '../../mirror/session/session.ts';
import { identifier, literal } from '../../mirror/session/sql-text.ts';
import { openDuckdb } from './duckdb.ts';
import type { Duckdb } from './duckdb.ts';
import type { ExportColumn, ExportType } from './read-rows.ts';

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
const MEMORY_MB = 16;
const COPIES = 16;
const [ROWS_A_PART, LETTERS_A_PART] = [1_536, 750_000];
const [ROWS_A_GROUP, LETTERS_A_GROUP] = [6_144, 1_500_000];

/** DuckDB keeps the description of each file that it joins: of all parts of a million rows, that is 30 MB. */
const PARTS_JOINED = 40;

interface Parts {
  readonly add: (values: Values) => void;
  /** Whether enough rows wait for a file of their own. */
  readonly isFull: () => boolean;
  readonly write: () => Promise<void>;
  /** Joins all files into this one. */
  readonly joinTo: (path: string) => Promise<void>;
  readonly close: () => void;
}

interface PartsOptions {
  readonly library: Duckdb;
  readonly columns: readonly ExportColumn[];
  readonly folder: string;
  /** Makes an error of what DuckDB has thrown. */
  readonly describe: (cause: unknown) => Error;
}

/** Collects rows and writes them into small files, whose names are in the order of the rows. */
export async function createParts(options: PartsOptions): Promise<Parts> {
  const { columns, folder } = options;
  const waiting = createWaitingRows(columns.length);
  let duckdb = await openDuckdb({ ...options, fill: waiting.fill, memoryMb: MEMORY_MB });
  const rows = `select ${columns.map(typed).join(', ')} from waiting_rows()`;
  let [parts, joined, memoryMb] = [0, 0, MEMORY_MB];
  const fileOf = (stem: 'part' | 'joined', number: number): string =>
    join(folder, `${stem}-${String(number).padStart(9, '0')}.parquet`);
  const joinFiles = (stem: 'part' | 'joined', path: string): Promise<void> =>
    duckdb.run(joining(`${patternOf(folder)}/${stem}-*.parquet`, path, waiting.mean()));
  const joinParts = async (): Promise<void> => {
    await joinFiles('part', fileOf('joined', joined++));
    while (parts > 0) await rm(fileOf('part', --parts));
    duckdb.close(); // It would return little of its memory.
    collectGarbage();
    duckdb = await openDuckdb({ ...options, fill: waiting.fill, memoryMb });
  };
  return {
    add: waiting.add,
    isFull: () => waiting.rows() >= ROWS_A_PART || waiting.letters() >= LETTERS_A_PART,
    write: async () => {
      if (waiting.rows() === 0 && parts + joined > 0) return;
      memoryMb = Math.max(memoryMb, MEMORY_MB + Math.ceil((waiting.letters() * COPIES) / 1_000_000));
      await duckdb.run(`set memory_limit = '${memoryMb}MB'`);
      const path = fileOf('part', parts++);
      await duckdb.run(`copy (${rows}) to ${literal(path)} (format parquet)`);
      waiting.clear();
      if (parts === PARTS_JOINED) await joinParts();
    },
    joinTo: async (path) => {
      if (parts > 0) await joinParts();
      await joinFiles('joined', path);
    },
    close: () => {
      duckdb.close();
    },
  };
}

const typed = ({ name, type }: ExportColumn, index: number): string =>
  `cast(c${index} as ${DUCKDB_TYPES[type]}) as ${identifier(name)}`;

/** Joins files in the order of their names. A group takes little memory: its number of rows depends on their length. */
function joining(files: string, path: string, lettersARow: number): string {
  const rows = Math.min(ROWS_A_GROUP, Math.max(1, Math.floor(LETTERS_A_GROUP / lettersARow)));
  const all = `select * from read_parquet(${literal(files)})`;
  return `copy (${all}) to ${literal(path)} (format parquet, row_group_size ${rows})`;
}

/** A pattern that matches this path alone. */
const patternOf = (path: string): string => path.replace(/[[*?]/g, '[$&]');

interface WaitingRows {
  readonly add: (values: Values) => void;
  /** Puts the next rows into a chunk; none left leaves it empty, which DuckDB takes for the end. */
  readonly fill: (chunk: DuckDBDataChunk) => void;
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

/** The most rows that DuckDB takes at once. */
const VECTOR_ROWS = 2_048;

const textOf = (value: SqlValue): string | null => (value === null ? null : String(value));

/**
 * Frees the memory of objects that are no longer used. Without being told, V8 lets tens of megabytes of them gather where rows
 * stream by for long. Takes some 30 ms.
 */
function collectGarbage(): void {
  collect ??= exposed();
  collect();
}

let collect: (() => void) | undefined;

/** V8's own function, which only a flag makes reachable. */
function exposed(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
