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
import * as changeTables from '../../src/store/tables/change-tables.ts';
import { RECORD_NUMBER, type EngineColumn, type EngineTable } from '../../src/db/rows/engine-column.ts';
import * as engineTables from '../../src/store/tables/engine-tables.ts';
import * as outboxTables from '../../src/store/tables/outbox-tables.ts';
import * as peopleTables from '../../src/store/tables/user-tables.ts';
import * as planTables from '../../src/features/plans/tables.ts';
import * as webhookTables from '../../src/store/tables/webhook-tables.ts';

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

function sqliteColumn({ name, type, notNull, defaultValue: byDefault }: EngineColumn) {
  if (type === 'serial') return integer(name).primaryKey({ autoIncrement: true });
  const column = BUILDERS[type](name);
  if (byDefault === undefined) return notNull ? column.notNull() : column;
  return column.notNull().default(byDefault === 'now' ? NOW : sql.raw(byDefault));
}

/** A cast takes the digits that a text begins with, and the nearest number that fits. */
const NUMBER = sql`case when cast(cast(record_id as integer) as text) = record_id then cast(record_id as integer) end`;

function sqliteTableOf(table: EngineTable) {
  const columns = Object.fromEntries([
    ...table.columns.map((column) => [column.name, sqliteColumn(column)] as const),
    ...(table.isNumbered ? [[RECORD_NUMBER, bigint(RECORD_NUMBER).generatedAlwaysAs(NUMBER)] as const] : []),
  ]);
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

export const mirrorMeta = sqliteTableOf(engineTables.MIRROR_META);
export const kindState = sqliteTableOf(engineTables.KIND_STATE);
export const runs = sqliteTableOf(engineTables.RUNS);
export const runKinds = sqliteTableOf(engineTables.RUN_KINDS);
export const sightings = sqliteTableOf(engineTables.SIGHTINGS);
export const fields = sqliteTableOf(engineTables.FIELDS);
export const drift = sqliteTableOf(engineTables.DRIFT);
export const issues = sqliteTableOf(engineTables.ISSUES);
export const dictionary = sqliteTableOf(engineTables.DICTIONARY);
export const relations = sqliteTableOf(engineTables.RELATIONS);
export const pages = sqliteTableOf(changeTables.PAGES);
export const touched = sqliteTableOf(changeTables.DIRTY_ROWS);
export const changes = sqliteTableOf(changeTables.CHANGES);
export const deletions = sqliteTableOf(changeTables.DELETIONS);
export const erasures = sqliteTableOf(changeTables.ERASURES);
export const unlistedRows = sqliteTableOf(changeTables.UNLISTED_ROWS);
export const outbox = sqliteTableOf(outboxTables.OUTBOX);
export const outboxAttempts = sqliteTableOf(outboxTables.OUTBOX_ATTEMPTS);
export const outboxKeys = sqliteTableOf(outboxTables.OUTBOX_KEYS);
export const links = sqliteTableOf(outboxTables.LINKS);
export const writeBlocks = sqliteTableOf(outboxTables.WRITE_BLOCKS);
export const workers = sqliteTableOf(outboxTables.WORKERS);
export const webhookEndpoints = sqliteTableOf(webhookTables.WEBHOOK_ENDPOINTS);
export const webhookSecrets = sqliteTableOf(webhookTables.WEBHOOK_SECRETS);
export const webhookDeliveries = sqliteTableOf(webhookTables.WEBHOOK_DELIVERIES);
export const requestBudgets = sqliteTableOf(changeTables.REQUEST_BUDGETS);
export const users = sqliteTableOf(peopleTables.USERS);
export const decisions = sqliteTableOf(peopleTables.DECISIONS);
export const plans = sqliteTableOf(planTables.PLANS);
export const planRows = sqliteTableOf(planTables.PLAN_ROWS);
