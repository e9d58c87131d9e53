import { expect, test } from 'vitest';
import { openPool } from '../../../src/jobs/bullmq/stores.ts';
import { freshDatabaseUrl } from '../../support/postgres.ts';

test('a connection of the queue that stands still inside a transaction, or is gone, is ended by the server', async () => {
  const pool = openPool({ url: await freshDatabaseUrl(), max: 1, connectMs: 5_000 }, () => undefined);
  const { rows } = await pool.query(`select current_setting('idle_in_transaction_session_timeout') as idle,
    current_setting('tcp_user_timeout') as unread, current_setting('tcp_keepalives_idle') as alive,
    current_setting('search_path') as path`);
  await pool.end();
  expect(rows).toEqual([{ idle: '8s', unread: '10000', alive: '5', path: 'bullmq' }]);
});
