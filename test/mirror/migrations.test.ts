import { execFile } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import * as engine from '../../src/mirror/engine-tables.ts';
import { columnsOf, tempFolder, tempMirror } from './temp-mirror.ts';

const ROOT = join(import.meta.dirname, '../..');

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

test('the migrations folder says what the schema says: drizzle-kit has nothing to add', async () => {
  const copy = join(tempFolder(), 'sqlite');
  cpSync(join(ROOT, 'migrations/sqlite'), copy, { recursive: true });
  const before = filesIn(copy);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      join(ROOT, 'node_modules/drizzle-kit/bin.cjs'),
      'generate',
      ...['--dialect', 'sqlite', '--schema', './src/mirror/sqlite-schema.ts'],
      ...['--out', relative(ROOT, copy)], // It reads snapshots of a relative folder only.
    ],
    { cwd: ROOT },
  );
  expect(stdout).toContain('No schema changes');
  expect(filesIn(copy)).toEqual(before);
});

test('every engine table is among them, with its columns in order and its key', async () => {
  const session = await tempMirror();
  const declared = {
    serial: /^integer$/i,
    text: /^text$/i,
    integer: /^integer$/i,
    bigint: /^BIGINT$/,
    timestamp: /^TIMESTAMP$/,
  };
  for (const table of Object.values(engine)) {
    const columns = await columnsOf(session, table.name);
    expect(columns.map(([name]) => name)).toEqual(table.columns.map(({ name }) => name));
    for (const [index, [, type]] of columns.entries()) {
      expect(type).toMatch(declared[table.columns[index]?.type ?? 'text']);
    }
    const facts = await session.query(
      sql`select name, "notnull" as given, pk from pragma_table_xinfo(${table.name}) order by cid`,
    );
    const required = table.columns.filter(({ notNull }) => notNull).map(({ name }) => name);
    expect(facts.filter(({ given }) => given === 1).map(({ name }) => name)).toEqual(required);
    const key = facts.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a['pk']) - Number(b['pk']));
    expect(key.map(({ name }) => name)).toEqual(table.primaryKey);
  }
});

test('the journal lists exactly the migrations that are there', () => {
  const folder = join(ROOT, 'migrations/sqlite');
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: readonly { tag: string }[];
  };
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files.sort());
});
