import { sql } from 'drizzle-orm';
import {
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { CHANGES, DELETIONS, PAGES, TOUCHED, UNLISTED_ROWS } from './change-tables.ts';
import type { EngineColumn, EngineTable } from './engine-column.ts';
import {
  DRIFT,
  FIELDS,
  ISSUES,
  KIND_STATE,
  MIRROR_META,
  RUNS,
  RUN_KINDS,
  SIGHTINGS,
} from './engine-tables.ts';
import { LINKS, OUTBOX, OUTBOX_ATTEMPTS, OUTBOX_KEYS, WORKERS, WRITE_BLOCKS } from './outbox-tables.ts';

/** The engine tables as drizzle-kit wants them: named exports. Nothing else reads this file. */

// BI clients rely on the declared type: BIGINT is 64-bit over ODBC, TIMESTAMP a timestamp over JDBC.
const bigint = customType<{ data: number }>({ dataType: () => 'BIGINT' });
const timestamp = customType<{ data: string }>({ dataType: () => 'TIMESTAMP' });

const NOW = sql`(strftime('%Y-%m-%d %H:%M:%f', 'now'))`;

const BUILDERS = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  bigint: (name: string) => bigint(name),
  timestamp: (name: string) => timestamp(name),
};

function sqliteColumn({ name, type, notNull, byDefault }: EngineColumn) {
  if (type === 'serial') return integer(name).primaryKey({ autoIncrement: true });
  const column = BUILDERS[type](name);
  if (byDefault === undefined) return notNull ? column.notNull() : column;
  return column.notNull().default(byDefault === 'now' ? NOW : sql.raw(byDefault));
}

function sqliteTableOf(table: EngineTable) {
  const columns = Object.fromEntries(table.columns.map((column) => [column.name, sqliteColumn(column)]));
  return sqliteTable(table.name, columns, (built) => {
    const named = (names: readonly string[]) => names.flatMap((name) => built[name] ?? []);
    const [keyed, ...moreKeyed] = named(table.primaryKey);
    const [single] = named(table.unique === undefined ? [] : [table.unique]);
    return [
      ...(keyed && !table.columns.some(({ type }) => type === 'serial')
        ? [primaryKey({ columns: [keyed, ...moreKeyed] })]
        : []),
      ...(table.indexes ?? []).flatMap((names) => {
        const [indexed, ...more] = named(names);
        return indexed ? [index(`${table.name}_by_${names.join('_')}`).on(indexed, ...more)] : [];
      }),
      ...(single ? [uniqueIndex(`${table.name}_${table.unique ?? ''}`).on(single)] : []),
    ];
  });
}

export const mirrorMeta = sqliteTableOf(MIRROR_META);
export const kindState = sqliteTableOf(KIND_STATE);
export const runs = sqliteTableOf(RUNS);
export const runKinds = sqliteTableOf(RUN_KINDS);
export const sightings = sqliteTableOf(SIGHTINGS);
export const fields = sqliteTableOf(FIELDS);
export const drift = sqliteTableOf(DRIFT);
export const issues = sqliteTableOf(ISSUES);
export const pages = sqliteTableOf(PAGES);
export const touched = sqliteTableOf(TOUCHED);
export const changes = sqliteTableOf(CHANGES);
export const deletions = sqliteTableOf(DELETIONS);
export const unlistedRows = sqliteTableOf(UNLISTED_ROWS);
export const outbox = sqliteTableOf(OUTBOX);
export const outboxAttempts = sqliteTableOf(OUTBOX_ATTEMPTS);
export const outboxKeys = sqliteTableOf(OUTBOX_KEYS);
export const links = sqliteTableOf(LINKS);
export const writeBlocks = sqliteTableOf(WRITE_BLOCKS);
export const workers = sqliteTableOf(WORKERS);
