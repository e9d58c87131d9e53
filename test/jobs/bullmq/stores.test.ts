import { expect, test } from 'vitest';
import { openPool } from '../../../src/jobs/bullmq/stores.ts';
import { behindPgBouncer } from '../../support/pgbouncer.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';

const SETTINGS = `select current_setting('idle_in_transaction_session_timeout') as idle,
  current_setting('tcp_user_timeout') as unread, current_setting('tcp_keepalives_idle') as alive,
  current_setting('search_path') as path`;

test('a connection of the queue that stands still inside a transaction, or is gone, is ended by the server', async () => {
  const pool = openPool({ url: await freshDatabaseUrl(), max: 1, connectMs: 5_000 }, () => undefined);
  const { rows } = await pool.query(SETTINGS);
  await pool.end();
  expect(rows).toEqual([{ idle: '8s', unread: '10000', alive: '5', path: 'bullmq' }]);
});

test('a transaction pooler refuses the queue, before anything of it stays for the next application', async () => {
  const direct = await freshDatabaseUrl();
  const url = await behindPgBouncer(direct);
  const pool = openPool({ url, max: 1, connectMs: 5_000 }, () => undefined);
  await expect(pool.query('select 1')).rejects.toThrow('unsupported startup parameter: options');
  await pool.end();
  const [theirs, plain] = [await bystander(url), await bystander(direct)];
  expect((await theirs.query(SETTINGS)).rows).toEqual((await plain.query(SETTINGS)).rows);
});
