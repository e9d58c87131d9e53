import { expect, test } from 'vitest';
import { checkDatabase } from '../../src/checks/database.ts';
import { admit, openMirror } from '../../src/app/open-mirror.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../support/postgres.ts';
import { run } from '../support/command-line.ts';
import { freshMirror } from '../support/temp-folder.ts';

async function found(url: string, readerRole: string | null): Promise<CheckResult | undefined> {
  const config = loadConfig({ env: {}, flags: { database: { url }, bi: { readerRole } } });
  return (await checkDatabase(config, { mirror: () => openMirror(config), admit })).checks.find(
    ({ name }) => name === 'bi.readerRole',
  );
}

test('a role that reads all views and nothing else is well', async () => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  expect(await found(url, role.name)).toMatchObject({ ok: true, code: null });
});

test.each([
  {
    wrong: 'revoke select on bi_clients from',
    expected: 'cannot read bi_clients',
    mend: 'grant select on all tables',
  },
  {
    wrong: 'grant update on bi_clients to',
    expected: 'has the right to write bi_clients',
    mend: 'revoke insert, update',
  },
  {
    wrong: 'grant usage on schema bms_sync to ROLE; grant select on bms_sync.clients to',
    expected: 'has rights on the tables clients',
    mend: 'revoke all on schema bms_sync',
  },
])('$expected, and how that is mended', async ({ wrong, expected, mend }) => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  await found(url, role.name);
  const admin = await bystander(url);
  await admin.query(`${wrong.replace('ROLE', role.name)} ${role.name}`);

  const finding = await found(url, role.name);

  expect(finding).toMatchObject({ ok: false, code: 'mirror.reader_rights' });
  expect(finding?.detail).toContain(expected);
  expect(finding?.hint).toContain(mend);
  await admin.query(finding?.hint?.split('Revoke')[0] ?? '');
  expect(await found(url, role.name)).toMatchObject({ ok: true });
});

test('a role that may do everything is told of', async () => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  await (await bystander(url)).query(`alter role ${role.name} superuser`);
  expect(await found(url, role.name)).toMatchObject({ ok: false, code: 'mirror.reader_rights' });
});

test('a role that does not exist, or no longer, is named by every command with the SQL that makes it', async () => {
  const env = { DATABASE_URL: await freshDatabaseUrl(), BMS__BI__READER_ROLE: 'absent_analyst' };
  const ended = await run(['migrate'], env);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('create role "absent_analyst" login');

  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  const admin = await bystander(url);
  await found(url, role.name);
  await admin.query(`alter role ${role.name} rename to ${role.name}_gone`);
  const finding = await found(url, role.name);
  await admin.query(`alter role ${role.name}_gone rename to ${role.name}`);
  expect(finding).toMatchObject({ ok: false, code: 'mirror.no_reader_role' });
});

test('in SQLite it is nobody’s', async () => {
  expect(await found(`file:${freshMirror()}`, 'analyst')).toBeUndefined();
});
