import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresSession } from '../../../src/db/postgres/session.ts';
import { postgresMirror } from '../../both/support.ts';
import { jsonOf, serveMirror } from '../../http/stage.ts';
import { document, run } from '../../support/command-line.ts';
import { bystander, freshDatabaseUrl, freshRole, sharedPostgres } from '../../support/postgres.ts';

/** A database of another encoding, until the test ends. */
async function databaseIn(encoding: string): Promise<string> {
  const { url: server } = await sharedPostgres();
  const admin = await bystander(server);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(
    `create database ${name} encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
  );
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
  });
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}

describe.each(['LATIN1', 'SQL_ASCII'])('a database in %s', (encoding) => {
  test.each([['migrate'], ['doctor'], ['status']])('is refused by %s in words', async (command) => {
    const service = { BMS_BASE_URL: 'http://127.0.0.1:1', BMS_TOKEN: 'none' };
    const ended = await run([command, '--json'], { ...service, DATABASE_URL: await databaseIn(encoding) });
    expect(ended.code).toBe(1);
    const text = JSON.stringify(document(ended));
    expect(text).toContain(`has the encoding ${encoding}, expected UTF8`);
    expect(text).toContain('mirror.not_utf8');
    expect(text).toContain('createdb --encoding=UTF8');
  });
});

test('a transaction outlasts the transaction_timeout of a database', async () => {
  const url = await freshDatabaseUrl();
  const admin = await bystander(url);
  const { rows } = await admin.query<{ name: string }>(
    "select current_database() as name from pg_settings where name = 'transaction_timeout'",
  );
  expect(rows).toHaveLength(1); // The tests' own server has the setting: 17 or later.
  const database = `alter database ${rows[0]?.name ?? ''}`;
  await admin.query(`${database} set transaction_timeout = '200ms'`);
  await using session = await openPostgresSession(url);
  await admin.query(`${database} reset transaction_timeout`); // What clears up takes longer on a busy machine.
  const done = session.atomically(async (tx) => {
    await tx.query(sql`select pg_sleep(0.5)`);
    return 'landed';
  });
  expect(await done).toBe('landed');
});

test.each([
  ['off', 'on'],
  ['local', 'local'],
  ['remote_apply', 'remote_apply'],
])('where a role commits with %s, our transactions do with %s', async (before, ours) => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  await (await bystander(url)).query(`alter role ${role.name} set synchronous_commit = ${before}`);
  await using session = await openPostgresSession(role.url);
  const shown = session.atomically((tx) => tx.query(sql`show synchronous_commit`));
  expect(await shown).toEqual([{ synchronous_commit: ours }]);
});

test('a file for TLS that is not there is named', async () => {
  const url = new URL(await freshDatabaseUrl());
  url.searchParams.set('sslmode', 'verify-full');
  url.searchParams.set('sslrootcert', '/nowhere/ca.pem');
  await expect(openPostgresSession(url.href)).rejects.toMatchObject({
    code: 'mirror.no_tls',
    message: 'The file /nowhere/ca.pem, which DATABASE_URL names for TLS, is not there.',
  });
});

test('a null character in a search is the fault of who asks, not of the server', async () => {
  const { session } = await postgresMirror('template_two_kinds');
  const { get } = await serveMirror(session);
  const answer = await get('/v1/records/clients?q=a%00b');
  expect([answer.status, await jsonOf(answer)]).toEqual([
    422,
    expect.objectContaining({ code: 'mirror.null_character' }),
  ]);
});
