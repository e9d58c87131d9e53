import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import type { CheckResult } from '../../src/lib/check-result.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { document, run, settingsFor, type Ended, type Env } from '../support/command-line.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { freshMirror, tempFolder } from '../support/temp-folder.ts';

const checksIn = (ended: Ended): readonly CheckResult[] =>
  (document(ended) as { checks: CheckResult[] }).checks;

function detailOf(ended: Ended, name: string): string | undefined {
  return checksIn(ended).find((check) => check.name === name)?.detail;
}

describe('doctor creates nothing', () => {
  test('no database file and no folder, and says that the first pull will', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const folder = tempFolder();
    const path = join(folder, 'new', 'deeper', 'mirror.db');

    const ended = await run(['doctor', '--json'], settingsFor(sandbox, path));

    expect(ended.code).toBe(0);
    expect(detailOf(ended, 'database')).toBe(`no mirror at ${path} yet; the first pull creates it`);
    expect(detailOf(ended, 'database.space')).toMatch(/^0 MB in use, \d+ MB free$/);
    expect(readdirSync(folder)).toEqual([]);
    expect(await run(['pull', 'departments'], settingsFor(sandbox, path))).toMatchObject({ code: 0 });
  });

  test('no table in PostgreSQL', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const url = await freshDatabaseUrl();

    const ended = await run(['doctor', '--json'], { ...settingsFor(sandbox, ''), DATABASE_URL: url });

    expect(ended.code).toBe(0);
    expect(detailOf(ended, 'database')).toMatch(/it holds no mirror yet, the first pull creates it$/);
    await using session = await openSession(url);
    expect(
      await session.query(
        sql`select table_name from information_schema.tables where table_schema in ('public', 'bms_sync')`,
      ),
    ).toEqual([]);
  });
});

test('doctor URL looks at that service, whatever the settings name', async () => {
  await using ours = await startSandbox({ size: 10 });
  const env = { ...settingsFor(ours, freshMirror()), BMS_BASE_URL: 'http://127.0.0.1:1' };

  const ended = await run(['doctor', ours.url, '--json'], env);

  expect(ended.code).toBe(0);
  expect(detailOf(ended, 'service')).toBe(`${ours.url} answers and accepts the token`);
});

test('doctor refuses another base URL, as a pull does', async () => {
  await using ours = await startSandbox({ size: 10 });
  await using other = await startSandbox({ size: 10 });
  const path = freshMirror();
  await run(['pull', 'departments'], settingsFor(ours, path));

  const ended = await run(['doctor', '--json'], settingsFor(other, path));

  expect(ended.code).toBe(1);
  expect(checksIn(ended).filter(({ ok }) => !ok)).toEqual([
    expect.objectContaining({
      name: 'tenant',
      code: 'mirror.other_source',
      hint: expect.stringContaining(
        `For the same service, set BMS_BASE_URL (source.baseUrl) to ${ours.url}.`,
      ) as string,
    }) as object,
  ]);
});

test('doctor checks the kinds that the mirror keeps, as every command, and names settings that differ', async () => {
  await using sandbox = await startSandbox({ size: 10 });
  const env = settingsFor(sandbox, freshMirror());
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  const withShop = { ...env, BMS__INCLUDE_KINDS: '["shop"]' };
  const { code, stdout } = await run(['doctor'], withShop);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/!   {2}settings: some differ[^]*includeKinds/)]);
  expect(stdout).not.toContain('no such table');
  expect(await run(['migrate'], withShop)).toMatchObject({ code: 0 });
  expect((await run(['doctor'], env)).stdout).toMatch(/no schedule pulls .*sales|kinds\.sales/);
});

test('doctor calls no tenant right while the service does not answer or refuses the token', async () => {
  const path = freshMirror();
  const sandbox = await startSandbox({ size: 10 });
  const env = settingsFor(sandbox, path);
  await run(['pull', 'departments'], env);
  const names = async (settings: Env): Promise<string[]> =>
    checksIn(await run(['doctor', '--json'], { ...settings, BMS__SOURCE__MAX_ATTEMPTS: '1' })).map(
      (check) => check.name,
    );

  expect(await names(env)).toContain('tenant');
  expect(await names({ ...env, BMS_TOKEN: 'another-token' })).not.toContain('tenant');
  await sandbox.close();
  expect(await names(env)).not.toContain('tenant');
});

test('doctor says what serve would do: when it pulls, whether it sends, what it removes', async () => {
  await using sandbox = await startSandbox({ size: 10 });
  const env = {
    ...settingsFor(sandbox, freshMirror()),
    BMS__SCHEDULES: '{"timezone":"America/Toronto","clients":"0 3 * * *"}',
    BMS_WRITES: 'on',
  };

  const ended = await run(['doctor', '--json'], env);

  expect(ended.code).toBe(0);
  expect(detailOf(ended, 'schedules.clients')).toMatch(
    /^serve pulls clients by "0 3 \* \* \*" \(America\/Toronto\), next at \d{4}-\d\d-\d\d 0[78]:00 UTC$/,
  );
  expect(detailOf(ended, 'writes')).toMatch(/^writes are on /);
  expect(detailOf(ended, 'settings')).toBe('valid');
});

test('doctor names a file with a secret that every user may read', async () => {
  await using sandbox = await startSandbox({ size: 10 });
  const folder = tempFolder();
  const [token, settings, harmless] = ['token', 'bms.yaml', 'harmless.yaml'].map((name) =>
    join(folder, name),
  );
  writeFileSync(String(token), sandbox.token, { mode: 0o644 });
  writeFileSync(String(settings), `source: { token: ${sandbox.token} }`, { mode: 0o644 });
  writeFileSync(String(harmless), 'log: { level: info }', { mode: 0o644 });
  const env = { BMS_BASE_URL: sandbox.url, DATABASE_URL: `file:${freshMirror()}` };
  const secrets = async (more: Env): Promise<CheckResult[]> =>
    checksIn(await run(['doctor', '--json'], { ...env, ...more })).filter(({ name }) => name === 'secrets');

  const open = { ok: false, code: 'secrets.readable', hint: `chmod 600 ${token}` };
  expect(await secrets({ BMS_TOKEN_FILE: String(token), BMS_CONFIG: String(harmless) })).toMatchObject([
    open,
  ]);
  expect(await secrets({ BMS_CONFIG: String(settings) })).toMatchObject([
    { ...open, hint: `chmod 600 ${settings}` },
  ]);
  expect(await run(['doctor'], { ...env, BMS_CONFIG: String(settings) })).toMatchObject({ code: 1 });

  for (const file of [token, settings]) chmodSync(String(file), 0o640);
  expect(await secrets({ BMS_TOKEN_FILE: String(token), BMS_CONFIG: String(harmless) })).toMatchObject([
    { ok: true },
  ]);
});
