import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../../src/db/open-session.ts';
import { ONE_DATABASE, type DATABASES, mirrorIn } from '../../events/support.ts';
import { sandbox } from '../../pull/support.ts';
import { document, run } from '../../support/command-line.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A mirror with a client, and its export for Excel. */
async function scene(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: 4 });
  service.world.insert('clients', { code: '000123', name: 'Zoé', credit: '1234.50' });
  const { url } = await mirrorIn(database);
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  await run(['pull', 'clients'], env);
  const folder = tempFolder();
  const file = join(folder, 'clients.csv');
  await run(['export', 'clients', '--excel', '--out', file], env);
  return { env, folder, file };
}

const replace = (file: string, from: string, to: string): void => {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};

describe.each(ONE_DATABASE)('plan, apply and undo in %s', (database) => {
  test('show a correction, put it into the outbox once, and tell what has become of each row', async () => {
    const { env, file } = await scene(database);
    expect((await run(['plan', file], env)).stdout).toBe('Nothing would change.\n');
    expect((await run(['plans'], env)).stdout).toBe('No plans.\n');
    replace(file, 'Zoé', 'Zoé & Fils');

    const planned = await run(['plan', file], env);
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain(
      'Plan 1 for clients, from clients.csv: 1 update, 0 creates, 0 refusals. It is open.',
    );
    expect(planned.stdout).toMatch(/Zoé +name +"Zoé" +"Zoé & Fils"/);

    expect((await run(['status'], env)).stdout).not.toContain('waits for approval');
    const status = await run(['status'], { ...env, BMS__PLANS__APPROVALS: '1' });
    expect(status.stdout).toMatch(/^Needs you: Plan 1 waits for approval\. .*\(bms-sync approve 1\)$/m);

    const own = await run(['approve', '1'], env);
    expect(own).toMatchObject({ code: 1 });
    expect(own.stderr).toContain('(plans.approvals: 0): bms-sync apply 1');

    const applied = document(await run(['apply', '1', '--json'], env));
    expect(applied).toMatchObject({ id: 1, state: 'applied', rows: [{ entry: { id: 1, state: 'ready' } }] });
    expect((await run(['apply', '1'], env)).stdout).toContain('is running with writes on');
    expect((await run(['outbox', '--json'], env)).stdout.match(/"plan:1:/g)).toHaveLength(1);

    const undone = await run(['undo', '1'], env);
    expect(undone.stdout).toContain('Refused:');
    expect(undone.stdout).toContain('its entry 1 is ready');
    const again = await run(['undo', '1'], env);
    expect(again.stdout).toContain('Plan 3 for clients, from undo of plan 1: '); // Plan 2 waits, and may come to nothing.
  });
});

describe('reject and withdraw', () => {
  test('end a plan with a reason, which the list and the plan show', async () => {
    const { env, file } = await scene('SQLite');
    replace(file, 'Zoé', 'Zoé & Fils');
    for (let n = 0; n < 2; n += 1) await run(['plan', file], env);
    expect(await run(['reject', '1'], env)).toMatchObject({ code: 2 });
    expect(await run(['reject', '1', '--reason', ' '], env)).toMatchObject({ code: 2 });
    const own = await run(['reject', '1', '--reason', 'Wrong prices'], env);
    expect(own).toMatchObject({ code: 1, stdout: '' });
    expect(own.stderr).toMatch(/only another user can reject it\.\nTo end it: bms-sync withdraw 1/);
    {
      await using session = await openSession(env.DATABASE_URL);
      await session.atomically((tx) => tx.query(sql`update plans set created_by = 'Ada' where id = 1`));
    }
    const rejected = await run(['reject', '1', '--reason', 'Wrong prices'], env);
    expect(rejected).toMatchObject({ code: 0, stderr: '' });
    expect(rejected.stdout).toMatch(
      /It is rejected\.\nMade by .*\. Rejected by .*\.\nReason: Wrong prices\.\n/,
    );
    expect((await run(['withdraw', '2'], env)).stdout).toContain('It is withdrawn.');
    expect((await run(['plans'], env)).stdout).toMatch(/2 +withdrawn .*\n +1 +rejected /);
    const applied = await run(['apply', '1'], env);
    expect(applied).toMatchObject({ code: 1 });
    expect(applied.stderr).toMatch(/Plan 1 was rejected by .* UTC: Wrong prices\./);
  });
});

describe('plan', () => {
  test.each([
    ['a file that is not there', 'gone.csv', null, 'is not there'],
    [
      'a sheet without ids',
      'clients.csv',
      'code;name\nC-1;Ada\n',
      'does not name the columns, id among them.\nName each column once in the first row. The column id stays empty in new rows (--create). For a sheet without ids: --match FIELD',
    ],
    ['columns of several kinds', 'sheet.csv', 'id\n1\n', 'The columns fit more than one record kind.'],
    [
      'a kind that cannot be written, by its name',
      'bookings.csv',
      'numero;nom\n1;A\n',
      'There is no record kind "bookings" that can be written.',
    ],
    ['no workbook', 'clients.xlsx', 'id\n1\n', 'is neither a workbook nor CSV'],
  ])('refuses %s', async (_, name, content, message) => {
    const { env, folder } = await scene('SQLite');
    const file = name === 'gone.csv' ? join(folder, name) : join(folder, `other-${name}`);
    if (content !== null) writeFileSync(file, content);
    const { code, stderr } = await run(['plan', file], env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  test('takes the kind of a few columns from the name of the file, and matches a sheet without ids', async () => {
    const { env, folder, file } = await scene('SQLite');
    const [head = '', ...lines] = readFileSync(file, 'utf8')
      .replace('\ufeff', '')
      .replace(/^sep=.*\r\n/, '')
      .split('\r\n');
    const names = head.split(';');
    const zoe = lines.find((line) => line.includes('Zoé'))?.split(';') ?? [];
    const at = (name: string): string => zoe[names.indexOf(name)] ?? '';
    const few = join(folder, 'clients-2026-11.csv');
    writeFileSync(few, `id,_version,phone\n${at('id')},${at('_version').replace(/^\t/, '')},5551\n`);
    expect((await run(['plan', few], env)).stdout).toContain(
      'for clients, from clients-2026-11.csv: 1 update',
    );
    const differing = await run(['plan', few, '--kind', 'products'], env);
    expect(differing).toMatchObject({ code: 2 });
    expect(differing.stderr).toContain('differ: products, clients.');
    const prices = join(folder, 'prices.csv');
    writeFileSync(prices, 'code,credit\n000123,2500.75\n123,1\n');
    const matched = await run(['plan', prices, '--kind', 'clients', '--match', 'code'], env);
    expect(matched.stdout).toMatch(/Zoé +credit +"?1234\.50"? +"?2500\.75"?/);
    expect(matched.stdout).toContain('Row 3: it has probably lost its zeros: record');
  });

  test('names a mistyped column once for all rows', async () => {
    const { env, file } = await scene('SQLite');
    const text = readFileSync(file, 'utf8');
    const [, sign = ''] = /id(.)/.exec(text) ?? [];
    writeFileSync(file, text.replace(/$/m, `${sign}phones`).replaceAll(/(?<=\n.+)$/gm, `${sign}1`));
    expect((await run(['plan', file], env)).stdout).toMatch(
      /Refused:\n {2}Rows 2, 3, 4, 5, 6?.*: phones is not a column of the export; did you mean phone\?\n/,
    );
  });

  test('refuses a number that no plan has', async () => {
    const { env } = await scene('SQLite');
    expect(await run(['apply', '9'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Plan 9 does not exist.') as string,
    });
  });
});
