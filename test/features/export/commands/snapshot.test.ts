import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { DATABASES, mirrorIn, type Mirror } from '../../../events/support.ts';
import { sandbox } from '../../../pull/support.ts';
import { document, run, type Env } from '../../../support/command-line.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

interface Stage extends Mirror {
  readonly service: Sandbox;
  readonly env: Env;
  readonly file: string;
}

async function stage(database: (typeof DATABASES)[number], kinds: readonly string[] = []): Promise<Stage> {
  const service = await sandbox({ size: 8 });
  const mirror = await mirrorIn(database);
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: mirror.url };
  service.world.insert('clients', { code: 'X', name: 'Élan', credit: '-12345678901234.56' });
  await run(['pull', ...kinds], env);
  return { ...mirror, service, env, file: join(folder, 'bi.db') };
}

function opened(file: string): Sqlite.Database {
  const snapshot = new Sqlite(file, { readonly: true });
  onTestFinished(() => void snapshot.close());
  return snapshot.defaultSafeIntegers();
}

const tablesIn = (snapshot: Sqlite.Database): unknown[] =>
  snapshot.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all();

const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Every row as text, without our instants, which differ from moment to moment. */
function contentOf(snapshot: Sqlite.Database): Record<string, string[]> {
  const isOfMoment = (name: string): boolean => ['bi_snapshot', 'bi_sync_status'].includes(name);
  const names = tablesIn(snapshot)
    .map(String)
    .filter((name) => !isOfMoment(name));
  const textOf = (row: unknown): string => {
    const columns = Object.entries(row as object).filter(([name]) => !name.startsWith('_'));
    return JSON.stringify(Object.fromEntries(columns), asText);
  };
  const rowsOf = (name: string): string[] => snapshot.prepare(`select * from "${name}"`).all().map(textOf);
  return Object.fromEntries(names.map((name) => [name, rowsOf(name).sort()]));
}

describe.each(DATABASES)('%s', (database) => {
  test('a snapshot has the content and the types of the views, and nothing else', async () => {
    const { env, file, session } = await stage(database);
    const secret = 'Only in the outbox';
    await run(['push', 'create', 'clients', '--data', JSON.stringify({ code: 'S', name: secret })], env);

    const ended = await run(['snapshot', file, '--json'], env);

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const snapshot = opened(file);
    const tables = tablesIn(snapshot);
    expect(document(ended)).toMatchObject({ file, tables: tables.length - 1, bytes: statSync(file).size });
    expect(tables.every((name) => /^(bi_|client_contacts$)/.test(String(name)))).toBe(true);
    expect(tables).toEqual(
      expect.arrayContaining(['bi_clients', 'bi_clients_contacts', 'bi_changes', 'bi_sync_status']),
    );
    for (const name of tables.map(String).filter((each) => each !== 'bi_snapshot')) {
      const [count] = await session.query(sql`select count(*) as n from ${sql.identifier(name)}`);
      expect(snapshot.prepare(`select count(*) as n from "${name}"`).get(), name).toEqual({
        n: BigInt(Number(count?.['n'])),
      });
    }
    const types = snapshot.prepare("select name, type from pragma_table_xinfo('bi_clients')").raw().all() as [
      string,
      string,
    ][];
    expect(Object.fromEntries(types)).toMatchObject({
      id: 'BIGINT',
      inactive: 'INTEGER',
      creation_date: 'DATE',
      name: 'TEXT',
      credit: 'REAL',
      credit_exact: 'TEXT',
      credit_e4: 'BIGINT',
    });
    expect(
      snapshot.prepare("select credit, credit_exact, credit_e4 from bi_clients where code = 'X'").get(),
    ).toEqual({
      credit: -12345678901234.56,
      credit_exact: '-12345678901234.56',
      credit_e4: -123456789012345600n,
    });
    expect(snapshot.serialize().includes(secret)).toBe(false);
  });

  test('it is a plain file of its owner, and is replaced at once by one that whoever was admitted may read, too', async () => {
    const { env, file, service } = await stage(database);
    await run(['snapshot', file], env);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    const former = opened(file);
    const [before] = contentOf(former)['bi_clients'] ?? [];

    const [id = 0] = service.world.ids('clients');
    service.world.update('clients', id, { city: 'Rimouski' });
    await run(['pull', 'clients'], env);
    await run(['snapshot', file], env);

    expect(contentOf(former)['bi_clients']?.[0]).toBe(before);
    expect(opened(file).prepare('select city from bi_clients where id = ?').get(id)).toEqual({
      city: 'Rimouski',
    });
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(opened(file).pragma('journal_mode', { simple: true })).toBe('delete');
    expect(readdirSync(join(file, '..'))).toEqual(['bi.db']);
    expect(await readAsNobody(file)).toMatch(/^\d+\n$/);
  });

  test('tools find keys and joins in its tables, though a reference may name a record that is gone', async () => {
    const { env, file, service } = await stage(database);
    const [line = 0] = service.world.ids('purchase_products');
    service.world.update('purchase_products', line, { product_id: 999_999_999 });
    await run(['pull', 'purchase_products'], env);
    await run(['snapshot', file], env);
    const snapshot = opened(file);
    const keyless = ['bi_snapshot', 'bi_issues', 'bi_drift'];
    for (const name of tablesIn(snapshot).filter((each) => !keyless.includes(String(each)))) {
      const keys = snapshot.prepare(`select count(*) from pragma_table_info('${String(name)}') where pk > 0`);
      expect([name, keys.pluck().get() !== 0n]).toEqual([name, true]);
    }
    const declared = snapshot.prepare(`
      select m.name as "view", f."from" as "column", f."table" as to_view, f."to" as to_column
      from sqlite_schema m join pragma_foreign_key_list(m.name) f where m.type = 'table' order by 1, 2`);
    const listed = snapshot.prepare(
      'select "view", "column", to_view, to_column from bi_relations order by 1, 2',
    );
    expect(declared.all().length).toBeGreaterThan(10);
    expect(declared.all()).toEqual(listed.all());
    expect(
      snapshot.prepare('select 1 from bi_purchase_products where product_id = 999999999').get(),
    ).toBeDefined();
  });
});

/** Reads it as a user who owns nothing. */
function readAsNobody(file: string): Promise<string> {
  const script = `const S = require('better-sqlite3'); console.log(new S(process.argv[1], { readonly: true }).prepare('select count(*) as n from bi_clients').get().n)`;
  const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['-e', script, file],
      { cwd: process.cwd(), ...asNobody },
      (_error, stdout, stderr) => {
        resolve(stdout + stderr);
      },
    );
  });
}

test('nothing but a former snapshot is overwritten', async () => {
  const { env, file, url } = await stage('SQLite');
  const mirror = url.replace('file:', '');
  const notes = join(file, '../notes.txt');
  const another = join(file, '../another.db');
  new Sqlite(another).exec('create table t (a)').close();
  writeFileSync(notes, 'mine');
  for (const [path, message] of [
    [mirror, 'belongs to the mirror'],
    [notes, 'is no snapshot'],
    [another, 'is no snapshot'],
    ['/nowhere/bi.db', 'no such folder'],
  ] as const) {
    const ended = await run(['snapshot', path], env);
    expect({ code: ended.code, message: ended.stderr }).toEqual({
      code: 2,
      message: expect.stringContaining(message) as string,
    });
  }
});
