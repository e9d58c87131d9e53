import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../src/db/session/session.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
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
  expect(await run(['pull', 'clients', '--config', file], env)).toMatchObject({ code: 0 });
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

test('doctor names the fields that the mirror lets in so far, and what becomes of the running service', async () => {
  const service = await sandbox({ size: 12 });
  const { url, session } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const excluding = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email"]}' };
  await run(['pull', 'clients'], env);
  const privacyChecks = async (): Promise<readonly string[]> => {
    const { checks } = document(await run(['doctor', '--json'], excluding)) as { checks: CheckResult[] };
    return checks.flatMap(({ name, detail }) => (name === 'privacy' ? [detail] : []));
  };
  const added = 'clients.email: the next command that opens the mirror empties them';
  expect(await privacyChecks()).toEqual(['keeps out clients.email', added]);
  await saveHeartbeat(session, { owner: 'another', roles: ['pulls'], schedules: '[]' });
  expect(await privacyChecks()).toEqual([
    expect.anything(),
    expect.stringContaining(`${added}. Restart bms-sync serve`),
  ]);
  await run(['migrate'], excluding);
  expect(await privacyChecks()).toEqual(['keeps out clients.email']);
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

test('an exclusion of stored values is reported by the pull and kept by status: kind, fields and rows', async () => {
  const service = await sandbox({ size: 12 });
  const { url } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const excluding = { ...env, BMS__PRIVACY__EXCLUDE: '{"clients":["email","contacts"]}' };
  await run(['pull', 'clients'], env);
  const report = 'clients: excluded field email, contacts, emptied in 12 rows.';
  expect((await run(['pull', 'clients'], excluding)).stdout).toContain(report);
  expect((await run(['pull', 'clients'], excluding)).stdout).not.toContain(report);
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
  const EXCLUDE = { BMS__PRIVACY__EXCLUDE: '{"clients":["email"]}' };

  test('stops the landings of that process, which does not know of it', async () => {
    const service = await sandbox({ size: 12 });
    const { url, session } = await mirrorIn(database);
    const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
    expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
    const emails = async (): Promise<unknown> =>
      Number((await session.query(sql`select count(email) as n from clients`))[0]?.['n']);
    expect(await emails()).toBe(12);
    expect(await run(['migrate'], { ...env, ...EXCLUDE })).toMatchObject({ code: 0 });
    expect(await emails()).toBe(0);
    const [client] = await session.query(sql`select min(id) as id from clients`);
    service.world.update('clients', Number(client?.['id']), { name: 'Another' });
    const older = pullOne(service, session, { kind: 'clients' }); // With a kind that has the field.
    expect(await older).toMatchObject({ state: 'aborted', reason: 'excluded_since' });
    expect(await emails()).toBe(0);
  });
});
