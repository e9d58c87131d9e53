import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { switchEndpoint, replayEvents } from '../../../src/events/webhooks/endpoint-activity.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import { addNotification } from '../../../src/store/notifications/notifications.ts';
import { ONE_DATABASE } from '../support.ts';
import { startReceiver } from './receiver.ts';
import { deliveryStage, type DeliveryStage } from './stage.ts';

const seqsOf = (requests: readonly { readonly body: string }[]): number[] =>
  requests.map(({ body }) => (JSON.parse(body) as { data: { seq: number } }).data.seq);

/** Commits updates of these records, one after the other, a little before now. */
async function commit(on: DeliveryStage, ...ids: readonly string[]): Promise<void> {
  await on.put(...ids.map((record_id) => ({ record_id, observed_at: formatInstant(on.now()) })));
  on.pass(10);
}

describe.each(ONE_DATABASE)('decisions on an endpoint on %s', (database) => {
  test('a disabled endpoint is sent nothing; enabled, it goes on where it stopped, without the wait for a retry', async () => {
    const on = await deliveryStage(database, { retrySeconds: [86_400] });
    let status = 500;
    const receiver = await startReceiver(() => ({ status }));
    await on.add({ url: receiver.url });
    await commit(on, '1', '1', '2');
    await on.deliver();
    expect(seqsOf(receiver.requests).toSorted()).toEqual([1, 3]);
    const now = on.now();
    expect(await switchEndpoint(on.session, 'erp', 'disabled', now)).toEqual({
      name: 'erp',
      state: 'disabled',
    });
    await commit(on, '3');
    const facts = { reason: 'a page' };
    await on.session.atomically((tx) => addNotification(tx, { type: 'mirror.damaged', facts, now }));
    on.pass(90_000_000);
    await on.deliver();
    expect(receiver.requests).toHaveLength(2);
    status = 204;
    on.pass(-90_000_000); // The retry is not due yet.
    expect(await switchEndpoint(on.session, 'erp', 'active', now)).toEqual({ name: 'erp', state: 'active' });
    await on.deliver();
    const notified = receiver.taken.findIndex(({ body }) => body.includes('"mirror.damaged"'));
    expect(notified).toBeGreaterThanOrEqual(0);
    expect(seqsOf(receiver.taken.toSpliced(notified, 1)).toSorted()).toEqual([1, 2, 3, 4]);
  });
});

describe.each(ONE_DATABASE)('decisions on an endpoint on %s', (database) => {
  test('a replay from the last success sends what was given up since, and nothing from before', async () => {
    const on = await deliveryStage(database, { retrySeconds: [5] });
    let isUp = true;
    const receiver = await startReceiver(() => ({ status: isUp ? 204 : 500 }));
    await on.add({ url: receiver.url });
    await commit(on, '1', '2');
    await on.deliver();
    isUp = false;
    on.pass(1_000);
    await commit(on, '3', '4');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await on.deliver();
      on.pass(5_000);
    }
    isUp = true;
    expect(await replayEvents(on.session, 'erp', null, on.now())).toEqual({
      name: 'erp',
      after: 2,
      events: 2,
    });
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([1, 2, 3, 4]);
  });

  test('it loses no event whose delivery was removed meanwhile', async () => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver();
    await on.add({ url: receiver.url });
    await commit(on, '1');
    await on.deliver();
    on.pass(1_000);
    await commit(on, '2', '3');
    await on.session.atomically(async (tx) => {
      await tx.query(sql`update webhook_endpoints set state = 'disabled', cursor = 3`);
      await tx.query(sql`delete from webhook_deliveries`);
    });
    expect(await replayEvents(on.session, 'erp', null, on.now())).toMatchObject({
      after: 1,
    });
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([1, 2, 3]);
  });
});
