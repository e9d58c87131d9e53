import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { openFreshReader } from '../../db/open-session.ts';
import { readNumber } from '../../db/rows/rows.ts';
import type { Queryable, Row } from '../../db/session/session.ts';
import { identifier } from '../../db/session/sql-text.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { OWN_COLUMNS, nestedTables } from '../../store/tables/kind-table.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { ROWS_AT_ONCE, readBatches, type Move } from './copy-tables.ts';

/**
 * Compares both databases: of each table the number of rows and a digest of their values; of the nested arrays, which were decoded
 * again, the number.
 * @throws {SyncError} `move.differs` with the first table that differs.
 */
export async function compareTables(move: Move, kinds: readonly Kind[], url: string): Promise<void> {
  for (const { name, columns } of move.tables)
    await compareTable(move, url, { name, columns: columns.map((column) => column.name) });
  for (const declared of kinds) {
    await compareTable(move, url, { name: declared.name, columns: ['id', ...OWN_COLUMNS] });
    for (const { name } of nestedTables(await readMirroredKind(move.target, declared))) {
      const count = sql`select count(*) from ${sql.identifier(name)}`;
      const before = await readNumber(move.source, count);
      refuseDifference(name, String(before), String(await readNumber(move.target, count)));
    }
  }
}

interface ComparedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Opens a new reader for each table: PostgreSQL ends one that is idle while a large table of the file is read. */
async function compareTable(move: Move, url: string, table: ComparedTable): Promise<void> {
  const before = createDigest(table.columns);
  const after = createDigest(table.columns);
  for await (const rows of readBatches(move, table.name, table.columns)) rows.forEach(before.add);
  await using target = await openFreshReader(url);
  await readTarget(move, target, table, after.add);
  refuseDifference(table.name, before.result(), after.result());
}

function refuseDifference(table: string, before: string, after: string): void {
  if (before === after) return;
  throw new SyncError(`The copy of the table ${table} differs: ${before} before, ${after} after.`, {
    code: 'move.differs',
    hint: 'Nothing is in use there yet. Run bms-sync move again; if it differs again, give it up (bms-sync move --cancel) and report this.',
  });
}

/** Both digests are the same in any order of the rows: the databases sort texts differently. */
async function readTarget(move: Move, target: Queryable, table: ComparedTable, add: (row: Row) => void) {
  const names = sql.raw(table.columns.map(identifier).join(', '));
  await target.query(sql`declare compared cursor for select ${names} from ${sql.identifier(table.name)}`);
  for (;;) {
    move.signal.throwIfAborted();
    const rows = await target.query(sql.raw(`fetch ${ROWS_AT_ONCE} from compared`));
    if (rows.length === 0) break;
    rows.forEach(add);
  }
  await target.query(sql`close compared`);
}

/** A digest of rows in any order: their number, and the sum of a hash of each. */
function createDigest(columns: readonly string[]) {
  let rows = 0;
  let sum = 0n;
  return {
    add: (row: Row): void => {
      const values = columns.map((column) => (row[column] === null ? null : String(row[column])));
      const hash = createHash('sha256').update(JSON.stringify(values)).digest();
      rows += 1;
      sum = BigInt.asUintN(64, sum + hash.readBigUInt64BE());
    },
    result: (): string => `${rows} rows ${sum.toString(16)}`,
  };
}
