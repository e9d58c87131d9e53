import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../../src/db/session/session.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { DATABASES, ONE_DATABASE, mirrorIn } from '../../../events/support.ts';
import { sandbox } from '../../../pull/support.ts';
import { document, run, type Ended, type Env } from '../../../support/command-line.ts';
import { MAIN } from '../../../support/program.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

interface Stage {
  readonly service: Sandbox;
  readonly env: Env;
  readonly session: Session;
  readonly folder: string;
  /** Runs `export` and reads nothing but stdout. */
  readonly exported: (...argv: readonly string[]) => Promise<Ended>;
}

/** A mirror of a small sandbox, with a client whose fields are hard to export. */
async function stage(database: (typeof DATABASES)[number]): Promise<Stage> {
  const service = await sandbox({ size: 8 });
  const { session, url } = await mirrorIn(database);
  service.world.insert('clients', {
    code: '-7',
    name: '=HYPERLINK("x")',
    city: 'Montréal, "QC"',
    address: 'two\nlines',
    phone: '+1 514 555-0123',
    credit: '-12345678901234.50',
    creation_date: '0000-00-00',
  });
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  await run(['pull', 'clients', 'bookings'], env);
  return {
    service,
    env,
    session,
    folder: tempFolder(),
    exported: (...argv) => run(['export', ...argv], env),
  };
}

const FORMATS = ['csv', 'ndjson', 'xlsx'] as const;

describe.each(DATABASES)('%s', (database) => {
  test('CSV has the columns and rows of the view, exact and safe for a spreadsheet', async () => {
    const { session, exported } = await stage(database);

    const { code, stdout, stderr } = await exported('clients', '--format', 'csv');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [header, ...lines] = stdout.split('\r\n');
    const [row = {}] = await session.query(sql`select * from bi_clients limit 1`);
    const names = Object.keys(row).filter((name) => name !== '_search'); // A column of our own, with names and phones.
    expect(header).toBe([...names, '_version'].join(','));
    const hard = lines.find((line) => line.includes('HYPERLINK'));
    expect(hard).toContain(`,'-7,"'=HYPERLINK(""x"")",`);
    expect(hard).toContain('"Montréal, ""QC"""');
    expect(hard).toContain(`'+1 514 555-0123`);
    expect(hard).toContain(',-12345678901234.50,-12345678901234.50,-123456789012345000,');
    expect((await exported('clients', '--format', 'csv', '--raw')).stdout).toContain(
      ',-7,"=HYPERLINK(""x"")",',
    );
  });

  test('some columns of some records are exported, in the order of the columns that were named', async () => {
    const { exported, service } = await stage(database);
    const [one = 0, two = 0, three = 0] = service.world.ids('clients').toSorted((a, b) => a - b);
    const some = ['--format', 'csv', '--ids', `${three},${one}-${two}`, '--columns'];
    const nameOf = (id: number): unknown => service.world.get('clients', id)?.['code'];
    const lines = (await exported('clients', ...some, 'code, id')).stdout.split('\r\n');
    expect(lines[0]).toBe('code,id');
    expect(lines.filter((line) => line.endsWith(`,${one}`) || line.endsWith(`,${three}`))).toHaveLength(2);
    expect(lines.find((line) => line.endsWith(`,${two}`))).toContain(String(nameOf(two)).replace(/^-/, "'-"));
    const nested = await exported('bi_clients_contacts', ...some, 'parent_id');
    const parents = nested.stdout.trimEnd().split('\r\n').slice(1);
    expect(parents.filter((id) => ![one, two, three].includes(Number(id)))).toEqual([]);
  });

  test('NDJSON has amounts as numbers with all their digits', async () => {
    const { session, exported } = await stage(database);

    const { stdout } = await exported('bi_clients', '--format', 'ndjson');

    const lines = stdout.trimEnd().split('\n');
    const [count] = await session.query(sql`select count(*) as n from bi_clients`);
    expect(lines).toHaveLength(Number(count?.['n']));
    const hard = lines.find((line) => line.includes('HYPERLINK')) ?? '';
    expect(hard).toContain('"credit":-12345678901234.50,"credit_exact":"-12345678901234.50"');
    expect(JSON.parse(hard)).toMatchObject({
      code: '-7',
      creation_date: null,
      inactive: expect.any(Number) as number,
    });
  });

  test('every view can be exported in every format, with as many rows', async () => {
    const { session, folder, service, env } = await stage(database);
    const [id = 0] = service.world.ids('clients');
    service.world.update('clients', id, { city: 'Rimouski' });
    await run(['pull', 'clients'], env);
    const views = [
      'bi_clients',
      'bi_clients_contacts',
      'client_contacts',
      'bi_bookings',
      'bi_bookings_items',
    ];
    for (const view of [
      ...views,
      'bi_changes',
      'bi_clients_history',
      'bi_sync_status',
      'bi_vehicle_brands',
    ]) {
      const [count] = await session.query(sql`select count(*) as n from ${sql.identifier(view)}`);
      for (const format of FORMATS) {
        const ended = await run(
          ['export', view, '--format', format, '--out', join(folder, 'x'), '--json'],
          env,
        );
        expect(document(ended), `${view} ${format}`).toMatchObject({ rows: Number(count?.['n']), format });
      }
    }
  });
});

describe.each(DATABASES)('%s', (database) => {
  test('as of an instant, records and the elements of their lists are as they were, all or the chosen ones', async () => {
    const { service, env, exported } = await stage(database);
    const rowsOf = async (...argv: readonly string[]): Promise<string[]> => {
      const { code, stdout } = await exported(...argv, '--format', 'ndjson');
      expect(code).toBe(0);
      return stdout.split('\n').filter((line) => line !== '');
    };
    const elements = await rowsOf('bi_clients_contacts');
    const records = await rowsOf('clients');
    const then = new Date().toISOString();
    const [one = 0, two = 0, three = 0] = service.world.ids('clients').toSorted((a, b) => b - a);
    for (const id of [one, two])
      service.world.update('clients', id, { contacts: [], city: 'Rimouski', credit: '1.00' });
    service.world.remove('clients', three);
    service.world.insert('clients', { code: 'NEW', name: 'Neuf' });
    await run(['pull', 'clients'], env);

    const asOf = ['--as-of', then];
    expect(await rowsOf('clients', ...asOf)).toEqual(records);
    expect(await rowsOf('clients')).not.toEqual(records);
    expect(await rowsOf('bi_clients_contacts', ...asOf)).toEqual(elements);
    expect(await rowsOf('client_contacts', ...asOf)).toEqual(elements);
    const chosen = [one, three];
    const isChosen = (name: string) => (row: string) => chosen.some((id) => row.includes(`"${name}":${id},`));
    const some = [...asOf, '--ids', [...chosen, 999].join(',')];
    expect(await rowsOf('clients', ...some)).toEqual(records.filter(isChosen('id')));
    expect(await rowsOf('bi_clients_contacts', ...some)).toEqual(elements.filter(isChosen('parent_id')));
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('an instant without a zone is read in that of the schedules, and told', async () => {
    const { env } = await stage(database);
    const montreal = { ...env, BMS__SCHEDULES__TIMEZONE: 'America/Montreal' };
    const asOf = (instant: string): Promise<Ended> =>
      run(['export', 'clients', '--format', 'csv', '--as-of', instant], montreal);
    const now = new Date().toISOString();

    const zoned = await asOf(now);
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Montreal' }).format(new Date());
    const bare = await asOf(today);

    expect(zoned.stderr).not.toContain('America/Montreal');
    expect(bare.stderr).toMatch(new RegExp(`As of .* UTC: ${today} in America/Montreal`));
    expect(bare.stdout).toBe(zoned.stdout);
    expect(bare.stdout).toBe((await run(['export', 'clients', '--format', 'csv'], montreal)).stdout);
  });

  test('an instant whose state is not known is refused with the reason', async () => {
    const { exported, session } = await stage(database);
    const asOf = (what: string, instant: string): Promise<Ended> =>
      exported(what, '--format', 'csv', '--as-of', instant);

    const early = await asOf('clients', '2020-01-01');
    expect(early).toMatchObject({ code: 2, stdout: '' });
    expect(early.stderr).toContain('the first record of clients was read at');
    expect(await asOf('products', '2026-01-01')).toMatchObject({ code: 2 });
    expect(await asOf('bi_changes', '2026-01-01')).toMatchObject({ code: 2 });
    expect(await asOf('clients', 'tomorrow')).toMatchObject({ code: 2 });
    await session.atomically(async (tx) => {
      await tx.query(
        sql`insert into mirror_meta (key, value) values ('changes.forgotten_before', '2100-01-01 00:00:00.000')`,
      );
    });
    const forgotten = await asOf('clients', new Date().toISOString());
    expect(forgotten).toMatchObject({ code: 2 });
    expect(forgotten.stderr).toContain('retention.changesDays');
  });
});

test('PostgreSQL takes rows as of an instant into a table like the view', async () => {
  const { service, env, session, folder, exported } = await stage('PostgreSQL');
  await session.atomically((tx) =>
    tx.execute(
      'create table before_shown as select * from bi_clients; alter table before_shown drop column _search',
    ),
  );
  const then = new Date().toISOString();
  for (const id of service.world.ids('clients'))
    service.world.update('clients', id, { city: '', credit: '1.00' });
  await run(['pull', 'clients'], env);
  const file = join(folder, 'then.csv');
  await exported('clients', '--as-of', then, '--raw', '--out', file);
  for (const path of [folder, file]) chmodSync(path, 0o755);

  await session.atomically(async (tx) => {
    await tx.execute(`set local time zone 'UTC'; create table march (like bi_clients);
      alter table march drop column _search;
      copy march from '${file}' with (format csv, header)`);
  });

  const [count] = await session.query(sql`select (select count(*) from march) as n,
    (select count(*) from (select * from march except select * from before_shown) differing) as differing`);
  expect(count).toEqual({ n: service.world.ids('clients').length, differing: 0 });
});

describe('mistakes', () => {
  test('end with exit code 2 and name the way out', async () => {
    const { exported, folder } = await stage('SQLite');
    const mistakes: readonly (readonly [argv: readonly string[], message: string])[] = [
      [['clinets', '--format', 'csv'], 'did you mean clients?'],
      [['bi_chnages', '--format', 'csv'], 'did you mean bi_changes?'],
      [['clients', '--format', 'xls'], 'csv, ndjson, xlsx'],
      [['clients'], '--format'],
      [['clients', '--out', join(folder, 'clients.txt')], '--format'],
      [['clients', '--format', 'xlsx'], 'Add --out FILE'],
      [['bi_changes', '--format', 'csv', '--ids', '7'], '--ids does not work with bi_changes'],
      [['clients', '--format', 'csv', '--columns', 'id,naem'], 'did you mean name?'],
      [['clients', '--excel', '--out', join(folder, 'clients.ndjson')], 'only for CSV'],
      [['clients', '--format', 'csv', '--json'], '--out'],
      [['clients', '--format', 'ndjson', '--raw'], '--raw is for CSV'],
      [['clients', '--format', 'csv', '--out', '/nowhere/x.csv'], 'no such folder'],
      [['clients', '--format', 'csv', '--out', folder], 'is a folder'],
    ];
    for (const [argv, message] of mistakes) {
      const ended = await exported(...argv);
      expect({ code: ended.code, message: ended.stderr }, argv.join(' ')).toEqual({
        code: 2,
        message: expect.stringContaining(message) as string,
      });
    }
  });

  test.each(FORMATS)('a file in %s is its owner’s, and follows no link', async (format) => {
    const { env, folder } = await stage('SQLite');
    const file = join(folder, 'x');
    const elsewhere = join(tempFolder(), 'elsewhere');
    writeFileSync(elsewhere, 'untouched');
    symlinkSync(elsewhere, `${file}.${process.pid}.partial`);

    const ended = await run(['export', 'clients', '--format', format, '--out', file], env);

    expect(ended).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(elsewhere, 'utf8')).toBe('untouched');
  });

  test.each(FORMATS)('a fault leaves the file that was there, in %s', async (format) => {
    const { env, folder } = await stage('SQLite');
    const file = join(folder, 'x');
    writeFileSync(file, 'as it was');
    const stop = new AbortController();
    stop.abort();

    const ended = await run(['export', 'clients', '--format', format, '--out', file], env, stop.signal);

    expect(ended).toMatchObject({ code: 3 });
    expect(readFileSync(file, 'utf8')).toBe('as it was');
    expect(readdirSync(folder)).toEqual(['x']);
  });
});

describe('the format', () => {
  test.each([
    ['x.csv', [], 'csv', 'id,code,'],
    ['x.NDJSON', [], 'ndjson', '{"id":'],
    ['x.xlsx', [], 'xlsx', 'PK'],
    ['x.xlsx', ['--format', 'csv'], 'csv', 'id,code,'],
    ['x', ['--excel'], 'csv', '\u{feff}id;code;'],
  ])('of %s %j is %s', async (name, argv, format, begins) => {
    const { env, folder } = await stage('SQLite');
    const file = join(folder, name);

    const ended = await run(['export', 'clients', '--out', file, ...argv, '--json'], env);

    expect(document(ended)).toMatchObject({ format });
    expect(readFileSync(file, 'utf8').startsWith(begins)).toBe(true);
  });

  test('of - is CSV on stdout, or the one that is chosen', async () => {
    const { exported } = await stage('SQLite');

    expect((await exported('clients', '--out', '-')).stdout).toMatch(/^id,code,/);
    expect((await exported('clients', '--out', '-', '--format', 'ndjson')).stdout).toMatch(/^{"id":/);
    expect((await exported('clients', '--out', '-', '--format', 'xlsx')).code).toBe(2);
  });

  test('has times as such on either database, which SQLite declares as texts', async () => {
    const { env, exported } = await stage('SQLite');
    await run(['pull', 'punches'], env);

    expect((await exported('punches', '--excel')).stdout).toMatch(/;\d{4}-\d\d-\d\d;\d\d:\d\d:\d\d;/);
  });
});

describe('piped', () => {
  const shell = (line: string, env: Env): Promise<string> =>
    new Promise((resolve) => {
      execFile(
        'sh',
        ['-c', line],
        { env: { PATH: process.env['PATH'], ...env } },
        (_error, stdout, stderr) => {
          resolve(stdout + stderr);
        },
      );
    });

  test('a reader may stop early', async () => {
    const { env } = await stage('SQLite');
    const program = `"${process.execPath}" "${MAIN}" export clients --format`;

    expect(await shell(`${program} csv | head -c 3`, env)).toBe('id,');
  });
});
