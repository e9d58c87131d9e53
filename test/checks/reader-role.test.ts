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

test('a role reads all views and nothing else; what is wrong is named with its remedy', async () => {
  const url = await freshDatabaseUrl('template_all_kinds');
  const role = await freshRole(url);
  const admin = await bystander(url);
  const look = () => found(url, role.name);
  for (const { wrong, expected, mend } of [
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
  ]) {
    expect(await look()).toMatchObject({ ok: true, code: null });
    await admin.query(`${wrong.replace('ROLE', role.name)} ${role.name}`);
    const finding = await look();
    expect(finding).toMatchObject({ ok: false, code: 'mirror.reader_rights' });
    expect(finding?.detail).toContain(expected);
    expect(finding?.hint).toContain(mend);
    await admin.query(finding?.hint?.split('Revoke')[0] ?? '');
  }
  expect(await look()).toMatchObject({ ok: true });
  await admin.query(`alter role ${role.name} superuser`);
  expect(await look()).toMatchObject({ ok: false, code: 'mirror.reader_rights' });
  await admin.query(`alter role ${role.name} nosuperuser`);

  await admin.query(`alter role ${role.name} rename to ${role.name}_gone`);
  const finding = await look();
  await admin.query(`alter role ${role.name}_gone rename to ${role.name}`);
  expect(finding).toMatchObject({ ok: false, code: 'mirror.no_reader_role' });
});

test('a role that does not exist is named by every command with the SQL that makes it', async () => {
  const env = { DATABASE_URL: await freshDatabaseUrl(), BMS__BI__READER_ROLE: 'absent_analyst' };
  const ended = await run(['migrate'], env);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('create role "absent_analyst" login');
});

test('in SQLite it is nobody’s', async () => {
  expect(await found(`file:${freshMirror()}`, 'analyst')).toBeUndefined();
});
