import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../src/db/session/session.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { removeWorker, saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { pullOne } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { document, run } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A mirror that was pulled by a settings file, which keeps the addresses of clients out. */
async function stage(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: 12 });
  const { url, session } = await mirrorIn(database);
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const file = join(tempFolder(), 'bms.yaml');
  writeFileSync(file, 'privacy: { exclude: { clients: [email, contacts] } }\n');
  for (const argv of [['migrate'], ['pull', 'clients']])
    expect(await run([...argv, '--config', file], env)).toMatchObject({ code: 0 });
  const landed = (): Promise<Row[]> =>
    session.query(
      sql`select (select count(*) from changes) as events, count(email) as addresses from clients`,
    );
  return { env, file, landed };
}

const NOTHING = [{ events: 0, addresses: 0 }];

const numbers = (rows: readonly Row[]): unknown =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])));

describe.each(DATABASES)('an exclusion that %s knows', (database) => {
  test('ends where the settings name its kind without the field, and then for every command', async () => {
    const { env, landed } = await stage(database);
    const ending = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["contacts"]}' };
    expect(await run(['migrate'], ending)).toMatchObject({ code: 0 });
    expect((await run(['pull', 'clients'], env)).stderr).toContain(
      'excludes fields that these settings do not: clients.contacts.',
    );
    expect(await run(['pull', 'clients'], { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":[]}' })).toMatchObject(
      {
        code: 0,
      },
    );
    expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
    expect(numbers(await landed())).not.toEqual(NOTHING);
  });
});

/** A mirror with the addresses of its clients, and settings that exclude them. */
async function excludedLater(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: 12 });
  const { url, session } = await mirrorIn(database);
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  const addresses = async (): Promise<number> =>
    Number((await session.query(sql`select count(email) as n from clients`))[0]?.['n']);
  const excluding = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email"]}' };
  return { service, session, env, excluding, addresses };
}

describe.each(DATABASES)('a field of %s that is excluded later', (database) => {
  test('is removed by no command that only reads or writes a row: each names the one that removes it', async () => {
    const { env, excluding, addresses } = await excludedLater(database);
    const commands = [
      ...['status', 'changes', 'outbox', 'deletions', 'runs', 'webhooks', 'report', 'kinds'].map((name) => [
        name,
      ]),
      ...[
        ['record', 'clients', '1'],
        ['export', 'clients', '--format', 'csv'],
        ['verify', 'clients'],
      ],
      ...[
        ['backfill', 'clients', '--all'],
        ['push', 'create', 'clients', '--data', '{"code":"Z"}'],
      ],
    ];
    for (const argv of commands) {
      const ended = await run(argv, excluding);
      if (ended.code === 0)
        expect(['report', 'kinds'], argv.join(' ')).toContain(argv[0]); // They list what there is, without a mirror.
      else {
        expect(ended, argv.join(' ')).toMatchObject({ code: 2, stdout: '' });
        expect(ended.stderr).toContain(
          'These settings and the mirror exclude different fields: clients.email.',
        );
        expect(ended.stderr).toContain('take over these settings by bms-sync migrate');
      }
      expect(await addresses(), argv.join(' ')).toBe(12);
    }
    const { checks } = document(await run(['doctor', '--json'], excluding)) as { checks: CheckResult[] };
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'database', ok: false, code: 'settings.exclusions_differ' }),
    );
    expect(await run(['status'], env)).toMatchObject({ code: 0 });
  });

  test('is removed by a pull, which lands none of it', async () => {
    const { excluding, addresses } = await excludedLater(database);
    expect(await run(['pull', 'clients'], excluding)).toMatchObject({ code: 0 });
    expect(await addresses()).toBe(0);
    expect(await run(['status'], excluding)).toMatchObject({ code: 0 });
  });

  test.each(['migrate', 'pull clients'])(
    'and allowed again is filled by the next pull, without events, though %s removed it',
    async (remover) => {
      const { session, env, addresses } = await excludedLater(database);
      const contacts = async (): Promise<unknown> =>
        (await session.query(sql`select count(*) as n from clients_contacts`))[0]?.['n'];
      const before = await contacts();
      const settings = (fields: readonly string[]) => ({
        ...env,
        BMS__PRIVACY__EXCLUDE: JSON.stringify({ clients: fields }),
      });
      expect(await run(remover.split(' '), settings(['email', 'contacts']))).toMatchObject({ code: 0 });
      expect([await addresses(), Number(await contacts())]).toEqual([0, 0]);
      expect(await run(['pull', 'clients'], settings([]))).toMatchObject({ code: 0 });
      expect([await addresses(), await contacts()]).toEqual([12, before]);
      expect(await session.query(sql`select seq from changes`)).toEqual([]);
    },
  );

  test('is not removed while another process works by the former exclusions', async () => {
    const { session, excluding, addresses } = await excludedLater(database);
    const serve = { owner: 'office:7:elsewhere:1', roles: ['pulls'], schedules: '{}' };
    await saveHeartbeat(session, serve);
    for (const argv of [['migrate'], ['pull', 'clients']]) {
      const ended = await run(argv, excluding);
      expect(ended, argv.join(' ')).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain('then run this again: process 7 on office.');
    }
    expect(await addresses()).toBe(12);
    await removeWorker(session, serve.owner);
    expect(await run(['migrate'], excluding)).toMatchObject({ code: 0 });
  });

  test('is removed by migrate, and status keeps the kind, the fields and the number of rows', async () => {
    const { excluding, addresses } = await excludedLater(database);
    expect((await run(['migrate'], excluding)).stdout).toContain('were removed from it');
    expect(await addresses()).toBe(0);
    const { stdout } = await run(['status'], excluding);
    expect(stdout).toMatch(/clients +excluded_field +email +emptied in 12 rows/);
    expect((await run(['doctor'], excluding)).stdout).toContain('privacy: keeps out clients.email');
  });
});

test('doctor refuses the name of a field that every other command refuses, and promises nothing of it', async () => {
  const service = await sandbox({ size: 12 });
  const { url } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const misspelt = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["emails"]}' };
  const ended = await run(['doctor'], misspelt);
  expect(ended.code).toBe(2);
  const message = 'privacy.exclude.clients has emails, which is not a field of clients; did you mean email?';
  expect(ended.stdout).toContain(`BAD  settings: ${message}`);
  expect(ended.stdout).not.toContain('privacy: keeps out');
  expect((await run(['migrate'], misspelt)).stderr).toContain(message);
});

test('status shows fields that were emptied until the settings allow them again', async () => {
  const service = await sandbox({ size: 12 });
  const { url } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const excluding = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email","contacts"]}' };
  await run(['pull', 'clients'], env);
  await run(['migrate'], excluding);
  const { stdout } = await run(['status'], excluding);
  expect(stdout).toMatch(/clients +excluded_field +email, contacts +emptied in 12 rows/);
  expect(stdout).toContain('Fields emptied by your own settings (privacy.exclude):');
  expect(stdout).not.toContain('Changes in the answers of the service');
  const allowing = (fields: string) => ({ ...env, BMS__PRIVACY__EXCLUDE: `{"clients":[${fields}]}` });
  await run(['migrate'], allowing('"contacts"'));
  expect((await run(['status'], allowing('"contacts"'))).stdout).toMatch(/excluded_field +contacts +emptied/);
  await run(['migrate'], allowing(''));
  expect((await run(['status'], allowing(''))).stdout).not.toContain('excluded_field');
});

test('a pull names the fields that are new', async () => {
  const service = await sandbox({ size: 12 });
  const { url } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  await run(['pull', 'clients'], env);
  service.world.update('clients', service.world.ids('clients')[0] ?? 0, { mood: 'good' });
  expect((await run(['pull', 'clients'], env)).stdout).toContain('clients: new field mood, sent as text.');
});

describe('an exclusion that a mirror knows', () => {
  test.each([
    ['pull', 'clients'],
    ['backfill', 'clients', '--all'],
    ['migrate'],
    ['status'],
    ['push', 'create', 'clients', '--data', '{"code":"Z"}'],
  ])('stops %s %s without it, and names the line to add', async (...argv) => {
    const { env, landed } = await stage('SQLite');

    const ended = await run(argv, env);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(
      'excludes fields that these settings do not: clients.email, clients.contacts.',
    );
    expect(ended.stderr).toContain(`BMS__PRIVACY__EXCLUDE='{"clients":["email","contacts"]}'`);
    expect(numbers(await landed())).toEqual(NOTHING);
  });

  test('is found by doctor', async () => {
    const { env } = await stage('SQLite');
    const ended = await run(['doctor', '--json'], env);
    expect(ended.code).toBe(2);
    expect((document(ended) as { checks: unknown[] }).checks).toContainEqual(
      expect.objectContaining({ name: 'database', ok: false, code: 'settings.exclusions_missing' }),
    );
  });

  test('is kept by every command where BMS_CONFIG names the file', async () => {
    const { env, file, landed } = await stage('SQLite');
    for (const argv of [['pull', 'clients'], ['status'], ['doctor']])
      expect(await run(argv, { ...env, BMS_CONFIG: file })).toMatchObject({ code: 0 });
    expect(numbers(await landed())).toEqual(NOTHING);
  });

  test('of a further kind waits until the settings declare it again', async () => {
    const { env, landed } = await stage('SQLite');
    const kinds = '{"depots":{"list":"/api/departments","fields":{"name":"text"}}}';
    const both = '{"clients":["email","contacts"],"depots":["name"]}';
    const further = { ...env, BMS__KINDS: kinds, BMS__PRIVACY__EXCLUDE: both };
    expect(await run(['migrate'], further)).toMatchObject({ code: 0 });
    const without = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email","contacts"]}' };
    expect(await run(['migrate'], without)).toMatchObject({ code: 0 });

    const ended = await run(['migrate'], { ...without, BMS__KINDS: kinds });

    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('excludes fields that these settings do not: depots.name.');
    expect(numbers(await landed())).toEqual(NOTHING);
  });
});

describe.each(DATABASES)('an exclusion of %s that came while another process runs', (database) => {
  test('stops the landings of that process, which does not know of it', async () => {
    const { service, session, excluding, addresses } = await excludedLater(database);
    expect(await addresses()).toBe(12);
    expect(await run(['migrate'], excluding)).toMatchObject({ code: 0 });
    expect(await addresses()).toBe(0);

    const [client] = await session.query(sql`select min(id) as id from clients`);
    service.world.update('clients', Number(client?.['id']), { name: 'Another' });
    const older = pullOne(service, session, { kind: 'clients' }); // With a kind that has the field.
    expect(await older).toMatchObject({ state: 'aborted', reason: 'excluded_since' });
    expect(await addresses()).toBe(0);
  });
});
