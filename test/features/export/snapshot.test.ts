import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { parseInstant, systemClock, type Clock } from '../../../src/lib/time/clock.ts';
import { StoppedError } from '../../../src/lib/sync-error.ts';
import { takeSnapshot } from '../../../src/features/export/snapshot.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { DATABASES, mirrorIn } from '../../events/support.ts';
import { sandbox } from '../../pull/support.ts';
import { run } from '../../support/command-line.ts';
import { send, serve } from '../../support/serve.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const CLIENTS = 500;
const FIRST_PAGES = 3;

/** A service that answers later pages only once it is let go on, and a first pull of it that has landed the pages before. */
async function stage(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: CLIENTS });
  let letGoOn = (): void => undefined;
  const isFree = new Promise<void>((resolve) => {
    letGoOn = resolve;
  });
  let answered = 0;
  const url = await serve((incoming, answer) => {
    const headers = { authorization: `Bearer ${service.token}` };
    const isHeld = incoming.url?.includes('brands') === true || ++answered > FIRST_PAGES;
    const pass = async (): Promise<void> => {
      if (isHeld) await isFree;
      const { statusCode, body } = await request(service.url + (incoming.url ?? ''), { headers });
      send(answer, await body.text(), statusCode);
    };
    void pass();
  });
  const mirror = await mirrorIn(database);
  const env = { BMS_BASE_URL: url, BMS_TOKEN: service.token, DATABASE_URL: mirror.url };
  const pull = run(['pull', 'clients', 'vehicle_brands'], env);
  onTestFinished(async () => {
    letGoOn();
    await pull;
  });
  const landed = async (): Promise<number> => {
    const [row] = await mirror.session.query(sql`select count(*) as n from clients`);
    return Number(row?.['n']);
  };
  while ((await landed()) === 0) await setImmediate();
  const path = join(tempFolder(), 'bi.db');
  const take = (waitMs: number, how: { clock?: Clock; signal?: AbortSignal } = {}) => {
    const waited: string[] = [];
    const wish = { url: mirror.url, kinds: LISTED_KINDS, path, waitMs, clock: systemClock };
    const onWait = (reason: string): void => void waited.push(reason);
    const taking = takeSnapshot({
      ...wish,
      signal: new AbortController().signal,
      onWait,
      ...how,
    });
    return taking.then((report) => ({ ...report, waited }));
  };
  return { take, path, pull, letGoOn };
}

/** The rows of clients in a snapshot, and what it says of them. */
function clientsIn(path: string): { readonly n: number } & Readonly<Record<string, string | number | null>> {
  const file = new Sqlite(path, { readonly: true });
  const clients = file.prepare(`
    select (select count(*) from bi_clients) as n, state, last_sweep_at, lag_seconds, s.taken_at
    from bi_sync_status, bi_snapshot s where kind = 'clients'`);
  const row = clients.get() as ReturnType<typeof clientsIn>;
  file.close();
  return row;
}

describe.each(DATABASES)('beside a pull, in %s, a snapshot', (database) => {
  test('waits for its end, holds whole lists, and says how old they are', async () => {
    const { take, path, pull, letGoOn } = await stage(database);
    const sleep = async (): Promise<void> => {
      letGoOn();
      await pull;
    };

    const { waited } = await take(60_000, { clock: { ...systemClock, sleep } });

    expect(waited).toEqual(['A pull is still reading clients, vehicle_brands.']);
    const { n, state, ...facts } = clientsIn(path);
    expect({ n, state }).toEqual({ n: CLIENTS, state: 'certified' });
    const ageMs =
      parseInstant(String(facts['taken_at'])).getTime() -
      parseInstant(String(facts['last_sweep_at'])).getTime();
    expect(Math.abs(Number(facts['lag_seconds']) - ageMs / 1000)).toBeLessThanOrEqual(1);
  });

  test('is refused if no end comes, and the file stays as it was', async () => {
    const { take, path } = await stage(database);

    await expect(take(0)).rejects.toMatchObject({
      code: 'snapshot.pull_under_way',
      message: expect.stringContaining('clients, vehicle_brands') as string,
    });

    expect(() => clientsIn(path)).toThrow(/unable to open/);
  });
});

test.each(DATABASES)(
  'a snapshot of a mirror in %s finds rows by the columns by which the mirror does',
  async (database) => {
    const { session, url } = await mirrorIn(database);
    await migrate(session, LISTED_KINDS);
    const path = join(tempFolder(), 'bi.db');
    const { signal } = new AbortController();
    await takeSnapshot({
      url,
      kinds: LISTED_KINDS,
      path,
      waitMs: 0,
      clock: systemClock,
      signal,
      onWait: () => undefined,
    });
    const file = new Sqlite(path, { readonly: true });
    for (const where of [
      'bi_purchase_products where purchase_id = 1',
      "bi_clients where _changed_at > '2026-01-01'",
      "bi_deleted_clients where _changed_at > '2026-01-01'",
      "bi_punches where date = '2026-01-01'",
      'bi_clients_contacts where parent_id = 1',
    ]) {
      const plan = file.prepare(`explain query plan select * from ${where}`).all();
      expect.soft(JSON.stringify(plan), where).toContain('USING INDEX');
    }
    file.close();
  },
);

test('a wait for the end of a pull can be stopped', async () => {
  const { take } = await stage('SQLite');
  const stop = new AbortController();
  stop.abort();

  await expect(take(60_000, { signal: stop.signal })).rejects.toThrow(StoppedError);
});
