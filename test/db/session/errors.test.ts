import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MirrorError, sqliteError } from '../../../src/db/session/errors.ts';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';
import { mirrorFault, tempSession, thrownBy } from '../../store/temp-mirror.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('a place where no mirror can be', () => {
  const opening = (path: string): Promise<string> => mirrorFault(() => openSqliteSession(path));

  test('a file that is no database', async () => {
    const path = join(tempFolder(), 'notes.txt');
    for (const text of ['hello', 'hello '.repeat(10_000)]) {
      writeFileSync(path, text);
      expect(await opening(path)).toBe('mirror.not_a_database');
    }
  });

  test.each(['', ':memory:'])('no file at all: "%s"', async (path) => {
    expect(await thrownBy(() => openSqliteSession(path))).toBeInstanceOf(MirrorError);
  });
});

describe('a database that fails at work', () => {
  test('another connection that holds the write lock: mirror.busy, and it goes on once the lock is gone', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openSqliteSession(path, { busyMs: 20 }); // Thirty seconds in earnest.
    onTestFinished(() => session.close());
    await session.atomically((tx) => tx.execute('create table t (a INTEGER)'));
    const other = new Database(path);
    other.exec('begin immediate');
    const insert = (): Promise<unknown> =>
      session.atomically((tx) => tx.query(sql`insert into t values (1)`));
    expect(await mirrorFault(insert)).toBe('mirror.busy');
    expect(await session.query(sql`select * from t`)).toEqual([]); // Reading goes on.
    other.exec('rollback');
    other.close();
    await insert();
    expect(await session.query(sql`select a from t`)).toEqual([{ a: 1 }]);
  });

  test('a write outside a transaction: mirror.not_writable', async () => {
    const session = tempSession();
    expect(await mirrorFault(() => session.query(sql`create table t (a)`))).toBe('mirror.not_writable');
  });

  test('G03: no more pages: mirror.disk_full, the transaction is gone, and it goes on once there is room', async () => {
    const session = tempSession();
    await session.atomically(async (tx) => {
      await tx.execute('create table t (a TEXT)');
      await tx.query(sql`pragma max_page_count = 20`);
    });
    const insert = (rows: number): Promise<void> =>
      session.atomically((tx) =>
        tx.insertRows({
          table: 't',
          columns: ['a'],
          rows: Array.from({ length: rows }, () => ['x'.repeat(1000)]),
        }),
      );
    await insert(10);
    expect(await mirrorFault(() => insert(1000))).toBe('mirror.disk_full');
    expect(await session.query(sql`select count(*) as rows from t`)).toEqual([{ rows: 10 }]);
    await session.atomically((tx) => tx.query(sql`pragma max_page_count = 100000`));
    await insert(1000);
    expect(await session.query(sql`select count(*) as rows from t`)).toEqual([{ rows: 1010 }]);
  });
});

describe('sqliteError', () => {
  test('names the file, the code and what to do, and keeps the cause', () => {
    const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    const error = sqliteError(cause, '/data/mirror.db');
    expect(error).toBeInstanceOf(MirrorError);
    expect(error).toMatchObject({
      code: 'mirror.disk_full',
      cause,
      message: 'The mirror /data/mirror.db has no room: the disk is full (SQLITE_FULL).',
      hint: expect.stringContaining('Free space') as unknown,
    });
  });

  test.each([
    ['SQLITE_BUSY_SNAPSHOT', 'mirror.busy'],
    ['SQLITE_BUSY', 'mirror.busy'],
    ['SQLITE_READONLY_DBMOVED', 'mirror.not_writable'],
    ['SQLITE_CANTOPEN_ISDIR', 'mirror.not_writable'],
    ['SQLITE_CORRUPT_VTAB', 'mirror.not_a_database'],
    ['SQLITE_NOTADB', 'mirror.not_a_database'],
    ['SQLITE_IOERR_FSYNC', 'mirror.fault'],
    ['SQLITE_PROTOCOL', 'mirror.no_locks'],
    ['SQLITE_IOERR_SHMMAP', 'mirror.no_locks'],
    ['SQLITE_NEVER_SEEN', 'mirror.fault'],
    ['EMFILE', 'mirror.fault'],
    ['ENOSPC', 'mirror.disk_full'],
    ['EROFS', 'mirror.not_writable'],
  ])('G04: %s is %s', (code, expected) => {
    expect(sqliteError(Object.assign(new Error('x'), { code }), 'p')).toMatchObject({ code: expected });
  });

  test('what is ours it passes on unchanged: a bug must look like one', () => {
    const bugs = [
      new TypeError('not a function'),
      Object.assign(new Error('UNIQUE constraint failed'), { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' }),
      Object.assign(new Error('near "x"'), { code: 'SQLITE_ERROR' }),
      'text',
      null,
    ];
    expect(bugs.map((bug) => sqliteError(bug, 'p'))).toEqual(bugs);
  });
});
