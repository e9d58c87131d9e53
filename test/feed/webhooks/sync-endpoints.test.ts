import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { syncEndpoints } from '../../../src/feed/webhooks/sync-endpoints.ts';
import type { SetEndpoint } from '../../../src/feed/webhooks/sync-endpoints.ts';
import { findEndpoint } from '../../../src/mirror/webhooks/endpoint-store.ts';
import { NOON } from '../../mirror/temp-mirror.ts';
import { DATABASES, mirrorIn, putChanges } from '../support.ts';

const ERP: SetEndpoint = {
  ...{ name: 'erp', url: 'https://erp.example/in', format: 'json', secrets: [] },
  ...{ kinds: ['clients'], changes: null, fields: null },
};
const event = { record_id: '1', change: 'updated', observed_at: '2026-03-01 12:00:00.000' };

describe.each(DATABASES)('endpoints of the settings on %s', (database) => {
  test('come into the table, change with the settings, and keep their place in the events', async () => {
    const { session } = await mirrorIn(database);
    await putChanges(session, event);
    await syncEndpoints(session, [ERP], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({
      ...{ url: ERP.url, kinds: ['clients'], source: 'settings', state: 'active', cursor: 1 },
    });
    await putChanges(session, event);
    await syncEndpoints(session, [{ ...ERP, kinds: null, changes: ['deleted'] }], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({
      kinds: null,
      changes: ['deleted'],
      cursor: 1,
    });
  });

  test('that are no longer named are disabled, and go on where they stopped once they are named again', async () => {
    const { session } = await mirrorIn(database);
    await syncEndpoints(session, [ERP], NOON);
    await syncEndpoints(session, [], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({
      ...{ state: 'disabled', disabledReason: 'not_in_settings', cursor: 0 },
    });
    await putChanges(session, event);
    await syncEndpoints(session, [ERP], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({
      ...{ state: 'active', disabledReason: null, cursor: 0 },
    });
  });

  test('that a person or days of failure have disabled stay so, unless their address is another one', async () => {
    const { session } = await mirrorIn(database);
    await syncEndpoints(session, [ERP], NOON);
    await session.atomically((tx) =>
      tx.query(
        sql`update webhook_endpoints set state = 'disabled', disabled_reason = 'failing', failures = 9`,
      ),
    );
    await syncEndpoints(session, [ERP], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({ state: 'disabled', failures: 9 });
    await syncEndpoints(session, [{ ...ERP, url: 'https://erp2.example/in' }], NOON);
    expect(await findEndpoint(session, 'erp')).toMatchObject({ state: 'active', failures: 0 });
  });

  test('sign by the secrets of the settings, which are not stored, or by one of their own', async () => {
    const { session } = await mirrorIn(database);
    const own = { ...ERP, name: 'own' };
    const given = { ...ERP, secrets: ['whsec_c2VjcmV0IG9mIHRoZSBzZXR0aW5ncw=='] };
    for (let start = 0; start < 2; start += 1) await syncEndpoints(session, [given, own], NOON);
    const stored = await session.query(sql`
      select e.name, s.secret from webhook_secrets s join webhook_endpoints e on e.id = s.endpoint_id`);
    expect(stored).toEqual([{ name: 'own', secret: expect.stringMatching(/^whsec_/) as string }]);
  });
});
