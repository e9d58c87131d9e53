import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';
import { startChild } from '../../store/child.ts';
import { sessionContract } from '../contract/session-contract.ts';
import { openForTest, tempSession } from '../../store/temp-mirror.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sized } from '../../support/tiers.ts';

sessionContract('SQLite', () => Promise.resolve(tempSession()));

const pragma = async (session: Session, name: string): Promise<unknown> =>
  session.atomically(async (tx) => {
    const [row] = await tx.query(sql.raw(`pragma ${name}`));
    return Object.values(row ?? {})[0];
  });

describe('opening a SQLite file', () => {
  test('G02: a file opened again is in WAL mode with synchronous NORMAL', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const first = openSqliteSession(path);
    await first.atomically((tx) => tx.execute('create table t (a TEXT)'));
    await first.close();
    const again = openForTest(path);
    expect([await pragma(again, 'journal_mode'), await pragma(again, 'synchronous')]).toEqual(['wal', 1]);
  });

  test('a checkpoint that a crash has ended within a page is completed from the WAL', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const crashed = join(tempFolder(), 'mirror.db');
    const session = openForTest(path);
    await session.atomically((tx) => tx.execute('create table t (a TEXT)'));
    await session.atomically((tx) => tx.query(sql`insert into t values (${'x'.repeat(100_000)})`));
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${crashed}${end}`);
    appendFileSync(crashed, Buffer.alloc(5_000));
    const again = openForTest(crashed);
    expect(await again.query(sql`select length(a) as n from t`)).toEqual([{ n: 100_000 }]);
    await again.close();
    expect(statSync(crashed).size % 16_384).toBe(0);
  });

  test('closing leaves one file: the WAL is checkpointed', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openSqliteSession(path);
    await session.atomically((tx) => tx.execute('create table t (a TEXT)'));
    await session.close();
    expect([path, `${path}-wal`, `${path}-shm`].map((file) => existsSync(file))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('G16: only its owner may read the file and what stands beside it', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openForTest(path);
    await session.atomically((tx) => tx.execute('create table t (a TEXT)'));
    const modes = [path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777);
    expect(modes.map((mode) => mode.toString(8))).toEqual(['600', '600', '600']);
  });

  test('G02: from the baseline on, what has landed outlasts a power cut; the next opening must say so again', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const session = openSqliteSession(path);
    expect(await pragma(session, 'synchronous')).toBe(1);
    await session.makeDurable();
    expect([await pragma(session, 'synchronous'), await pragma(session, 'journal_mode')]).toEqual([2, 'wal']);
    await session.makeDurable();
    expect(await pragma(session, 'synchronous')).toBe(2);
    await session.close();
    expect(await pragma(openForTest(path), 'synchronous')).toBe(1);
  });

  test('G02: it becomes durable between transactions, and not within one, where SQLite would ignore it', async () => {
    const session = openForTest(join(tempFolder(), 'mirror.db'));
    let durable: Promise<void> = Promise.resolve();
    const within = session.atomically(async (tx) => {
      durable = session.makeDurable();
      await tx.execute('create table t (a TEXT)');
      return Object.values((await tx.query(sql`pragma synchronous`))[0] ?? {})[0];
    });
    expect(await within).toBe(1);
    await durable;
    expect(await pragma(session, 'synchronous')).toBe(2);
  });

  test('G10: its SQLite is past the fault of two connections that write and checkpoint at once', () => {
    const [major = 0, minor = 0, patch = 0] = String(
      new Database(':memory:').prepare('select sqlite_version()').pluck().get(),
    )
      .split('.')
      .map(Number);
    expect(major * 1_000_000 + minor * 1_000 + patch).toBeGreaterThanOrEqual(3_051_003);
  });
});

test('one reading after another lets other work in between', async () => {
  await using session = tempSession();
  const order: string[] = [];
  setImmediate(() => order.push('other work'));
  await session.query(sql`select 1`);
  order.push('the reading');
  expect(order).toEqual(['other work', 'the reading']);
});

describe('a process that is killed', () => {
  interface Found {
    readonly batches: number;
    readonly torn: number;
    readonly integrity: unknown;
  }

  /** Reads the file as the next start of the service would find it. */
  async function reopened(path: string): Promise<Found> {
    await using session = openSqliteSession(path);
    const sizes = await session.query(sql`select count(*) as size from things group by batch order by batch`);
    return {
      batches: sizes.length,
      torn: sizes.filter(({ size }) => Number(size) !== 200).length,
      integrity: await pragma(session, 'integrity_check'),
    };
  }

  /** Lets a writer commit `batches` batches of 200 rows, then kills it while the next one is open. */
  async function killAfter(path: string, batches: number, where: 'held' | 'running'): Promise<Found> {
    const child = startChild('batch-writer.ts', path, where === 'held' ? String(batches) : 'never');
    let acknowledged = 0;
    for await (const line of child.lines) {
      if (line.startsWith('committed')) acknowledged++;
      if (where === 'held' ? line === 'half-way' : acknowledged === batches) break;
    }
    await child.kill();
    const found = await reopened(path);
    expect(found.batches).toBeGreaterThanOrEqual(acknowledged); // What was acknowledged is there.
    if (where === 'held') expect(found.batches).toBe(acknowledged); // What was open is not.
    return found;
  }

  test('G01: kill -9 in mid-transaction leaves all of it or nothing, and a sound file', async () => {
    const kills = Array.from({ length: sized({ quick: 2, acceptance: 10, deep: 40 }) }, (_, index) => index);
    const folder = tempFolder();
    const found: Found[] = [];
    const lane = async (own: readonly number[]): Promise<void> => {
      for (const index of own) {
        const path = join(folder, `${index}.db`);
        found.push(await killAfter(path, 1 + index, index % 2 === 0 ? 'held' : 'running'));
      }
    };
    await Promise.all([lane(kills.filter((at) => at % 4 < 2)), lane(kills.filter((at) => at % 4 >= 2))]); // Two at once: starting a process takes long.
    expect(found.map(({ torn, integrity }) => [torn, integrity])).toEqual(kills.map(() => [0, 'ok']));
  });
});

describe('two writers of one file', () => {
  test('G07: a transaction that reads first can still write after another connection has written', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const ours = openForTest(path);
    const theirs = new Database(path);
    theirs.exec('create table t (a INTEGER); insert into t values (1)');
    theirs.pragma('busy_timeout = 0');
    let theirFault: unknown = null;
    await ours.atomically(async (tx) => {
      await tx.query(sql`select a from t`);
      try {
        theirs.exec('insert into t values (2)'); // We hold the write lock from the start, so they have to wait.
      } catch (error) {
        theirFault = error;
      }
      await tx.query(sql`insert into t values (3)`);
    });
    theirs.close();
    expect(theirFault).toMatchObject({ code: 'SQLITE_BUSY' });
    expect(await ours.query(sql`select a from t`)).toEqual([{ a: 1 }, { a: 3 }]);
  });

  test('a pipe or a device in the place of a file is refused at once', () => {
    const pipe = join(tempFolder(), 'mirror.db');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/null', ''])
      expect(() => openSqliteSession(path)).toThrow(expect.objectContaining({ code: 'mirror.no_file' }));
  });
});

test('a process that asks for lists of ever other lengths does not grow', async () => {
  const child = startChild('many-texts.ts', join(tempFolder(), 'mirror.db'));
  const grownMb = Number((await child.lines.next()).value);
  console.log(`FIGURE 750 lists of 1 to 499 values: ${grownMb} MB more resident memory`);
  expect(grownMb).toBeLessThan(20); // 38 where every statement is kept.
});
