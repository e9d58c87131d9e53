import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { postgresMirror } from '../both/support.ts';
import { bystander } from '../support/postgres.ts';
import { DATABASES, pullOne } from './steps.ts';
import type { KindReport } from '../../src/store/runs/run-store.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { mirror, sandbox } from './support.ts';

const kind = 'clients';
const SIZE = 150;
const SWEEPS = 20;
const MINUTES_BETWEEN = 3;

/** A log of SQLite is emptied at this size, where no reader is in the way. */
const LOG_BYTES = 48 * 1024 * 1024;

interface Reader {
  /** The number of rows that it sees. */
  readonly count: () => Promise<number>;
  readonly end: () => Promise<void>;
}

interface Read {
  readonly session: Session;
  /** Opens a transaction that stays open, and has read. */
  readonly openReader: () => Promise<Reader>;
}

const MIRRORS: Record<(typeof DATABASES)[number], () => Promise<Read>> = {
  SQLite: async () => {
    const session = await mirror();
    const openReader = (): Promise<Reader> => {
      const file = new Sqlite(session.location, { readonly: true });
      file.exec('begin');
      const count = file.prepare('select count(*) from bi_clients').pluck();
      count.get();
      const end = (): Promise<void> => {
        file.close();
        return Promise.resolve();
      };
      return Promise.resolve({ count: () => Promise.resolve(Number(count.get())), end });
    };
    return { session, openReader };
  },
  PostgreSQL: async () => {
    const { session, url } = await postgresMirror();
    const openReader = async (): Promise<Reader> => {
      const client = await bystander(url);
      await client.query('begin isolation level repeatable read');
      const count = async (): Promise<number> =>
        Number((await client.query<{ n: string }>('select count(*) as n from bi_clients')).rows[0]?.n);
      await count();
      const end = async (): Promise<void> => {
        await client.query('commit');
      };
      return { count, end };
    };
    return { session, openReader };
  },
};

/** An hour of work at the service, and of sweeps beside it. */
async function anHour(
  { world }: Sandbox,
  sweep: (minute: number) => Promise<KindReport>,
): Promise<KindReport[]> {
  const reports: KindReport[] = [];
  for (let step = 1; step <= SWEEPS; step++) {
    const ids = world.ids(kind);
    for (let edit = 0; edit < 5; edit++)
      world.update(kind, ids[(step * 31 + edit * 97) % ids.length] ?? 0, { city: `Ville ${step}` });
    world.insert(kind, { code: `N${step}` });
    if (step % 10 === 1) world.remove(kind, ids[(step * 53) % ids.length] ?? 0);
    reports.push(await sweep(step * MINUTES_BETWEEN));
  }
  return reports;
}

const logBytes = (session: Session): number => statSync(`${session.location}-wal`).size;

describe.each(DATABASES)('%s', (database) => {
  test('a reader with a transaction open for an hour fails no sweep and sees what it began with', async () => {
    const service = await sandbox({ size: SIZE });
    const { session, openReader } = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    const reader = await openReader();

    const reports = await anHour(service, (minute) => pullOne(service, session, { kind, minute }));

    expect(reports.filter(({ state }) => state !== 'certified' && state !== 'complete')).toEqual([]);
    expect(reports.at(-1)).toMatchObject({ state: 'certified', reason: null });
    expect(await reader.count()).toBe(SIZE);
    if (database === 'SQLite') expect(logBytes(session)).toBeLessThan(LOG_BYTES);
    await reader.end();
    const [{ n } = {}] = await session.query(
      sql`select count(*) as n from bi_clients where city like 'Ville %'`,
    );
    expect(Number(n)).toBeGreaterThan(50);
  });
});

test('a log that grew while somebody read is cut back once the reader is gone', async () => {
  const { session, openReader } = await MIRRORS.SQLite();
  const reader = await openReader();
  const write = (letter: string, length: number): Promise<void> =>
    session.atomically((tx) =>
      tx.write(sql`insert into mirror_meta (key, value) values ('x', ${letter.repeat(length)})
        on conflict (key) do update set value = excluded.value`),
    );
  for (const letter of 'abcdefg') await write(letter, 10_000_000);
  expect(logBytes(session)).toBeGreaterThan(LOG_BYTES);

  await reader.end();
  for (const letter of 'abc') await write(letter, 1);

  expect(logBytes(session)).toBeLessThanOrEqual(LOG_BYTES);
});
