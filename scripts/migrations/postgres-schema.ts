import { sql, type Column } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as changeTables from '../../src/store/tables/change-tables.ts';
import { NOW } from '../../src/store/tables/column-types.ts';
import * as engineTables from '../../src/store/tables/engine-tables.ts';
import * as outboxTables from '../../src/store/tables/outbox-tables.ts';
import * as planTables from '../../src/features/plans/tables.ts';
import * as userTables from '../../src/store/tables/user-tables.ts';
import * as webhookTables from '../../src/store/tables/webhook-tables.ts';

/** The engine tables of PostgreSQL, derived from SQLite's, as drizzle-kit wants them. Nothing else reads this file. */

const TYPES: Readonly<Record<string, (name: string) => pg.PgColumnBuilderBase>> = {
  text: (name) => pg.text(name),
  integer: (name) => pg.integer(name),
  BIGINT: (name) => pg.bigint(name, { mode: 'number' }),
  TIMESTAMP: (name) => pg.timestamp(name, { withTimezone: true, precision: 3, mode: 'string' }),
};

/** The parts of a `case` are computed in their order: nothing is cast that does not fit. */
const NUMBER = sql`
  case when record_id ~ '^(0|-?[1-9][0-9]{0,18})$' then
    case when record_id::numeric between -9223372036854775808 and 9223372036854775807 then record_id::bigint end
  end`;

function postgresColumn(column: SQLiteColumn): pg.PgColumnBuilderBase {
  const { name, default: byDefault } = column;
  const isSerial = column.primary && column.getSQLType() === 'integer';
  if (isSerial) return pg.bigint(name, { mode: 'number' }).primaryKey().generatedByDefaultAsIdentity();
  if (column.generated !== undefined) return pg.bigint(name, { mode: 'number' }).generatedAlwaysAs(NUMBER);
  const built = TYPES[column.getSQLType()]?.(name) as pg.PgTextBuilderInitial<string, [string]>;
  if (byDefault !== undefined) built.default(byDefault === NOW ? sql`now()` : (byDefault as string));
  return column.notNull ? built.notNull() : built;
}

function postgresTable(table: SQLiteTable) {
  const { name, columns, indexes, primaryKeys } = getTableConfig(table);
  const built = Object.fromEntries(columns.map((column: SQLiteColumn) => [column.name, postgresColumn(column)]));
  return pg.pgTable(name, built, (made) => {
    const named = (of: readonly unknown[]) =>
      (of as Column[]).flatMap((column) => made[column.name] ?? []) as unknown as [pg.PgColumn];
    const keys = [...primaryKeys.map((key) => key.columns), (columns as SQLiteColumn[]).filter(isKey)];
    return [
      ...keys.filter((of) => of.length > 0).map((of) => pg.primaryKey({ columns: named(of) })),
      ...indexes.map(({ config }) =>
        (config.unique ? pg.uniqueIndex : pg.index)(config.name).on(...named(config.columns)),
      ),
    ];
  });
}

const isKey = (column: SQLiteColumn): boolean => column.primary && column.getSQLType() !== 'integer';

export const mirrorMeta = postgresTable(engineTables.MIRROR_META);
export const kindState = postgresTable(engineTables.KIND_STATE);
export const runs = postgresTable(engineTables.RUNS);
export const runKinds = postgresTable(engineTables.RUN_KINDS);
export const sightings = postgresTable(engineTables.SIGHTINGS);
export const fields = postgresTable(engineTables.FIELDS);
export const drift = postgresTable(engineTables.DRIFT);
export const issues = postgresTable(engineTables.ISSUES);
export const dictionary = postgresTable(engineTables.DICTIONARY);
export const relations = postgresTable(engineTables.RELATIONS);
export const pages = postgresTable(changeTables.PAGES);
export const touched = postgresTable(changeTables.DIRTY_ROWS);
export const changes = postgresTable(changeTables.CHANGES);
export const deletions = postgresTable(changeTables.DELETIONS);
export const erasures = postgresTable(changeTables.ERASURES);
export const unlistedRows = postgresTable(changeTables.UNLISTED_ROWS);
export const outbox = postgresTable(outboxTables.OUTBOX);
export const outboxAttempts = postgresTable(outboxTables.OUTBOX_ATTEMPTS);
export const outboxKeys = postgresTable(outboxTables.OUTBOX_KEYS);
export const links = postgresTable(outboxTables.LINKS);
export const writeBlocks = postgresTable(outboxTables.WRITE_BLOCKS);
export const workers = postgresTable(outboxTables.WORKERS);
export const webhookEndpoints = postgresTable(webhookTables.WEBHOOK_ENDPOINTS);
export const webhookSecrets = postgresTable(webhookTables.WEBHOOK_SECRETS);
export const webhookDeliveries = postgresTable(webhookTables.WEBHOOK_DELIVERIES);
export const requestBudgets = postgresTable(changeTables.REQUEST_BUDGETS);
export const users = postgresTable(userTables.USERS);
export const decisions = postgresTable(userTables.DECISIONS);
export const plans = postgresTable(planTables.PLANS);
export const planRows = postgresTable(planTables.PLAN_ROWS);
