import { copyFileSync, existsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refuseTruncated } from '../../../src/mirror/sqlite/refuse-truncated.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';
import { freshMirror, tempFolder } from '../../support/temp-folder.ts';

/** A database in WAL mode with so many rows of half a page each. */
function fill(path: string, rows: number): Database.Database {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.exec('create table if not exists t (id integer primary key, x text)');
  const insert = database.prepare('insert into t (x) values (?)');
  for (let n = 0; n < rows; n++) insert.run('x'.repeat(2000));
  return database;
}

/** A copy of a database with its log, as a process leaves it that was killed, cut to so many bytes. */
function copyOf(path: string, bytes: number): string {
  const copy = join(tempFolder(), 'copy.db');
  copyFileSync(path, copy);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
  truncateSync(copy, bytes);
  return copy;
}

test('a file that lacks any of its bytes is refused, and says how many it should have', () => {
  const path = freshMirror();
  fill(path, 40).close();
  const { size } = statSync(path);
  expect(existsSync(`${path}-wal`)).toBe(false);
  refuseTruncated(path);
  fc.assert(
    fc.property(fc.integer({ min: 100, max: size - 1 }), (bytes) => {
      const copy = copyOf(path, bytes);
      expect(() => {
        refuseTruncated(copy);
      }).toThrow(
        expect.objectContaining({
          code: 'mirror.truncated',
          message: expect.stringMatching(`${bytes} bytes.*\\(${size} bytes\\)`) as string,
          hint: expect.stringContaining('Restore it from a copy') as string,
        }) as Error,
      );
    }),
    { numRuns: 20 },
  );
});

test('pages that only the log holds are not lost, as a process leaves them that dies while it moves them', () => {
  const path = freshMirror();
  const database = fill(path, 40);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const before = statSync(path).size;
  const insert = database.prepare('insert into t (x) values (?)');
  for (let n = 0; n < 40; n++) insert.run('y'.repeat(2000));
  database.pragma('wal_checkpoint(PASSIVE)'); // Moves all, and leaves the log.
  const { size } = statSync(path);
  expect(size).toBeGreaterThan(before);

  for (const bytes of [size, size - 1, before + 1, before]) refuseTruncated(copyOf(path, bytes));
  for (const bytes of [before - 4096, 4096])
    expect(() => {
      refuseTruncated(copyOf(path, bytes));
    }).toThrow(/nowhere/);
  const healed = copyOf(path, before);
  const reopened = new Database(healed);
  expect(reopened.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(reopened.prepare('select count(*) from t').pluck().get()).toBe(80);
  reopened.close();
  database.close();
});

test('a log that shrinks the database asks for no page beyond that', () => {
  const path = freshMirror();
  const database = fill(path, 80);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.exec('delete from t where id > 10');
  database.exec('vacuum');
  const needed = Number(database.pragma('page_count', { simple: true })) * 4096;
  expect(needed).toBeLessThan(statSync(path).size);
  refuseTruncated(copyOf(path, needed));
  database.close();
});

test.each([
  ['no file', null],
  ['an empty file', Buffer.alloc(0)],
  ['a text', Buffer.from('Dear diary, '.repeat(100))],
  ['a few bytes', Buffer.from('SQLite format 3\0')],
])('%s is for SQLite to judge', (_name, content) => {
  const path = freshMirror();
  if (content !== null) writeFileSync(path, content);
  refuseTruncated(path);
});

test('a file that a session of this process has open is not read past SQLite', async () => {
  const path = freshMirror();
  fill(path, 40).close();
  await using first = openSqliteSession(path);
  truncateSync(path, statSync(path).size - 1);
  await openSqliteSession(path).close();
  expect(first.location).toBe(path);
});
