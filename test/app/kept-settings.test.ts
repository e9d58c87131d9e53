import { expect, test } from 'vitest';
import { sandbox } from '../pull/support.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../support/postgres.ts';
import { freshMirror } from '../support/temp-folder.ts';

test('every command answers by the settings that the mirror keeps, and names its own that differ', async () => {
  const service = await sandbox({ size: 8 });
  const bare = { DATABASE_URL: `file:${freshMirror()}` };
  const pulling = { ...bare, BMS_BASE_URL: service.url, BMS_TOKEN: service.token };
  const chosen = {
    BMS__INCLUDE_KINDS: 'shop',
    BMS__REPORTS__SOLD: 'invoice',
    BMS__REPORTS__OWED: 'invoice',
  };
  const kindsOf = async (env: Env): Promise<readonly unknown[]> => {
    const ended = await run(['export', 'bi_sync_status', '--format', 'csv'], env);
    return [ended.stdout.split('\n').length, (await reportOf(env)).totals];
  };
  const reportOf = async (env: Env) =>
    document(await run(['report', 'receivables-by-age', '--json'], env)) as { totals: unknown };
  expect(await run(['pull'], { ...pulling, ...chosen })).toMatchObject({ code: 0 }); // The maker of the mirror.
  const made = await kindsOf({ ...bare, ...chosen });

  expect(await run(['pull', 'clients'], pulling)).toMatchObject({ code: 0 });
  expect(await run(['status'], bare)).toMatchObject({ code: 0, stderr: '' });
  expect(await kindsOf(bare)).toEqual(made);
  const other = await run(['report', 'sales-by-month'], {
    ...bare,
    BMS__REPORTS__SOLD: 'quote',
    BMS__SCHEDULES__TIMEZONE: 'Asia/Tokyo',
  });
  expect(other.stderr).toBe(
    'The mirror keeps other values of reports.sold, schedules.timezone, which count: bms-sync migrate takes over these.\n',
  );
  expect(await kindsOf(bare)).toEqual(made);

  expect(await run(['migrate'], { ...bare, BMS__REPORTS__SOLD: 'quote' })).toMatchObject({ code: 0 });
  const { reports } = document(await run(['report', '--json'], bare)) as {
    reports: { missing: unknown }[];
  };
  expect(reports.map(({ missing }) => missing)).toEqual(reports.map(() => null)); // Fewer kinds take no view away.
  const { wanted } = document(await run(['report', 'receivables-by-age', '--json'], bare)) as {
    wanted: unknown;
  };
  expect(wanted).toEqual(['reports.owed']);
});

test('a command without bi.readerRole and language takes no right from the role, and translates no comment', async () => {
  const service = await sandbox({ size: 8 });
  const bare = { DATABASE_URL: await freshDatabaseUrl() };
  const pulling = { ...bare, BMS_BASE_URL: service.url, BMS_TOKEN: service.token };
  const role = await freshRole(bare.DATABASE_URL);
  const client = await bystander(bare.DATABASE_URL);
  const standing = async () =>
    (
      await client.query<{ reads: boolean; comment: string }>(
        `select has_table_privilege($1, 'bi_clients', 'select') as reads, obj_description('bi_clients'::regclass) as comment`,
        [role.name],
      )
    ).rows;
  expect(await run(['pull'], pulling)).toMatchObject({ code: 0 });
  const chosen = { ...bare, BMS__BI__READER_ROLE: role.name, BMS__LANGUAGE: 'fr' };
  expect(await run(['migrate'], chosen)).toMatchObject({ code: 0 });
  const granted = [{ reads: true, comment: expect.stringMatching(/^Clients\u00a0: /) as unknown }];
  expect(await standing()).toEqual(granted);

  expect(await run(['pull', 'clients'], pulling)).toMatchObject({ code: 0 });
  expect(await run(['status'], bare)).toMatchObject({ code: 0 });
  expect(await standing()).toEqual(granted);

  expect(await run(['migrate'], bare)).toMatchObject({ code: 0 });
  expect(await standing()).toEqual([{ reads: false, comment: 'Clients: persons and businesses.' }]);
});
