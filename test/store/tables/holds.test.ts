import { ENGINE_TABLES, TABLE_OWNERS } from '../../../src/feature-hooks.ts';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { Session, SqlValue } from '../../../src/db/session/session.ts';
import { movedTables } from '../../../src/features/move/copy-tables.ts';
import type { Holds } from '../../../src/store/tables/column-types.ts';
import { removeExcluded } from '../../../src/store/schema/remove-excluded.ts';
import { DATABASES, mirrorIn } from '../../events/support.ts';
import { sandbox } from '../../pull/support.ts';
import { run, type Env } from '../../support/command-line.ts';
import { everythingIn } from '../../support/whole-mirror.ts';

const MOVED_TABLES = movedTables(ENGINE_TABLES);

const WORD = 'Quatrefages';
const NAME = `Zénobie ${WORD}`;

/** Words of a column that decide whether its row can hold content; everywhere else any word does. */
const WORDS: Readonly<Record<string, string>> = {
  'changes.change': 'updated',
  'drift.code': 'untracked_fields',
  'issues.code': 'no_id',
  'outbox.operation': 'create',
  'outbox.state': 'rejected',
  'plan_rows.operation': 'create',
  'plans.state': 'applied',
  'run_kinds.state': 'invalid',
  'webhook_deliveries.state': 'delivered',
};

/** Texts that are no plain record or quote. */
const TEXTS: Readonly<Record<string, (field: string) => string>> = {
  'outbox.natural_key': (field) => JSON.stringify([[field, JSON.stringify(NAME)]]),
  'outbox.settlement': (field) => JSON.stringify({ unproven: [field], hidden: [field] }),
  'outbox_attempts.request': (field) => `POST /api/clients\n${textOf('record', field)}`,
  'plan_rows.cells': (field) => JSON.stringify([{ field, old: null, new: NAME }]),
};

function textOf(holds: Holds, field: string): string {
  const record = JSON.stringify({ [field]: NAME });
  return { record, quotes: record, names: field, nothing: 'x' }[holds];
}

type MovedTable = (typeof MOVED_TABLES)[number];

/** What a column of texts can hold, as its table declares it; null for another column. drizzle keeps it where its types do not show it. */
function holdsOf(column: MovedTable['columns'][number]): Holds | null {
  const { config } = column as unknown as { config: { fieldConfig?: { holds?: Holds } } };
  return config.fieldConfig?.holds ?? null;
}

/** A row whose texts hold as much as their columns may, about a record of clients. */
function fullRow({ name: table, columns }: MovedTable, id: string, field: string) {
  const row: Record<string, SqlValue> = {};
  for (const column of columns) {
    const { name } = column;
    const holds = holdsOf(column);
    const path = `${table}.${name}`;
    const plain: Readonly<Record<string, SqlValue>> = { kind: 'clients', record_id: id };
    if (holds === null) row[name] = column.getSQLType() === 'TIMESTAMP' ? '2026-01-01 00:00:00.000' : 900;
    else row[name] = plain[name] ?? WORDS[path] ?? TEXTS[path]?.(field) ?? textOf(holds, field);
  }
  return row;
}

const excluding = LISTED_KINDS.filter(({ name }) => name === 'clients').map((kind) =>
  excludeFields(kind, ['mood']),
);

const holding = MOVED_TABLES.filter(({ columns }) =>
  columns.some((column) => ['record', 'quotes'].includes(holdsOf(column) ?? '')),
);

async function fill(session: Session, id: string, field: string): Promise<void> {
  await session.atomically(async (tx) => {
    for (const table of holding) {
      const row = fullRow(table, id, field);
      await tx.insertRows({ table: table.name, columns: Object.keys(row), rows: [Object.values(row)] });
    }
  });
}

async function stage(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: 12 });
  const { url, session } = await mirrorIn(database);
  const id = String(Number(service.world.insert('clients', { name: NAME, mood: NAME })['id']));
  const env: Env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  await run(['pull', 'clients'], env);
  return { url, session, id, env };
}

describe.each(DATABASES)('%s: every text column that holds content of records', (database) => {
  test('holds none of a record that is forgotten', async () => {
    const { url, session, id, env } = await stage(database);
    await fill(session, id, 'name');
    expect(holding.length).toBeGreaterThan(7);

    expect(await run(['forget', 'clients', id, '--suppress', '--yes'], env)).toMatchObject({ code: 0 });

    expect(linesWith(WORD, await everythingIn(url))).toEqual([]);
  });

  test('holds no value of a field that is excluded', async () => {
    const { url, session, id } = await stage(database);
    await fill(session, id, 'mood');
    await session.atomically(async (tx) => {
      await tx.query(
        sql`update clients set name = 'Z', _raw = replace(_raw, ${`"name":"${NAME}"`}, '"name":"Z"')`,
      );
      await tx.query(sql`update plans set origin = 'moods.csv'`); // A person has named the file.
    });

    await removeExcluded(session, excluding, TABLE_OWNERS);

    expect(linesWith(WORD, await everythingIn(url))).toEqual([]);
  });
});

const linesWith = (word: string, text: string): readonly string[] =>
  text.split('\n').filter((line) => line.includes(word));
