import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MirrorError, sqliteError } from '../../../src/mirror/session/errors.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';
import { linesOf, runChild, scriptArguments, startInNamespace } from '../child.ts';
import { mirrorFault, openForTest, tempFolder, tempSession, thrownBy } from '../temp-mirror.ts';

describe('a place where no mirror can be', () => {
  const opening = (path: string): Promise<string> => mirrorFault(() => openSqliteSession(path));

  test('a file that is no database', async () => {
    const path = join(tempFolder(), 'notes.txt');
    for (const text of ['hello', 'hello '.repeat(10_000)]) {
      writeFileSync(path, text);
      expect(await opening(path)).toBe('mirror.not_a_database');
    }
  });

  test('a folder', async () => {
    expect(await opening(tempFolder())).toBe('mirror.not_writable');
  });

  test('below a file, where its folder should be', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    expect(await opening(join(file, 'deeper', 'mirror.db'))).toBe('mirror.not_writable');
    expect(await opening(join(file, 'mirror.db'))).toBe('mirror.not_writable');
  });

  test('a name that no file system takes', async () => {
    const long = 'x'.repeat(300);
    expect(await opening(join(tempFolder(), long))).toBe('mirror.not_writable');
    expect(await opening(join(tempFolder(), long, 'mirror.db'))).toBe('mirror.not_writable');
  });

  test.each(['', ':memory:'])('no file at all: "%s"', async (path) => {
    expect(await thrownBy(() => openSqliteSession(path))).toBeInstanceOf(MirrorError);
  });

  test('a folder, a missing folder, a file that this user may not write', async () => {
    const folder = tempFolder();
    const [closed, open] = [join(folder, 'closed'), join(folder, 'open')];
    const [inClosed, inOpen] = [join(closed, 'mirror.db'), join(open, 'mirror.db')];
    for (const [place, file] of [
      [closed, inClosed],
      [open, inOpen],
    ] as const) {
      mkdirSync(place);
      await openSqliteSession(file).close();
      chmodSync(file, 0o444);
    }
    chmodSync(folder, 0o755);
    chmodSync(open, 0o777);
    chmodSync(closed, 0o555);
    onTestFinished(() => {
      chmodSync(closed, 0o755);
    });
    const paths = [join(closed, 'new.db'), join(closed, 'deeper', 'new.db'), inClosed, inOpen];
    const outcomes = await runChild('read-only-folder.ts', ...paths);
    expect(outcomes).toEqual(paths.map(() => 'MirrorError mirror.not_writable'));
  });

  test('a folder that this user cannot even enter', async () => {
    const folder = tempFolder();
    const closed = join(folder, 'closed');
    chmodSync(folder, 0o755);
    mkdirSync(closed, { mode: 0o000 });
    expect(await runChild('read-only-folder.ts', join(closed, 'mirror.db'))).toEqual([
      'MirrorError mirror.not_writable',
    ]);
  });
});

describe('a database that fails at work', () => {
  test('another connection that holds the write lock: mirror.busy, and it goes on once the lock is gone', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openForTest(path);
    await session.atomically(async (tx) => {
      await tx.execute('create table t (a INTEGER)');
      await tx.query(sql`pragma busy_timeout = 20`); // Ten seconds in earnest.
    });
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

  test('a file that was overwritten while it was closed: mirror.not_a_database', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openSqliteSession(path);
    await session.atomically(async (tx) => {
      await tx.execute('create table t (a TEXT)');
      await tx.append({
        table: 't',
        columns: ['a'],
        rows: Array.from({ length: 100 }, () => ['x'.repeat(1000)]),
      });
    });
    await session.close();
    writeFileSync(path, Buffer.alloc(8000, 'garbage '), { flag: 'r+' });
    const use = async (): Promise<void> => {
      await openForTest(path).query(sql`select count(*) from t`);
    };
    expect(await mirrorFault(use)).toBe('mirror.not_a_database');
  });

  test('G03: no more pages: mirror.disk_full, the transaction is gone, and it goes on once there is room', async () => {
    const session = tempSession();
    await session.atomically(async (tx) => {
      await tx.execute('create table t (a TEXT)');
      await tx.query(sql`pragma max_page_count = 20`);
    });
    const insert = (rows: number): Promise<void> =>
      session.atomically((tx) =>
        tx.append({
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

  test('G03: a disk that is really full: mirror.disk_full, and what was acknowledged stays readable', async () => {
    const mounted = tempFolder();
    const child = startInNamespace(
      'mount -t tmpfs -o size=2m none "$1" && shift && exec "$@"',
      mounted,
      process.execPath,
      ...scriptArguments('fill-disk.ts'),
      join(mounted, 'mirror.db'),
    );
    const [line = ''] = await linesOf(child);
    const { acknowledged, ...found } = JSON.parse(line) as { acknowledged: number };
    expect(acknowledged).toBeGreaterThan(3);
    expect(found).toMatchObject({
      code: 'mirror.disk_full',
      whenFull: { rows: 50 * acknowledged, batches: acknowledged },
      integrity: [{ integrity_check: 'ok' }],
    });
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
    ['SQLITE_IOERR_FSYNC', 'mirror.io'],
    ['ENOSPC', 'mirror.disk_full'],
    ['EROFS', 'mirror.not_writable'],
  ])('G04: %s is %s', (code, expected) => {
    expect(sqliteError(Object.assign(new Error('x'), { code }), 'p')).toMatchObject({ code: expected });
  });

  test('what it does not know it passes on unchanged: a bug must look like one', () => {
    const bugs = [
      new TypeError('not a function'),
      Object.assign(new Error('UNIQUE constraint failed'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }),
      Object.assign(new Error('near "x"'), { code: 'SQLITE_ERROR' }),
      'text',
      null,
    ];
    expect(bugs.map((bug) => sqliteError(bug, 'p'))).toEqual(bugs);
  });
});
