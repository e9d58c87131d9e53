import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';

import { promisify } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { document, run, settingsFor, type Env } from '../support/command-line.ts';
import { shellLines } from './doc-lines.ts';
import { ask, dump } from '../support/mirror-file.ts';
import { copyGrownMirror } from '../support/sqlite-templates.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { MAIN } from '../support/program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { redisFor, serveBeside, type AtEnd } from './outbound-scene.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/back-up.md'), 'utf8');
const LINES = {
  sqliteCopy: shellLines(page, '## Back up', 0),
  postgresCopy: shellLines(page, '## Back up', 1),
  sqliteRestore: shellLines(page, '## Restore', 0),
  postgresRestore: shellLines(page, '## Restore', 1),
};

/** `serve` sends what is entered, and reads nothing of its own accord. */
const SENDING = {
  BMS_WRITES: 'on',
  PORT: '0',
  BMS__SCHEDULES__ALL: 'null',
  BMS__FRESHNESS__REQUESTS_PER_MINUTE: 'null',
};

const posts = ({ requests }: Sandbox): number => requests.filter(({ method }) => method === 'POST').length;

const modeOf = (path: string): number => statSync(path).mode & 0o777;

const outOf = promisify(execFile);

/** Runs lines of the page as they stand, with `bms-sync` and whatever else they call on PATH. */
async function typed(lines: string, env: Env, cwd: string): Promise<string> {
  const path = [tools(), process.env['PATH']].join(delimiter);
  const { stdout } = await outOf('sh', ['-eu', '-c', lines], { cwd, env: { ...env, PATH: path } });
  return stdout;
}

function tools(): string {
  const folder = tempFolder();
  const write = (name: string, line: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  write('bms-sync', `exec '${process.execPath}' '${MAIN}' "$@"`);
  return folder;
}

/** What a program calls its version; null where there is no such program. */
function versionOf(name: string): number | null {
  try {
    const output = execFileSync(name, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return Number.parseFloat(/(\d+\.\d+)/.exec(output)?.[1] ?? '');
  } catch {
    return null;
  }
}

/** Sends one create for each code, by a `serve` that ends when all are done. */
async function sendAll(atEnd: AtEnd, env: Env, codes: readonly string[]): Promise<void> {
  const { child, ended } = await serveBeside(atEnd, env);
  for (const code of codes) {
    const data = JSON.stringify({ code, name: code });
    expect(await run(['push', 'create', 'clients', '--data', data, '--wait'], env)).toMatchObject({
      code: 0,
    });
  }
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
}

/** A restored mirror opens and reports; it sends nothing, not even what it has forgotten, until a person resumes it. */
async function expectFrozen(atEnd: AtEnd, service: Sandbox, env: Env): Promise<void> {
  const sent = posts(service);
  const early = document(await run(['status', '--json'], env)) as { frozen: object | null };
  expect(early.frozen).toMatchObject({
    since: null,
    reason: '2 sends were made from here, and this database knows of 1',
    unknown: [expect.stringMatching(/^create of clients by entry 2, .* UTC, key /)],
  });
  const { stdout } = await run(['doctor'], env);
  expect(stdout).toContain('Unknown to this database: create of clients by entry 2');
  const listed = await run(['outbox'], env);
  expect(listed.stdout).toContain(
    'Sends are paused: 2 sends were made from here, and this database knows of 1',
  );
  const { child, ended } = await serveBeside(atEnd, env);
  const push = ['push', 'create', 'clients', '--data', '{"code":"AFTER","name":"AFTER"}', '--key', 'after'];
  expect(await run(push, env)).toMatchObject({ code: 0 });
  const { frozen } = document(await run(['status', '--json'], env)) as { frozen: { reason: string } | null };
  expect(frozen?.reason).toBe('2 sends were made from here, and this database knows of 1');
  expect(posts(service)).toBe(sent);

  expect(await run(['outbox', 'resume'], env)).toMatchObject({ code: 0 });
  expect(await run([...push, '--wait'], env)).toMatchObject({ code: 0 });
  expect(posts(service)).toBe(sent + 1);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  expect(await run(['verify', 'clients'], env)).toMatchObject({ code: 0 });
}

test('a SQLite mirror comes back from its copy by the lines of the page, and waits with sending', async ({
  onTestFinished,
}) => {
  await using service = await startSandbox({ size: 5 });
  const home = tempFolder();
  const folder = join(home, 'data');
  mkdirSync(folder);
  const backup = tempFolder();
  const path = join(folder, 'mirror.db');
  await copyGrownMirror(path);
  const env = { ...settingsFor(service, path), ...SENDING, BACKUP: backup };
  expect(await run(['pull'], env)).toMatchObject({ code: 0 });
  await sendAll(onTestFinished, env, ['BEFORE']);
  const held = dump(path);

  expect(await typed(`${LINES.sqliteCopy}\npwd`, env, home)).toMatch(new RegExp(`checked.*\\n${home}\\n$`));
  const copies = readdirSync(backup).toSorted();
  expect(copies).toEqual([expect.stringMatching(/^mirror-[\d-]+\.db$/), `${copies[0] ?? ''}.sends`]);
  expect(copies.map((name) => modeOf(join(backup, name)))).toEqual([0o600, 0o600]);
  await expect(typed(LINES.sqliteCopy, env, home)).rejects.toThrow(/replaces nothing/); // An older copy is never lost.
  await sendAll(onTestFinished, env, ['LATER']);

  chmodSync(path, 0o640);
  const copy = join(backup, copies[0] ?? '');
  const output = await typed(LINES.sqliteRestore, { ...env, COPY: copy }, home);

  expect(output).toContain('clients');
  expect(modeOf(path)).toBe(0o640);
  expect(dump(path)).toEqual(held);
  expect(ask(join(folder, 'before.db'), 'select count(*) as entries from outbox')).toEqual([{ entries: 2n }]);
  await expectFrozen(onTestFinished, service, env);
});

test('a SQLite mirror is restored on a new machine with the count of its sends', async () => {
  await using service = await startSandbox({ size: 5 });
  const folder = tempFolder();
  const backup = tempFolder();
  const machine = tempFolder();
  const env = settingsFor(service, join(folder, 'mirror.db'));
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  writeFileSync(join(folder, 'mirror.db.sends'), '7\n');
  await typed(LINES.sqliteCopy, { ...env, BACKUP: backup }, folder);
  const copy = join(backup, readdirSync(backup).find((name) => name.endsWith('.db')) ?? '');

  const there = { ...settingsFor(service, join(machine, 'mirror.db')), COPY: copy };
  await typed(LINES.sqliteRestore, there, machine);

  expect(dump(join(machine, 'mirror.db'))).toEqual(dump(join(folder, 'mirror.db')));
  expect(readFileSync(join(machine, 'mirror.db.sends'), 'utf8')).toBe('7\n');
  expect(modeOf(join(machine, 'mirror.db'))).toBe(0o600);
});

test('a copy of a SQLite mirror and of its count does not send what the first one sends', async ({
  onTestFinished,
}) => {
  await using service = await startSandbox({ size: 5 });
  const path = join(tempFolder(), 'mirror.db');
  const copy = join(tempFolder(), 'mirror.db');
  await copyGrownMirror(path);
  const env = { ...settingsFor(service, path), ...SENDING };
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  await sendAll(onTestFinished, env, ['BEFORE']);
  const waiting = ['push', 'create', 'clients', '--data', '{"code":"ONCE","name":"ONCE"}'];
  expect(await run(waiting, env)).toMatchObject({ code: 0 });
  for (const end of ['', '.sends']) copyFileSync(`${path}${end}`, `${copy}${end}`);

  const there = { ...env, DATABASE_URL: `file:${copy}` };
  const { child, ended } = await serveBeside(onTestFinished, there);
  const { frozen } = document(await run(['status', '--json'], there)) as {
    frozen: { reason: string } | null;
  };
  expect(frozen?.reason).toContain('copy of another');
  const paused = expect.stringMatching(/^sends are paused\..* bms-sync outbox resume$/) as string;
  const { checks } = document(await run(['doctor', '--json'], there)) as { checks: readonly object[] };
  expect(checks).toContainEqual(expect.objectContaining({ name: 'writes', detail: paused }));
  expect(posts(service)).toBe(1);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/"serve.started".*; sends are paused\..* outbox resume/),
  ]);
});

/** Runs statements on the server of the tests, beside all mirrors. */
async function administer(statements: readonly string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: (await sharedPostgres('template_grown')).url });
  await client.connect();
  try {
    const results = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}

/** Whether `pg_dump` is here, and as new as the server of the tests: an older one refuses to read it. */
async function canDump(): Promise<boolean> {
  const [shown] = await administer(['show server_version_num']);
  const server = Math.floor(
    Number((shown?.rows[0] as Record<string, string>)['server_version_num']) / 10_000,
  );
  return Math.floor(versionOf('pg_dump') ?? 0) >= server;
}

/** The lines of the page, where the tools are new enough; else the server's own copy, which has the same rows. */
async function copyPostgres(env: Env): Promise<void> {
  if (await canDump()) await typed(LINES.postgresCopy, env, env['BACKUP'] ?? '');
  else await administer(['create database mirror_copy template mirror']);
}

async function restorePostgres(env: Env): Promise<string> {
  const [copy] = readdirSync(env['BACKUP'] ?? '');
  if (copy !== undefined)
    return await typed(
      LINES.postgresRestore,
      { ...env, COPY: join(env['BACKUP'] ?? '', copy) },
      tempFolder(),
    );
  await administer([
    'alter database mirror rename to mirror_before',
    'create database mirror template mirror_copy',
  ]);
  const ours = LINES.postgresRestore.split('\n').filter((line) => line.startsWith('bms-sync'));
  return await typed(ours.join('\n'), env, tempFolder());
}

/** All that the tables of a mirror in PostgreSQL hold, save who is at work. */
async function tablesOf(url: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const named = await client.query(
      `select table_name as name from information_schema.tables where table_schema = 'bms_sync' order by 1`,
    );
    const held: Record<string, unknown> = {};
    for (const { name } of named.rows as { name: string }[])
      held[name] = (await client.query(`select to_jsonb(t) as row from bms_sync.${name} t order by 1`)).rows;
    const views = await client.query(`select viewname from pg_views where schemaname = 'public' order by 1`);
    return { ...held, views: views.rows };
  } finally {
    await client.end();
  }
}

test('a mirror in PostgreSQL comes back from its copy, and waits with sending', async ({
  onTestFinished,
}) => {
  const names = ['mirror', 'mirror_before', 'mirror_copy'];
  onTestFinished(async () => {
    await administer(names.map((name) => `drop database if exists ${name} with (force)`));
  });
  await administer(['create database mirror template template_grown']);
  await using service = await startSandbox({ size: 5 });
  const redis = await redisFor(onTestFinished);
  const { url: server } = await sharedPostgres();
  const url = new URL(server);
  url.pathname = 'mirror';
  const env = {
    BMS_BASE_URL: service.url,
    BMS_TOKEN: service.token,
    DATABASE_URL: url.href,
    QUEUE_URL: redis.url,
    ...SENDING,
    BACKUP: tempFolder(),
    ADMIN_URL: server,
  };
  expect(await run(['pull'], env)).toMatchObject({ code: 0 });
  await sendAll(onTestFinished, env, ['BEFORE']);
  const held = await tablesOf(url.href);
  await copyPostgres(env);
  await sendAll(onTestFinished, env, ['LATER']);
  expect(await tablesOf(url.href)).not.toEqual(held);

  const output = await restorePostgres(env);

  expect(output).toContain('clients');
  expect(await tablesOf(url.href)).toEqual(held);
  await expectFrozen(onTestFinished, service, env);
});
