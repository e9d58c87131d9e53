import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import type { Transaction } from '../../../src/mirror/session/session.ts';
import { removeFromDeliveries } from '../../../src/mirror/webhooks/delivery-store.ts';
import { DATABASES } from '../databases.ts';
import { kindNamed } from '../temp-mirror.ts';

const clients = excludeFields(kindNamed('clients'), ['email']);

/** Deliveries of events, whose body is made when they are sent, and of news with a body. */
const DELIVERIES = sql`
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
  insert into webhook_deliveries (endpoint_id, webhook_id, type, kind, body, response_start)
  select 1, 'msg', 'entry.parked', case when i = 2500 then 'products' else 'clients' end,
    case when i = 1 or i > 1300 then '{"code":"A","email":"a@example.test"}' when i < 1200 then '{"code":"B"}' end,
    'got a@example.test'
  from n`;

describe.each(DATABASES)('%s', (_name, open) => {
  test('excluded fields go out of all deliveries of their kind, in little memory and few statements', async () => {
    const session = await open();
    await session.atomically((tx) => tx.query(DELIVERIES));
    const counts = { most: 0, writes: 0 };
    await session.atomically(async (tx) => {
      const counted: Transaction = {
        ...tx,
        query: async (statement) => {
          const rows = await tx.query(statement);
          counts.most = Math.max(counts.most, rows.length);
          return rows;
        },
        write: (statement) => {
          counts.writes++;
          return tx.write(statement);
        },
      };
      await removeFromDeliveries(counted, clients);
    });

    expect(
      await session.query(sql`
        select kind, body, response_start, cast(count(*) as integer) as n from webhook_deliveries
        group by kind, body, response_start order by n desc`),
    ).toEqual([
      { kind: 'clients', body: '{"code":"A"}', response_start: null, n: 1200 },
      { kind: 'clients', body: '{"code":"B"}', response_start: null, n: 1198 },
      { kind: 'clients', body: null, response_start: null, n: 101 },
      {
        ...{ kind: 'products', body: '{"code":"A","email":"a@example.test"}' },
        ...{ response_start: 'got a@example.test', n: 1 },
      },
    ]);
    expect(counts).toEqual({ most: 1_000, writes: 1_201 });
  });
});
