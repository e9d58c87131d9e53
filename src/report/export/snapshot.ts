import type { Kind } from '../../catalog/kind.ts';
import { instantText, systemClock } from '../../lib/time/clock.ts';
import { sqlitePath } from '../../db/open-session.ts';
import { openSnapshotReader } from '../../db/postgres/session.ts';
import type { Session } from '../../db/session/session.ts';
import { beginSnapshot } from '../../db/sqlite/snapshot-file.ts';
import type { SnapshotFile, SnapshotTable } from '../../db/sqlite/snapshot-file.ts';
import { namesOfViews, readDeclaredColumns } from '../../mirror/views/views.ts';
import { exportColumns, keyOf, readView } from './read-rows.ts';
import { outputFault } from '../output-file.ts';

/**
 * Writes a SQLite file with the content of the views of one instant, as tables of the same names, columns and types. It
 * holds nothing else: neither the outbox nor secrets, nor deleted records but in `bi_changes`.
 *
 * Reads a mirror in SQLite without the event loop: call it in a process of its own.
 *
 * @param url The address of the mirror.
 * @param path The file to write or to replace, as `snapshotFile` gives it.
 * @throws {SyncError} `file.not_written`.
 */
export async function takeSnapshot(session: Session, url: string, kinds: readonly Kind[], path: string) {
  const takenAt = instantText(systemClock.now());
  const tables = await tablesOf(session, kinds);
  try {
    const file = beginSnapshot(path);
    try {
      file.create(TAKEN)([[takenAt]]);
      const rows = await copyTables(url, file, tables);
      return { file: path, takenAt, tables: tables.length, rows, bytes: file.finish() };
    } catch (error) {
      file.discard();
      throw error;
    }
  } catch (error) {
    throw outputFault(error, path);
  }
}

/** Says when the snapshot was taken. */
const TAKEN_AT = { name: 'taken_at', type: 'TIMESTAMP' };
const TAKEN: SnapshotTable = { name: 'bi_snapshot', columns: [TAKEN_AT], key: [] };

/** The views, without the histories: they would hold every record once more, and `bi_changes` has its versions. */
async function tablesOf(session: Session, kinds: readonly Kind[]): Promise<readonly SnapshotTable[]> {
  const tables: SnapshotTable[] = [];
  for (const name of await namesOfViews(session, kinds, session.dialect)) {
    const declared = name.endsWith('_history') ? [] : await readDeclaredColumns(session, name);
    if (declared.length === 0) continue;
    const typeOf = (type: string): string =>
      session.dialect === 'sqlite'
        ? type.toUpperCase()
        : (SQLITE_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'TEXT');
    const columns = declared.map((column) => ({ name: column.name, type: typeOf(column.type) }));
    tables.push({ name, columns, key: keyOf(name, exportColumns(declared)) ?? [] });
  }
  return tables;
}

/** The types that SQLite's tables declare for the types of PostgreSQL. */
const SQLITE_TYPES: readonly (readonly [RegExp, string])[] = [
  [/^bigint$/, 'BIGINT'],
  [/^(?:integer|smallint)$/, 'INTEGER'],
  [/^(?:numeric|double|real)/, 'REAL'],
  [/^date$/, 'DATE'],
  [/^timestamp/, 'TIMESTAMP'],
];

async function copyTables(
  url: string,
  file: SnapshotFile,
  tables: readonly SnapshotTable[],
): Promise<number> {
  const mirror = sqlitePath(url);
  if (mirror !== null) {
    file.attach(mirror);
    return tables.reduce((rows, table) => rows + file.copy(table), 0);
  }
  await using reader = await openSnapshotReader(url);
  let rows = 0;
  for (const table of tables) {
    const columns = exportColumns(await readDeclaredColumns(reader, table.name));
    const add = file.create(table);
    for await (const batch of readView(reader, { name: table.name, columns })) {
      add(batch);
      rows += batch.length;
    }
  }
  return rows;
}
