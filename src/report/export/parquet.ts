import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { shortestNumber } from '../../lib/json/decimal.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import type { Values } from '../../mirror/session/session.ts';
import { identifier, literal } from '../../mirror/session/sql-text.ts';
import { createWaitingRows, loadDuckdb, openDuckdb } from './duckdb.ts';
import type { Duckdb, DuckdbOptions } from './duckdb.ts';
import type { ExportColumn, ExportSource, ExportType } from './read-rows.ts';

interface ParquetFile {
  readonly source: ExportSource;
  /** The file to write. */
  readonly path: string;
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
 * @throws {UsageError} `export.no_duckdb` where DuckDB is not installed.
 */
export async function writeParquet(file: ParquetFile): Promise<Unfit> {
  const library = await loadDuckdb();
  const folder = await mkdtemp(`${file.path}.parts-`);
  try {
    return await writeParts(file, library, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeParts(
  { source, path, onRows }: ParquetFile,
  library: Duckdb,
  folder: string,
): Promise<Unfit> {
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
    if (value === null || TYPES[type].fits(String(value))) return value;
    unfit.set(name, (unfit.get(name) ?? 0) + 1);
    return null;
  });
}

const INT64 = { smallest: -(2n ** 63n), largest: 2n ** 63n - 1n };
const [WHOLE_DIGITS, PLACES] = [28, 10];
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/;
const always = (): boolean => true;

/** The type of DuckDB for each of ours, and whether it holds a text exactly. */
const TYPES: Record<ExportType, { readonly name: string; readonly fits: (text: string) => boolean }> = {
  integer: {
    name: 'BIGINT',
    fits: (text) =>
      /^-?\d{1,19}$/.test(text) && BigInt(text) >= INT64.smallest && BigInt(text) <= INT64.largest,
  },
  decimal: {
    name: `DECIMAL(${WHOLE_DIGITS + PLACES},${PLACES})`,
    fits: (text) => {
      const [whole = '', fraction = ''] = (shortestNumber(text) ?? '').replace('-', '').split('.');
      return whole !== '' && whole.length <= WHOLE_DIGITS && fraction.length <= PLACES;
    },
  },
  exact: { name: 'VARCHAR', fits: always },
  real: { name: 'DOUBLE', fits: (text) => Number.isFinite(Number(text)) },
  date: { name: 'DATE', fits: isCalendarDate },
  timestamp: {
    name: 'TIMESTAMP',
    fits: (text) => TIMESTAMP.test(text) && isCalendarDate(text.slice(0, 10)),
  },
  text: { name: 'VARCHAR', fits: always },
  untyped: { name: 'VARCHAR', fits: always },
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

interface PartsOptions extends Pick<DuckdbOptions, 'library' | 'folder' | 'describe'> {
  readonly columns: readonly ExportColumn[];
}

/** Collects rows and writes them into small files, whose names are in the order of the rows. */
async function createParts(options: PartsOptions): Promise<Parts> {
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
  `cast(c${index} as ${TYPES[type].name}) as ${identifier(name)}`;

/** Joins files in the order of their names. A group takes little memory: its number of rows depends on their length. */
function joining(files: string, path: string, lettersARow: number): string {
  const rows = Math.min(ROWS_A_GROUP, Math.max(1, Math.floor(LETTERS_A_GROUP / lettersARow)));
  const all = `select * from read_parquet(${literal(files)})`;
  return `copy (${all}) to ${literal(path)} (format parquet, row_group_size ${rows})`;
}

/** A pattern that matches this path alone. */
const patternOf = (path: string): string => path.replace(/[[*?]/g, '[$&]');

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
