import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Queryable, Session } from '../../../src/mirror/session/session.ts';
import { listEndpoints } from '../../../src/mirror/webhooks/endpoint-store.ts';
import { DATABASES } from '../databases.ts';
import { tempMirror } from '../temp-mirror.ts';

async function fill(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into webhook_endpoints (id, name, public_id, url, cursor)
      values (1, 'shop', 'a', 'http://a.test', 0), (2, 'erp', 'b', 'http://b.test', 0)`);
    await tx.query(sql`
      insert into webhook_deliveries (endpoint_id, webhook_id, type, state, created_at) values
      (1, 'm1', 'clients.updated', 'delivered', '2026-03-01 08:00:00.000'),
      (1, 'm2', 'clients.updated', 'waiting', '2026-03-01 10:00:00.000'),
      (1, 'm3', 'clients.updated', 'ready', '2026-03-01 09:00:00.000'),
      (2, 'm4', 'clients.updated', 'failed', '2026-03-01 09:00:00.000')`);
  });
}

describe.each(DATABASES)('%s', (_name, open) => {
  test('endpoints are listed with the number and the age of what they have not taken', async () => {
    const session = await open();
    await fill(session);
    expect(await listEndpoints(session)).toMatchObject([
      { name: 'erp', pending: 0, pendingSince: null },
      { name: 'shop', pending: 2, pendingSince: '2026-03-01 09:00:00.000' },
    ]);
  });
});

test('the list of endpoints does not read settled deliveries', async () => {
  const session = await tempMirror();
  await fill(session);
  const plans: unknown[] = [];
  const explained: Queryable = {
    query: async (statement) => {
      plans.push(...(await session.query(sql`explain query plan ${statement}`)).map((row) => row['detail']));
      return session.query(statement);
    },
  };
  await listEndpoints(explained);
  const ofDeliveries = plans.filter((plan) => String(plan).includes('webhook_deliveries'));
  const searched = expect.stringMatching(/^SEARCH .*\(endpoint_id=\? AND state=\?\)$/) as string;
  expect(ofDeliveries).toEqual([searched, searched]);
});
