import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';
import { openThreadReader } from '../../../src/db/sqlite/thread-reader.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { queryContract } from '../contract/session-contract.ts';

const LONG_SELECT =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000000) select max(i) from n';

queryContract('SQLite, read in a thread', () =>
  Promise.resolve(openSqliteSession(join(tempFolder(), 'mirror.db'), { readsInThread: true })),
);

describe('a thread that reads', () => {
  test('lets other work of the process go on during a long select', async () => {
    const session = openSqliteSession(join(tempFolder(), 'mirror.db'), { readsInThread: true });
    onTestFinished(() => session.close());
    await session.query(sql`select 1`);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await session.query(sql.raw(LONG_SELECT));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  test('names the fault of the file, and reads once it is there', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const reader = openThreadReader(path);
    onTestFinished(() => reader.close());
    const reading = [reader.read('select 1 as n', []), reader.read('select 2 as n', [])];
    for (const read of reading) await expect(read).rejects.toMatchObject({ code: 'SQLITE_CANTOPEN' });
    new Database(path).exec('create table t (a INTEGER)').close();
    expect(await reader.read('select 3 as n', [])).toEqual([{ n: 3 }]);
  });

  test('moves the log into the file, while the session writes on', async () => {
    const path = join(tempFolder(), 'log.db');
    await using session = openSqliteSession(path, { readsInThread: true });
    await session.atomically((tx) => tx.execute('create table t (x text)'));
    const grown = sql`insert into t select hex(zeroblob(4000)) from json_each(${JSON.stringify(Array(200).fill(0))})`;
    await session.atomically((tx) => tx.query(grown));
    const before = statSync(path).size;
    const writing = session.atomically((tx) => tx.query(grown));
    await Promise.all([session.checkpoint(), writing]);
    await session.checkpoint();
    expect(statSync(path).size).toBeGreaterThan(before + 2_000_000);
    expect(await session.query(sql`select count(*) as n from t`)).toEqual([{ n: 400 }]);
  });

  test('ends what waits when it is closed', async () => {
    const path = join(tempFolder(), 'mirror.db');
    new Database(path).exec('create table t (a INTEGER)').close();
    const reader = openThreadReader(path);
    await reader.read('select 1', []);
    const waiting = expect(reader.read(LONG_SELECT, [])).rejects.toThrow('has ended');
    await reader.close();
    await waiting;
  });
});
