import { execFile } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, test } from 'vitest';
import * as changeTables from '../../src/store/tables/change-tables.ts';
import * as engineTables from '../../src/store/tables/engine-tables.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { openForTest } from './postgres-mirror.ts';
import { tempSession } from './temp-mirror.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const TABLES = Object.values<SQLiteTable>({ ...engineTables, ...changeTables }).map((table) =>
  getTableConfig(table),
);

interface ColumnFacts {
  readonly name: unknown;
  readonly type: unknown;
  readonly required: boolean;
}

interface Dialect {
  /** What drizzle-kit calls it. */
  readonly kit: string;
  readonly open: () => Promise<Session>;
  readonly declared: Readonly<Record<string, RegExp>>;
  readonly columns: (session: Session, table: string) => Promise<ColumnFacts[]>;
  readonly key: (session: Session, table: string) => Promise<unknown[]>;
}

const sqlite: Dialect = {
  kit: 'sqlite',
  open: () => Promise.resolve(tempSession()),
  declared: {
    serial: /^integer$/i,
    text: /^text$/i,
    integer: /^integer$/i,
    BIGINT: /^BIGINT$/,
    TIMESTAMP: /^TIMESTAMP$/,
  },
  columns: async (session, table) =>
    (
      await session.query(
        sql`select name, type, "notnull" as required from pragma_table_xinfo(${table}) order by cid`,
      )
    ).map(({ name, type, required }) => ({ name, type, required: required === 1 })),
  key: async (session, table) =>
    (await session.query(sql`select name from pragma_table_xinfo(${table}) where pk > 0 order by pk`)).map(
      ({ name }) => name,
    ),
};

const postgres: Dialect = {
  kit: 'postgresql',
  open: async () => openForTest(await freshDatabaseUrl()),
  declared: {
    serial: /^bigint$/,
    text: /^text$/,
    integer: /^integer$/,
    BIGINT: /^bigint$/,
    TIMESTAMP: /^timestamp\(3\) with time zone$/,
  },
  columns: async (session, table) =>
    (
      await session.query(sql`
        select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required from pg_attribute
        where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped order by attnum`)
    ).map(({ name, type, required }) => ({ name, type, required: required === 1 })),
  key: async (session, table) =>
    (
      await session.query(sql`
        select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where indrelid = to_regclass(${table}) and indisprimary order by array_position(indkey::int2[], attnum)`)
    ).map(({ name }) => name),
};

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('migrations/%s', (name, dialect) => {
  const folder = join(ROOT, 'migrations', name);

  test('says what the schema says: drizzle-kit has nothing to add', async () => {
    const copy = join(tempFolder(), name);
    cpSync(folder, copy, { recursive: true });
    const before = filesIn(copy);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        join(ROOT, 'node_modules/drizzle-kit/bin.cjs'),
        'generate',
        '--dialect',
        dialect.kit,
        '--schema',
        `./scripts/migrations/${name}-schema.ts`,
        '--out',
        relative(ROOT, copy), // It reads snapshots of a relative folder only.
      ],
      { cwd: ROOT },
    );
    expect(stdout).toContain('No schema changes');
    expect(filesIn(copy)).toEqual(before);
  });

  test('makes every engine table, with its columns in order and its key', async () => {
    const session = await dialect.open();
    await session.atomically(async (tx) => {
      for (const migration of readMigrationFiles({ migrationsFolder: folder })) {
        for (const statement of migration.sql) await tx.execute(statement);
      }
    });
    for (const table of TABLES) {
      const columns = await dialect.columns(session, table.name);
      expect(columns.map((column) => [column.name, column.required])).toEqual(
        table.columns.map((column) => [column.name, column.notNull]),
      );
      const key = table.primaryKeys.flatMap(({ columns }) => columns);
      for (const [index, { type }] of columns.entries()) {
        const column = table.columns[index];
        const isSerial = column?.primary === true && column.dataType === 'number';
        expect(type).toMatch(dialect.declared[isSerial ? 'serial' : (column?.getSQLType() ?? '')] ?? /^$/);
        if (column?.primary === true) key.push(column as (typeof key)[number]);
      }
      expect(await dialect.key(session, table.name)).toEqual(key.map(({ name }) => name));
    }
  });

  test('a table with a number of its own gives it to rows that bring none', async () => {
    const session = await dialect.open();
    const ids = await session.atomically(async (tx) => {
      for (const migration of readMigrationFiles({ migrationsFolder: folder })) {
        for (const statement of migration.sql) await tx.execute(statement);
      }
      const columns = ['kind', 'code', 'detail', 'seen_at'];
      const row = ['clients', 'a', 'b', '2026-03-01 12:00:00.000'];
      await tx.insertRows({ table: 'drift', columns, rows: [row, row] });
      return tx.query(sql`select id, seen_at from drift order by id`);
    });
    expect(ids).toEqual([1, 2].map((id) => ({ id, seen_at: '2026-03-01 12:00:00.000' })));
  });

  test('the journal lists exactly the migrations that are there', () => {
    const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
      entries: readonly { tag: string }[];
    };
    const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
    expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files.sort());
  });
});
