import { expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { addEndpoint } from '../../../src/events/webhooks/endpoints.ts';
import { addNotification, entryNotification } from '../../../src/store/notifications/notifications.ts';
import { readEntries } from '../../../src/store/outbox/outbox-store.ts';
import { mirrorIn } from '../../events/support.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

test('entries to which a restored mirror gives one number have each a notification of their own', async () => {
  const { session } = await mirrorIn('SQLite');
  const shop = { name: 'shop', url: 'http://127.0.0.1/', kinds: null, fields: null, format: 'json' } as const;
  await addEndpoint(session, { ...shop, changes: ['entry.done'] }, { allowHosts: ['127.0.0.1'], now: NOW });
  const finish = async (createdAt: string) => {
    await session.atomically(async (tx) => {
      await tx.query(sql`delete from outbox`);
      await tx.query(sql`
        insert into outbox (id, idempotency_key, kind, operation, payload, state, created_at)
        values (24, ${createdAt}, 'clients', 'create', '{}', 'done', ${createdAt})`);
      for (const entry of await readEntries(tx, sql`select * from outbox`))
        await addNotification(tx, entryNotification('done', entry, NOW));
    });
  };
  await finish('2026-03-01 11:00:00.000');
  await finish('2026-03-01 11:00:00.000');
  await finish('2026-03-01 11:30:00.000');
  const sent = await session.query(sql`select distinct webhook_id from webhook_deliveries`);
  expect(sent).toHaveLength(2);
});
