import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dumpDatabase } from '../../scripts/release/dump-database.ts';
import { openSession } from '../../src/db/open-session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { sandbox } from '../pull/support.ts';
import { OTHERS, REFUSED, refusalOf, type Other } from './other-programs.ts';
import { document, run } from '../support/command-line.ts';
import { FRESH_DATABASES } from '../support/fresh-databases.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { tempFolder } from '../support/temp-folder.ts';

const WRITES = [
  `insert into clients (id, _first_seen_at, _changed_at, _response, _raw) values (1, '2026-01-01', '2026-01-01', 0, '{}')`,
  `insert into clients select * from clients where 1 = 0`,
  `update clients set credit = '0'`,
  `update clients set credit = '0' where id = -1`,
  `delete from clients`,
  `insert into clients_contacts (parent_id, position) values (1, 0)`,
  `update clients_contacts set nom = 'X'`,
  `delete from clients_contacts`,
];
const WRITES_OF = {
  SQLite: [
    `replace into clients (id, _first_seen_at, _changed_at, _response, _raw) values (1, '', '', 0, '{}')`,
    `insert into clients (id, _first_seen_at, _changed_at, _response, _raw) select id, '', '', 0, '{}' from clients where true
     on conflict (id) do update set name = 'X'`,
  ],
  PostgreSQL: [
    'truncate clients',
    'truncate clients_contacts, projects_tasks',
    `copy clients (id) from program 'true'`,
    `merge into clients c using (select 1 as id) s on c.id = s.id when matched then delete`,
    `merge into clients c using (select 1 as id) s on c.id = s.id when not matched then
       insert (id, _first_seen_at, _changed_at, _response, _raw) values (1, now(), now(), 0, '{}')`,
    `with gone as (delete from clients returning id) select * from gone`,
  ],
};

describe.each(FRESH_DATABASES)('in %s, the tables of the kinds', (database, place) => {
  async function pulled(): Promise<{
    readonly service: Sandbox;
    readonly url: string;
    readonly other: Other;
    readonly env: Record<string, string>;
  }> {
    const service = await sandbox({ size: 30 });
    const url = await place();
    const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
    expect(await run(['pull', 'clients', 'products'], env)).toMatchObject({ code: 0 });
    return { service, url, env, other: await OTHERS[database](url) };
  }

  test('refuse every write of another program in words, and the outbox takes its rows', async () => {
    const { other } = await pulled();
    const before = await other.run('select * from clients order by id');
    for (const statement of [...WRITES, ...WRITES_OF[database]])
      expect(await refusalOf(other.run(statement)), statement).toMatchObject(REFUSED[database]);
    expect(await other.run('select * from clients order by id')).toEqual(before);

    await other.run(
      `insert into outbox (idempotency_key, kind, operation, payload) values ('k1', 'clients', 'create', '{"code":"C-1","name":"New"}')`,
    );
    expect(await other.run('select state from outbox')).toEqual([{ state: 'ready' }]);
  });

  test('are guarded whenever they come: nested and discovered ones, and those of a kind of the configuration', async () => {
    const { service, url, env, other } = await pulled();
    service.world.insert('clients', {
      code: 'N',
      name: 'New',
      vehicles: [{ plate: 'ABC' }],
      loyalty: 'gold',
    });
    expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
    const further = { BMS__KINDS: '{"depots":{"list":"/api/departments","fields":{"name":"text"}}}' };
    expect(await run(['migrate'], { ...env, ...further })).toMatchObject({ code: 0 });

    await using session = await openSession(url);
    const tables = ['clients', 'clients_vehicles', 'products_variantes', 'depots', 'sales_products'];
    for (const table of tables) {
      expect((await session.atomically((tx) => tx.listColumns(table))).size, table).toBeGreaterThan(2);
      expect(await refusalOf(other.run(`delete from ${table}`)), table).toMatchObject(REFUSED[database]);
    }
  });

  test('take ours: a pull, a backfill, a new column, a removed field and a forgotten record', async () => {
    const { service, env, other } = await pulled();
    const [first = 0, second = 0] = service.world.ids('clients');
    service.world.update('clients', first, { name: 'Autre', loyalty: 'gold' });
    service.world.remove('clients', second);
    for (let times = 0; times < 3; times++)
      expect(await run(['pull', 'clients'], { ...env, BMS__DELETIONS__GRACE_SECONDS: '0' })).toMatchObject({
        code: 0,
      });
    expect(await run(['backfill', 'clients', '--all'], env)).toMatchObject({ code: 0 });
    expect(await run(['forget', 'clients', String(second), '--yes'], env)).toMatchObject({ code: 0 });
    const excluding = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email"]}' };
    for (const argv of [['migrate'], ['pull', 'clients']])
      expect(await run(argv, excluding)).toMatchObject({ code: 0 });
    expect(
      await other.run(`select count(*) as n from clients where loyalty = 'gold' and email is not null`),
    ).toMatchObject([{ n: expect.anything() as unknown }]);
    expect(await refusalOf(other.run('delete from clients'))).toMatchObject(REFUSED[database]);
  });

  test('stop a process whose rows they do not take, before it sends anything', async () => {
    const { url, env, service } = await pulled();
    const requests = service.requests.length;
    await using session = await openSession(url);
    const refusal =
      database === 'SQLite'
        ? `create trigger strict before insert on products begin select raise(abort, 'no more'); end`
        : `create function no_more() returns trigger language plpgsql as $$ begin raise 'no more'; end $$;
           create trigger strict before insert on products for each row execute function no_more()`;
    await session.atomically((tx) => tx.execute(refusal));

    const ended = await run(['pull', 'clients', '--json'], env);

    expect([ended.code, document(ended)]).toEqual([
      1,
      {
        error: expect.objectContaining({
          code: 'mirror.refuses_writes',
          message: expect.stringContaining('no more') as string,
        }) as unknown,
      },
    ]);
    expect(service.requests.length).toBe(requests);
  });
});

describe('a copy of a mirror', () => {
  async function mirrorIn(url: string): Promise<void> {
    await using session = await openSession(url);
    await migrate(session, KINDS);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into clients (id, name, _raw, _first_seen_at, _changed_at, _response)
        values (1, 'A', '{"id":1,"name":"A"}', '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1)`),
    );
  }

  test('of SQLite is made by vacuum, by a dump and by a snapshot, and is read by every program', async () => {
    const folder = tempFolder();
    const path = join(folder, 'mirror.db');
    await mirrorIn(`file:${path}`);
    const file = new DatabaseSync(path);
    onTestFinished(() => {
      file.close();
    });
    const copies = ['vacuumed', 'dumped', 'snapshot'].map((name) => join(folder, `${name}.db`));
    const [vacuumed = '', dumped = '', snapshot = ''] = copies;
    file.prepare('vacuum into ?').run(vacuumed);
    dumpInto(path, dumped);
    file.exec('vacuum; analyze; reindex');
    expect(await run(['snapshot', snapshot], { DATABASE_URL: `file:${path}` })).toMatchObject({ code: 0 });

    for (const copy of copies) {
      const other = new DatabaseSync(copy);
      expect(other.prepare('select id, name from bi_clients').all()).toEqual([{ id: 1, name: 'A' }]);
      if (copy === snapshot) other.exec('delete from bi_clients');
      else
        expect(() => {
          other.exec('delete from clients');
        }).toThrow('no such function: read_only_copy');
      other.close();
    }
    await using restored = await openSession(`file:${dumped}`);
    expect(await migrate(restored, KINDS)).toBe(false);
    await restored.atomically((tx) => tx.query(sql`update clients set name = 'B'`));
  });

  test('of PostgreSQL is restored from a dump, filled by replication and read', async () => {
    const url = await freshDatabaseUrl();
    await mirrorIn(url);
    const dump = await dumpDatabase(await bystander(url));
    const copyUrl = await freshDatabaseUrl();
    const copy = await bystander(copyUrl);
    await copy.query(dump);
    expect((await copy.query('select id, name from public.bi_clients')).rows).toEqual([
      { id: '1', name: 'A' },
    ]);
    expect(await refusalOf(copy.query('delete from bms_sync.clients'))).toMatchObject(REFUSED.PostgreSQL);
    await copy.query(`set session_replication_role to replica; delete from bms_sync.clients`);
    await using session = await openSession(copyUrl);
    expect(await migrate(session, KINDS)).toBe(false);
    expect(await session.query(sql`select id from clients`)).toEqual([]);
  });

  /** As `.dump` does: tables and their rows first, what refers to them last. */
  function dumpInto(from: string, path: string): void {
    const copy = new DatabaseSync(path);
    copy.exec(`attach '${from}' as original`);
    const objects = copy
      .prepare(
        `select type, name, sql from original.sqlite_schema where sql is not null and name not like 'sqlite_%'`,
      )
      .all() as { type: string; name: string; sql: string }[];
    const isTable = ({ type }: { type: string }): boolean => type === 'table';
    for (const { name, sql: statement } of objects.filter(isTable)) {
      copy.exec(statement);
      copy.exec(`insert into main."${name}" select * from original."${name}"`);
    }
    for (const one of objects) if (!isTable(one)) copy.exec(one.sql);
    copy.close();
  }
});
