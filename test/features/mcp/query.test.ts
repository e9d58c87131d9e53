import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { canonicalNumber } from '../../../src/lib/json/decimal.ts';
import { parseJson } from '../../../src/lib/json/json.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { createSqlReader } from '../../../src/features/mcp/context.ts';
import { contentOf, pullFrom, sandbox } from '../../pull/support.ts';
import { askableMirror, DATABASES } from './stage.ts';

/** Each would write, wait, read a file, or read a table. */
const ATTACKS = [
  'COMMIT; DROP TABLE clients',
  'select 1; drop table clients',
  'select 1; select 2',
  '-- a comment\nselect 1; -- another\ndrop table clients',
  '/**/drop/**/table clients',
  'select 1\0; drop table clients',
  'begin',
  'with gone as (delete from clients returning id) select * from gone',
  'with x as (select 1) delete from clients',
  'insert into bi_clients (id) values (1)',
  "update bi_clients set name = 'x'",
  'select * into copied from bi_clients',
  'create table copied as select * from bi_clients',
  'select * from bi_clients for update',
  "attach database '/tmp/attached.db' as other",
  'pragma writable_schema = 1',
  "select * from pragma_table_info('users')",
  "vacuum into '/tmp/copied.db'",
  "select load_extension('x')",
  "select readfile('/etc/passwd')",
  "select writefile('/tmp/x', 'x')",
  'select randomblob(2e9)',
  'select zeroblob(2e9)',
  'do $$ begin perform 1; end $$',
  "copy bi_clients to program 'true'",
  "select pg_read_file('/etc/passwd')",
  "select pg_catalog.pg_read_file('/etc/passwd')",
  "select lo_from_bytea(0, 'x')",
  'select lo_create(0)',
  "select * from dblink('dbname=postgres', 'select 1') as t(x int)",
  'select pg_sleep(60)',
  'select pg_advisory_lock(1)',
  "select pg_notify('x', 'y')",
  "select set_config('transaction_read_only', 'off', false)",
  'set role postgres',
  'set transaction read write',
  "select repeat('x', 1000000000)",
  'select g.pg_sleep from generate_series(60, 60) g',
  'select g.lo_create from generate_series(0, 0) g',
  'select (60.0::float8).pg_sleep',
  "select current_setting('data_directory')",
  'select current_user',
  "select 'pg_authid'::regclass",
  "select query_to_xml('select 1', true, true, '')",
  'call something()',
  'explain select 1',
  'explain query plan select 1',
  '/* 1 */ explain with x as (select 1) select * from x;',
  'select c.json_agg from bi_clients c',
  'select c.array_agg from bi_clients c',
  'select (select b.xmlagg) from bi_clients b',
  'select c.pg_column_size from bi_clients c',
  'select c.name, string_to_table from bi_clients c, string_to_table(c.name, c.code)',
  'listen x',
  '',
  '   ;',
];

const SECRETS = [
  'select * from webhook_secrets',
  'select count(*) from webhook_secrets',
  'select * from users',
  'select count(*) from users',
  'select 1 where exists (select 1 from users)',
  'select * from outbox',
  'select _raw from clients',
  'select count(*) from clients',
  'select _raw from bi_clients',
  'select * from bms_sync.users',
  'select * from main.users',
  'select * from sqlite_master',
  'select * from sqlite_schema',
  'select * from pg_authid',
  'select * from pg_catalog.pg_authid',
  'select * from pg_class',
  'select * from information_schema.tables',
  'select * from sync_status_now',
  'with bi_clients as (select * from users) select * from bi_clients',
  'with bi_clients as (select id, name from clients) select * from bi_clients',
  'select * from users where exists (with users as (select 1) select * from users)',
  'select name from bi_clients union select token_hash from users',
  'select (select max(token_hash) from users)',
  'select * from bi_clients c join users on true',
  'select * from bi_clients where id in (select id from clients)',
];

const CROSS = Array.from('abcdef', (name) => `bi_calendar ${name}`).join(', ');

/** Twice the text at each of some steps. */
const doubled = (steps: number): string =>
  Array.from({ length: steps }).reduce<string>(
    (inner, _, at) => `select t || t as t from (${inner}) r${at}`,
    'select name as t from bi_clients',
  );

/** Twelve months of three products each. */
const PIVOT = Array.from({ length: 36 }, (_, at) => {
  const month = `2026-${String((at % 12) + 1).padStart(2, '0')}`;
  return `sum(case when substr(cast(pickup_date as text), 1, 7) = '${month}' then price * ${at} end) as m${at}`;
});

/** Every aggregate that PostgreSQL's list has. */
const AGGREGATES = `select avg(a.day_number), sum(a.day_number), min(a.date), max(a.date), count(distinct a.date || '' || b.date), every(a.date > b.date),
  bool_and(a.date > b.date), stddev(a.day_number), variance(a.day_number), mode() within group (order by a.date),
  percentile_cont(0.5) within group (order by a.day_number), percentile_disc(0.5) within group (order by b.date) from ${CROSS}`;

/** Each would take ages, or gigabytes. */
const BOMBS = [
  'with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n',
  `select count(*) from ${CROSS}`,
  `select a.date, count(*) from ${CROSS} group by a.date order by 2`,
  `select * from ${CROSS}`,
  AGGREGATES,
  `select ${Array.from('abcdef', (name) => `${name}.*`).join(', ')}, ${Array.from('abcdef', (name) => `${name}.*`).join(', ')} from ${CROSS}`,
  "with recursive n(i, t) as (select 1, cast('x' as text) union all select i + 1, t || t from n where i < 31) select length(t) from n",
  "with recursive n(i, t) as (select 1, cast('x' as text) union all select i + 1, concat(t, t) from n where i < 31) select length(t) from n",
  `select length(t) from (${doubled(26)}) r`,
  `select ${Array.from({ length: 40 }, (_, at) => `cast(name as char(10000000)) as c${at}`).join(', ')} from bi_clients`,
  `select length(replace(replace(replace(name, 'e', '${'e'.repeat(1000)}'), 'e', '${'e'.repeat(1000)}'), 'e', '${'e'.repeat(1000)}')) from bi_clients`,
];

/** Watches what the processes that answer questions have of their own: their share of PostgreSQL's buffers is none of it. */
function watchMemory(session: Session) {
  const pids = async (): Promise<readonly unknown[]> => {
    if (session.dialect === 'sqlite')
      return readdirSync('/proc/self/task').flatMap((task) =>
        readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' '),
      );
    const busy = sql`select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    return (await session.query(busy)).map(({ pid }) => pid);
  };
  let most = 0;
  const look = async (): Promise<void> => {
    for (const pid of await pids()) {
      const path = `/proc/${String(pid)}/status`;
      const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
      most = Math.max(most, Number(/RssAnon:\s*(\d+)/.exec(status)?.[1] ?? 0) * 1024);
    }
  };
  let last = Promise.resolve();
  const timer = setInterval(() => {
    last = last.then(look).catch(() => undefined); // A process may end between both steps.
  }, 50);
  return {
    peak: async (): Promise<number> => {
      clearInterval(timer);
      await last;
      return most;
    },
  };
}

const contents = async (session: Session): Promise<unknown> => [
  await contentOf(session),
  await session.query(sql`select count(*) as n from users`),
  await session.query(sql`select count(*) as n from outbox`),
];

describe.each(DATABASES)('%s', (database) => {
  test('refuses everything but a select, and leaves every table as it was', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 5 }), session);
    const before = await contents(session);
    const passed: string[] = [];
    for (const attack of [...ATTACKS, ...SECRETS]) {
      const begun = performance.now();
      await ask('query', { sql: attack }).then(
        (answer) => passed.push(`${attack} => ${JSON.stringify(answer.rows)}`),
        (error: unknown) => {
          expect.soft(error, attack).toMatchObject({ code: 'mcp.refused' });
        },
      );
      expect.soft(performance.now() - begun, attack).toBeLessThan(20_000);
    }
    expect(passed).toEqual([]);
    expect(await contents(session)).toEqual(before);
  });

  test('lets selects of every kind through', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 5 }), session);
    const selects = [
      '-- first\nselect /* in */ count(*) as n from bi_clients; ',
      'with recursive n(x) as (select 1 union all select x + 1 from n where x < 5) select sum(x) from n',
      'select c.name, count(*) over (partition by c.city) from bi_clients c left join bi_bookings b on b.client_id = c.id',
      "select upper(name), coalesce(email, '-'), case when inactive = 1 then 'no' else 'yes' end from bi_clients where name like 'A%' order by 1",
      'select * from bi_sync_status',
      'select count(*) from bi_calendar a, bi_sync_status b',
      'select kind, count(*) from bi_changes group by kind having count(*) > 0',
      "select cast(credit as numeric), round(credit, 2), substr(name, 1, 3), replace(name, 'a', 'b') from bi_clients",
      'select id from bi_clients union all select id from bi_products',
      'select * from client_contacts',
      'select * from bi_clients_history',
      'values (1), (2)',
      'select c.*, b.* from bi_clients c left join bi_bookings b on b.client_id = c.id',
      `select ${PIVOT.join(', ')} from bi_bookings`,
    ];
    for (const select of selects)
      expect.soft((await ask('query', { sql: select })).columns, select).not.toEqual([]);
  });

  test('knows whether rows are missing', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 5 }), session);
    const days = (n: number) => `select date from bi_calendar order by date limit ${n}`;
    expect(await ask('query', { sql: days(200) })).toMatchObject({
      returned: 200,
      truncated: false,
      totalRows: 200,
    });
    expect(await ask('query', { sql: days(201) })).toMatchObject({
      returned: 200,
      truncated: true,
      totalRows: null,
    });
    expect(await ask('query', { sql: days(3), limit: 2 })).toMatchObject({ returned: 2, truncated: true });
    expect(await ask('query', { sql: days(2), limit: 2 })).toMatchObject({ returned: 2, truncated: false });
  });

  test('returns values as they are', async () => {
    const { ask } = await askableMirror(database);
    const isSqlite = database === 'sqlite';
    const { rows } = await ask('query', { sql: `select 9007199254740993, 0.1 + 0.2, null, '', 0` });
    const sum = isSqlite ? '0.30000000000000004' : '0.3';
    expect(rows).toEqual([['9007199254740993', sum, null, '', '0']]);
  });

  test('returns decimals as the service wrote them, however large, from their exact columns', async () => {
    const service = await sandbox({ size: 10 });
    const ids = service.world.ids('products');
    const texts = ['1e400', '-1e400', '9007199254740993', '-12345678901234567.89', '1e30', '0', '0.1'];
    for (const [at, text] of texts.entries())
      service.world.update('products', ids[at] ?? 0, { price: parseJson(text), quota: parseJson(text) });
    const { session, ask } = await askableMirror(database);
    await pullFrom(service, session);
    const exact = ({ columns, rows }: Awaited<ReturnType<typeof ask>>): unknown[] =>
      rows.map((row) =>
        ['price_exact', 'quota_exact'].map((name) => canonicalNumber(row[columns.indexOf(name)] ?? '')),
      );
    for (const [at, text] of texts.entries()) {
      const id = String(ids[at]);
      const sql = `select price_exact, quota_exact from bi_products where id = ${id}`;
      const expected = [[canonicalNumber(text), canonicalNumber(text)]];
      expect.soft(exact(await ask('query', { sql })), text).toEqual(expected);
      expect.soft(exact(await ask('record', { kind: 'products', id })), text).toEqual(expected);
    }
    service.world.update('products', ids[0] ?? 0, { price: parseJson('2e400') });
    await pullFrom(service, session);
    const changes = await ask('query', { sql: 'select old_price, new_price from bi_price_changes' });
    expect(changes.rows).toEqual([['1e400', '2e400']]);
  });

  test('ends what takes long, cuts or refuses what would grow, and keeps the memory of both processes', async () => {
    const { session, ask } = await askableMirror(database, {}, null);
    await pullFrom(await sandbox({ size: 30 }), session);
    const before = process.memoryUsage.rss();
    const delays = monitorEventLoopDelay();
    delays.enable();
    for (const bomb of BOMBS.filter((one) => database === 'postgres' || !/char\(|within/.test(one))) {
      const memory = watchMemory(session);
      const begun = performance.now();
      const answer = await ask('query', { sql: bomb }).catch((error: unknown) => error);
      expect.soft(performance.now() - begun, bomb).toBeLessThan(13_000);
      expect.soft(await memory.peak(), bomb.slice(0, 200)).toBeLessThan(130_000_000);
      const outcomes = [
        { code: 'mcp.too_long' },
        { code: 'mcp.too_large' },
        { code: 'mcp.refused' },
        { truncated: true },
      ];
      const isBounded = outcomes.some((outcome) =>
        Object.entries(outcome).every(([name, value]) => Reflect.get(Object(answer), name) === value),
      );
      expect.soft(isBounded, `${bomb.slice(0, 200)} => ${String(answer)}`).toBe(true);
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
    expect(delays.max / 1_000_000).toBeLessThan(2_000);
    const { rows } = await ask('query', {
      sql: "select name || ' ' || city || ' ' || email || replace(phone, '-', '') from bi_clients",
    });
    expect(rows).toHaveLength(30);
  });

  test('fits every answer into 200 kB', async () => {
    const { session, ask } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 30 }), session);
    const answer = await ask('query', { sql: 'select a.*, b.* from bi_clients a, bi_products b' });
    expect(answer.truncated).toBe(true);
    const sent = { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(200_000);
  });

  test('logs each call in one line', async () => {
    const { session, ask, log } = await askableMirror(database);
    await pullFrom(await sandbox({ size: 5 }), session);
    await ask('query', { sql: 'select id from bi_clients' });
    await ask('query', { sql: 'drop table clients' }).catch(() => undefined);
    expect(log).toMatchObject([
      { event: 'mcp.called', who: 'anna', tool: 'query', kinds: ['clients'] },
      { event: 'mcp.called', who: 'anna', tool: 'query', rows: 0, code: 'mcp.refused' },
    ]);
  });
});

test('PostgreSQL without a reader role: query is off, with the reason', async () => {
  const { url, context, ask } = await askableMirror('postgres');
  const readSql = createSqlReader(url, null);
  const caller = { name: 'anna', gone: new AbortController().signal };
  await expect(
    readSql({ sql: 'select 1', limit: 1, timeoutMs: 1000, views: [] }, caller),
  ).rejects.toMatchObject({
    code: 'mcp.no_reader',
  });
  expect(context.kinds).toBe(KINDS);
  await expect(ask('query', { sql: 'select 1' })).resolves.toMatchObject({ rows: [['1']] });
});
