import { describe, expect, test } from 'vitest';
import { switchEndpoint, replayEvents } from '../../../src/events/webhooks/endpoint-activity.ts';
import { scheduleDeliveries } from '../../../src/events/webhooks/schedule-deliveries.ts';
import { listEndpoints } from '../../../src/events/webhooks/endpoint-store.ts';
import { ONE_DATABASE } from '../support.ts';
import { deliveryStage, type DeliveryStage } from './stage.ts';

const eventOf = (seq: number, [kind, recordId]: readonly [string, string]) => {
  return { seq, kind, recordId, change: 'updated' as const, observedAt: '2026-03-01 12:00:00.000' };
};

test('an event has its own id at each endpoint, the same at every planning, and another if a restored mirror reuses its seq', () => {
  const plan = (publicId: string, observedAt = '2026-03-01 12:00:00.000'): string | undefined =>
    scheduleDeliveries([{ ...eventOf(7, ['clients', '1']), observedAt }], publicId, new Set())[0]?.webhookId;
  expect(plan('a')).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(plan('a')).toBe(plan('a'));
  expect(new Set([plan('a'), plan('b'), plan('a', '2026-03-01 12:00:00.001')]).size).toBe(3);
});

const countWaiting = async ({ session }: DeliveryStage) => (await listEndpoints(session))[0]?.pending;

const RECEIVER = 'https://192.0.43.8/in';

describe.each(ONE_DATABASE)('an endpoint on %s', (database) => {
  test.each([
    [{ kinds: ['products'] }, 'updated', '{"a":[1,2]}', 0],
    [{ kinds: ['clients'] }, 'updated', '{"a":[1,2]}', 1],
    [{ changes: ['created', 'deleted'] }, 'updated', '{"a":[1,2]}', 0],
    [{ changes: ['created', 'deleted'] }, 'deleted', '{}', 1],
    [{ fields: ['a', 'c'] }, 'updated', '{"a":[1,null]}', 1],
    [{ fields: ['a'] }, 'updated', '{"b":[{"a":1},"\\u0000"]}', 0],
    [{ fields: ['toString'] }, 'updated', '{"b":[1,2]}', 0],
    [{ fields: ['a'] }, 'created', '{}', 1],
    [{ fields: [] }, 'updated', '{"b":[1,2]}', 0],
    [{ kinds: [] }, 'created', '{}', 0],
    [{ format: 'slack' }, 'created', '{}', 0],
  ] as const)(
    'with the filter %j counts %s of %s as waiting while it is disabled, and is sent it later: %i',
    async (wish, change, fields, expected) => {
      const on = await deliveryStage(database);
      await on.add({ url: RECEIVER, ...wish });
      await switchEndpoint(on.session, 'erp', 'disabled', on.now());
      await on.put({ record_id: '1', change, fields });
      expect(await countWaiting(on)).toBe(expected);
      await switchEndpoint(on.session, 'erp', 'active', on.now());
      await on.deliver();
      expect(await on.deliveries()).toHaveLength(expected);
    },
  );

  test('counts what waits while it is disabled: deliveries, and later events from the oldest on', async () => {
    const on = await deliveryStage(database);
    await on.add({ url: RECEIVER });
    await on.put({ record_id: '1' }, { record_id: '2' });
    expect(await countWaiting(on)).toBe(2);
    await on.deliver(); // The receiver cannot be reached.
    await switchEndpoint(on.session, 'erp', 'disabled', on.now());
    await on.put({ record_id: '3' }, { record_id: '4' });
    expect(await countWaiting(on)).toBe(4);
    await replayEvents(on.session, 'erp', 1, on.now());
    expect(await countWaiting(on)).toBe(4); // One is kept, three are scheduled again.
  });
});
