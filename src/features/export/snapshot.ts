import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { StoppedError, SyncError } from '../../lib/sync-error.ts';
import { formatInstant, sleepUnlessStopped, type Clock } from '../../lib/time/clock.ts';
import { sqlitePath } from '../../db/open-session.ts';
import { openSnapshotReader } from '../../db/postgres/session.ts';
import type { Queryable } from '../../db/session/session.ts';
import { createSnapshotFile, type SnapshotFile, type SnapshotTable } from '../../db/sqlite/snapshot-file.ts';
import { select } from '../../db/rows/rows.ts';
import { RELATIONS } from '../../store/tables/engine-tables.ts';
import { reportIndexes } from '../../store/schema/change-kind-tables.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { openRuns } from '../../store/runs/open-runs.ts';
import { listRuns } from '../../store/runs/run-store.ts';
import { readDeclaredColumns, readOwnViews } from '../../views/views.ts';
import { writeWhole } from '../../db/output-file.ts';
import { exportColumns, orderingKey, readView, type ExportColumn } from './read-rows.ts';

interface SnapshotRequest {
  /** The address of the mirror. */
  readonly url: string;
  readonly kinds: readonly Kind[];
  /** The file to write or to replace, as `snapshotFile` gives it. */
  readonly path: string;
  /** How long to wait for a running pull. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once, if it waits, with the reason. */
  readonly onWait: (reason: string) => void;
}

/**
 * Writes a SQLite file with the content of the views of one instant, as tables of the same names, columns and types. It
 * holds nothing else: neither the outbox nor secrets. Deleted records are in `bi_deleted_…` and `bi_changes`. It waits for an instant at
 * which no pull is under way, so that it holds no partial list.
 *
 * Reads a mirror in SQLite without the event loop: call it in a process of its own.
 *
 * @throws {SyncError} `file.not_written`; `snapshot.pull_under_way` if no such instant came.
 * @throws {StoppedError} If the signal fires while it waits.
 */
export async function takeSnapshot(request: SnapshotRequest) {
  const { clock, signal, waitMs } = request;
  const untilMs = clock.monotonicMs() + waitMs;
  for (let hasNotified = false; ; hasNotified = true) {
    try {
      return await writeSnapshot(request);
    } catch (error) {
      if (!(error instanceof SyncError) || error.code !== PULL_UNDER_WAY) throw error;
      if (clock.monotonicMs() >= untilMs) throw error;
      if (!hasNotified) request.onWait(error.message);
    }
    await sleepUnlessStopped(POLL_MS, { clock, signal });
    if (signal.aborted) throw new StoppedError('Stopped while waiting for a pull.');
  }
}

const POLL_MS = 1000;

const PULL_UNDER_WAY = 'snapshot.pull_under_way';

async function writeSnapshot({ url, path, kinds, clock }: SnapshotRequest) {
  const takenAt = clock.now();
  const report = { file: path, takenAt: takenAt.toISOString(), tables: 0, rows: 0 };
  const bytes = await writeWhole(path, async (draft) => {
    using file = createSnapshotFile(draft);
    await using reader = await openReader(url, file);
    await refuseDuringPull(reader);
    const tables = await readTables(reader, kinds);
    const references = await readReferences(reader, tables);
    file.create(TAKEN).add([[formatInstant(takenAt)]]);
    report.tables = tables.length;
    for (const table of tables) {
      const indexed = await readIndexed(reader, kinds, table);
      const complete = { ...table, references: references.get(table.name) ?? [], indexed };
      report.rows += await copyTable(reader, file, complete);
    }
    file.commit();
  });
  return { ...report, bytes };
}

/** A connection to the mirror that shows one instant of it. */
type InstantReader = Queryable & AsyncDisposable;

async function openReader(url: string, file: SnapshotFile): Promise<InstantReader> {
  const mirror = sqlitePath(url);
  if (mirror === null) return openSnapshotReader(url);
  return { ...file.attach(mirror), [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** @throws {SyncError} `snapshot.pull_under_way` with the kinds that a pull is reading, or has still to read. */
async function refuseDuringPull(reader: Queryable): Promise<void> {
  const latest = await listRuns(reader, { limit: 1000 });
  const runningIds = latest
    .flatMap((run) => [run, ...run.repeats])
    .filter((run) => run.state === 'running')
    .map((run) => run.id); // Not one whose process is gone.
  const pulls = (await openRuns(reader)).filter(
    (run) => run.command === 'pull' && runningIds.includes(run.id),
  );
  const kinds = [...new Set(pulls.flatMap((pull) => pull.kinds))];
  if (kinds.length === 0) return;
  throw new SyncError(`A pull is still reading ${kinds.join(', ')}.`, {
    code: PULL_UNDER_WAY,
    hint: 'Take the snapshot later.',
  });
}

/** The table with the instant of the snapshot. */
const TAKEN: SnapshotTable = {
  name: 'bi_snapshot',
  columns: [{ name: 'taken_at', type: 'TIMESTAMP' }],
  key: [],
};

interface TableToCopy extends SnapshotTable {
  /** The columns of the view, as they are read. */
  readonly shown: readonly ExportColumn[];
}

/**
 * Returns the views without the histories, whose versions `bi_changes` has. The first one shows ages and leases at the time
 * of the query, so it is read first, at the instant of the snapshot.
 */
async function readTables(reader: InstantReader, kinds: readonly Kind[]): Promise<readonly TableToCopy[]> {
  const tables: TableToCopy[] = [];
  const names = (await readOwnViews(reader, kinds)).map((view) => view.name);
  for (const name of new Set(['bi_sync_status', ...names])) {
    const declared = name.endsWith('_history') ? [] : await readDeclaredColumns(reader, name);
    if (declared.length === 0) continue;
    const shown = exportColumns(declared);
    const types = new Map(declared.map((column) => [column.name, typeOf(column.type)]));
    const columns = shown.map(({ name }) => ({ name, type: types.get(name) ?? '' }));
    const key = orderingKey(name, shown) ?? SMALL_KEYS[name] ?? [];
    tables.push({ name, columns, key, shown });
  }
  return tables;
}

/** The columns that identify a row of a small view. */
const SMALL_KEYS: Readonly<Record<string, readonly string[]>> = {
  bi_sync_status: ['kind'],
  bi_calendar: ['date'],
  bi_statuses: ['kind', 'status'],
  bi_purchase_statuses: ['purchase_id'],
  bi_dictionary: ['view', 'column'],
  bi_relations: ['view', 'column'],
  bi_fields: ['kind', 'field'],
};

/** The type that a table of SQLite declares for one of either database. */
function typeOf(type: string): string {
  const [word = ''] = type.toUpperCase().split(/[ (]/);
  return POSTGRES_ONLY[word] ?? word;
}

const POSTGRES_ONLY: Readonly<Record<string, string>> = { NUMERIC: 'REAL', DOUBLE: 'REAL', TIME: 'TEXT' };

/** Returns the columns that name records of another of these tables, by the table that has them. */
async function readReferences(reader: Queryable, tables: readonly SnapshotTable[]) {
  const columns = new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
  const relations = (await select(reader, RELATIONS, sql`order by view, "column"`)).filter(
    ({ view, column, toView }) => columns.get(view)?.includes(column) === true && columns.has(toView),
  );
  return Map.groupBy(relations, (relation) => relation.view);
}

/** Returns the columns of a table that the mirror has indexes on. */
async function readIndexed(reader: Queryable, kinds: readonly Kind[], { name, columns }: SnapshotTable) {
  const base = name.replace(/^bi_(?:deleted_)?/, '');
  const own = kinds.filter((kind) => base.startsWith(kind.name));
  const mirrored = await Promise.all(own.map((kind) => readMirroredKind(reader, kind)));
  const ofTable = mirrored.flatMap(reportIndexes).filter(({ table }) => table === base);
  const indexed = ofTable.map(({ column = '_changed_at' }) => column);
  return columns.map((column) => column.name).filter((column) => indexed.includes(column));
}

async function copyTable(reader: InstantReader, file: SnapshotFile, table: TableToCopy): Promise<number> {
  if (reader.dialect === 'sqlite') return file.copy(table);
  const { add, end } = file.create(table);
  let rows = 0;
  for await (const batch of readView(reader, { name: table.name, columns: table.shown })) {
    add(batch);
    rows += batch.length;
  }
  end();
  return rows;
}
