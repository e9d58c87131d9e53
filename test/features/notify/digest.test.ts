import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { addDigest } from '../../../src/features/notify/digest.ts';
import { addEndpoint } from '../../../src/events/webhooks/endpoints.ts';
import { freeze } from '../../../src/store/outbox/freeze-store.ts';
import { DATABASES, mirrorIn, putChanges } from '../../events/support.ts';

const TIME = { at: '07:00', timezone: 'America/Toronto' };

test.each(DATABASES)(
  'on %s the digest comes once a day at its time, to e-mail alone, and tells what has changed since',
  async (database) => {
    const { session } = await mirrorIn(database);
    const all = { kinds: null, changes: null, fields: null };
    const now = new Date('2026-03-01T12:00:00Z');
    for (const wish of [
      { name: 'anna', url: 'mailto:anna@garage.example', format: 'email' },
      { name: 'room', url: 'http://127.0.0.1/', format: 'slack' },
    ] as const)
      await addEndpoint(session, { ...all, ...wish }, { allowHosts: ['127.0.0.1'], now });
    const change = (kind: string, id: string, what: string) => ({
      kind,
      record_id: id,
      change: what,
      observed_at: '2026-03-01 12:00:00.000',
    });
    await putChanges(session, {
      ...change('clients', '0', 'created'),
      observed_at: '2026-02-27 12:00:00.000',
    });
    await putChanges(session, change('clients', '1', 'created'));
    const at = (instant: string): Promise<void> => addDigest(session, TIME, new Date(instant));
    await at('2026-03-01T11:59:00Z'); // 06:59 in Toronto.
    await at('2026-03-01T20:00:00Z'); // The first start: the digest comes on the same day.
    await putChanges(
      session,
      change('clients', '2', 'created'),
      change('clients', '3', 'restored'),
      change('products', '1', 'updated'),
    );
    await at('2026-03-02T04:59:00Z'); // 23:59 in Toronto.
    await at('2026-03-02T11:59:00Z');
    await session.atomically((tx) => freeze(tx, 'a back-up was restored', now));
    await Promise.all([at('2026-03-02T12:00:00Z'), at('2026-03-02T12:00:01Z')]);
    await at('2026-03-02T23:00:00Z');
    await putChanges(session, change('clients', '1', 'deleted'));
    await at('2026-03-03T14:00:00Z'); // The process did not run at seven.
    const rows = await session.query(sql`
    select e.name, d.body from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id order by d.id`);
    const needs = [{ type: 'outbox.frozen', data: { reason: 'a back-up was restored' } }];
    expect(rows.map(({ name, body }) => ({ name, ...(JSON.parse(String(body)) as object) }))).toMatchObject([
      {
        name: 'anna',
        data: { needs: [], changes: [{ kind: 'clients', created: 1, updated: 0, deleted: 0 }] },
      },
      {
        name: 'anna',
        type: 'digest.daily',
        data: {
          needs,
          changes: [
            { kind: 'clients', created: 2, updated: 0, deleted: 0 },
            { kind: 'products', created: 0, updated: 1, deleted: 0 },
          ],
        },
      },
      { name: 'anna', data: { needs, changes: [{ kind: 'clients', created: 0, updated: 0, deleted: 1 }] } },
    ]);
  },
);
