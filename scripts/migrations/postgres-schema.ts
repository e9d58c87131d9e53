import { sql } from 'drizzle-orm';
import {
  bigint,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import * as changeTables from '../../src/store/tables/change-tables.ts';
import { RECORD_NUMBER, type EngineColumn, type EngineTable } from '../../src/db/rows/engine-column.ts';
import * as engineTables from '../../src/store/tables/engine-tables.ts';
import * as outboxTables from '../../src/store/tables/outbox-tables.ts';
import * as peopleTables from '../../src/store/tables/user-tables.ts';
import * as planTables from '../../src/features/plans/tables.ts';
import * as webhookTables from '../../src/store/tables/webhook-tables.ts';

/** The engine tables as drizzle-kit wants them: named exports. Nothing else reads this file. */

const NOW = sql`now()`;

const BUILDERS = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  bigint: (name: string) => bigint(name, { mode: 'number' }),
  timestamp: (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' }),
};

function postgresColumn({ name, type, notNull, defaultValue: byDefault }: EngineColumn) {
  if (type === 'serial') return bigint(name, { mode: 'number' }).primaryKey().generatedByDefaultAsIdentity();
  const column = BUILDERS[type](name);
  if (byDefault === undefined) return notNull ? column.notNull() : column;
  return column.notNull().default(byDefault === 'now' ? NOW : sql.raw(byDefault));
}

/** The parts of a `case` are computed in their order: nothing is cast that does not fit. */
const NUMBER = sql`
  case when record_id ~ '^(0|-?[1-9][0-9]{0,18})$' then
    case when record_id::numeric between -9223372036854775808 and 9223372036854775807 then record_id::bigint end
  end`;

function postgresTableOf(table: EngineTable) {
  const columns = Object.fromEntries([
    ...table.columns.map((column) => [column.name, postgresColumn(column)] as const),
    ...(table.isNumbered
      ? [[RECORD_NUMBER, bigint(RECORD_NUMBER, { mode: 'number' }).generatedAlwaysAs(NUMBER)] as const]
      : []),
  ]);
  return pgTable(table.name, columns, (built) => {
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

export const mirrorMeta = postgresTableOf(engineTables.MIRROR_META);
export const kindState = postgresTableOf(engineTables.KIND_STATE);
export const runs = postgresTableOf(engineTables.RUNS);
export const runKinds = postgresTableOf(engineTables.RUN_KINDS);
export const sightings = postgresTableOf(engineTables.SIGHTINGS);
export const fields = postgresTableOf(engineTables.FIELDS);
export const drift = postgresTableOf(engineTables.DRIFT);
export const issues = postgresTableOf(engineTables.ISSUES);
export const dictionary = postgresTableOf(engineTables.DICTIONARY);
export const relations = postgresTableOf(engineTables.RELATIONS);
export const pages = postgresTableOf(changeTables.PAGES);
export const touched = postgresTableOf(changeTables.DIRTY_ROWS);
export const changes = postgresTableOf(changeTables.CHANGES);
export const deletions = postgresTableOf(changeTables.DELETIONS);
export const erasures = postgresTableOf(changeTables.ERASURES);
export const unlistedRows = postgresTableOf(changeTables.UNLISTED_ROWS);
export const outbox = postgresTableOf(outboxTables.OUTBOX);
export const outboxAttempts = postgresTableOf(outboxTables.OUTBOX_ATTEMPTS);
export const outboxKeys = postgresTableOf(outboxTables.OUTBOX_KEYS);
export const links = postgresTableOf(outboxTables.LINKS);
export const writeBlocks = postgresTableOf(outboxTables.WRITE_BLOCKS);
export const workers = postgresTableOf(outboxTables.WORKERS);
export const webhookEndpoints = postgresTableOf(webhookTables.WEBHOOK_ENDPOINTS);
export const webhookSecrets = postgresTableOf(webhookTables.WEBHOOK_SECRETS);
export const webhookDeliveries = postgresTableOf(webhookTables.WEBHOOK_DELIVERIES);
export const requestBudgets = postgresTableOf(changeTables.REQUEST_BUDGETS);
export const users = postgresTableOf(peopleTables.USERS);
export const decisions = postgresTableOf(peopleTables.DECISIONS);
export const plans = postgresTableOf(planTables.PLANS);
export const planRows = postgresTableOf(planTables.PLAN_ROWS);
