import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { switchEndpoint, replayEvents } from '../../../src/events/webhooks/endpoint-activity.ts';
import { rotateSecret } from '../../../src/events/webhooks/endpoints.ts';
import { KEEP_ALL } from '../../support/retention.ts';
import { endpointTables } from '../../../src/events/webhooks/delivery-queue.ts';
import { DATABASES, ONE_DATABASE } from '../support.ts';
import { startReceiver, verified } from './receiver.ts';
import { deliveryStage } from './stage.ts';

const seqsOf = (requests: readonly { readonly body: string }[]): number[] =>
  requests.map(({ body }) => (JSON.parse(body) as { data: { seq: number } }).data.seq);

describe.each(DATABASES)('deliveries on %s', (database) => {
  test('are signed, and hold the event with numbers as received', async () => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver();
    const { secret } = await on.add({ url: receiver.url });
    await on.put({
      record_id: '7',
      before: '{"id":7,"total":10.10}',
      after: '{"id":7,"total":10.20,"big":12345678901234567890}',
      fields: '{"total":[10.10,10.20]}',
    });
    await on.deliver();
    const [request] = receiver.requests;
    if (request === undefined) throw new Error('no request');
    expect(verified(request, secret)).toMatchObject({ type: 'clients.updated', data: { recordId: '7' } });
    expect(request.body).toBe(
      '{"type":"clients.updated","timestamp":"2026-03-01T12:00:00.000Z","data":{"seq":1,"kind":"clients",' +
        '"recordId":"7","change":"updated","before":{"id":7,"total":10.10},' +
        '"after":{"id":7,"total":10.20,"big":12345678901234567890},"fields":{"total":[10.10,10.20]},' +
        '"origin":"service","observedAt":"2026-03-01T12:00:00.000Z"}}',
    );
    expect(await on.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1, status: 204 }]);
    await on.deliver();
    expect(receiver.requests).toHaveLength(1);
  });

  test('come to what the first attempt that failed came to', async () => {
    const on = await deliveryStage(database);
    let status = 200;
    const receiver = await startReceiver(() => ({ status }));
    await on.add({ url: receiver.url });
    const worked: unknown[] = [];
    for (status of [200, 429, 503]) {
      await on.put({ record_id: String(status) });
      on.pass(600_000);
      const [ref] = await on.queue.due(1);
      worked.push(ref?.task, ref && (await on.queue.work(ref, new AbortController().signal)));
    }
    expect(worked).toEqual([
      'deliver erp',
      { state: 'delivered', verdict: 'status_200', hasFailed: false },
      'deliver erp',
      { state: 'undelivered', verdict: 'status_429', hasFailed: false },
      'deliver erp',
      { state: 'undelivered', verdict: 'status_503', hasFailed: true },
    ]);
  });

  test('keep the order of a record, while other records go on', async () => {
    const on = await deliveryStage(database);
    let isUp = false;
    const receiver = await startReceiver(({ body }) =>
      body.includes('"recordId":"1"') && !isUp ? { status: 500, body: 'no' } : { status: 200 },
    );
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' }, { record_id: '1' }, { record_id: '2' }, { record_id: '1' });
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([3]);
    expect(receiver.requests).toHaveLength(2);
    isUp = true;
    on.pass(5_000);
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([3, 1, 2, 4]);
    const [failed] = receiver.requests.filter(({ body }) => seqsOf([{ body }])[0] === 1);
    expect(receiver.taken.some(({ id }) => id === failed?.id)).toBe(true);
  });

  test('the endpoints of a dead process are taken over, and what it sent is sent again', async () => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver();
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    await on.session.atomically((tx) =>
      tx.query(sql`update webhook_endpoints set owner = 'dead', epoch = 7`),
    );
    expect(await on.queue.due(10)).toEqual([]);
    await on.queue.releaseStaleClaims(() => false);
    await on.deliver();
    expect(receiver.taken).toHaveLength(1);
  });
});

describe.each(ONE_DATABASE)('deliveries on %s', (database) => {
  test('go to each endpoint by its filter, and begin with the events after it was added', async () => {
    const on = await deliveryStage(database);
    const [all, few, rooms] = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    await on.put({ record_id: '1' });
    await on.add({ name: 'all', url: all.url });
    await on.add({ name: 'few', url: few.url, kinds: ['clients'], changes: ['updated'], fields: ['nom'] });
    await on.add({ name: 'room', url: rooms.url, format: 'slack' });
    await on.put(
      { record_id: '2', fields: '{"nom":["a","b"]}' },
      { record_id: '3', fields: '{"code":["a","b"]}' },
      { record_id: '4', change: 'created' },
      { kind: 'projects', record_id: '5', fields: '{"nom":["a","b"]}' },
    );
    await on.deliver();
    expect(seqsOf(all.requests).toSorted()).toEqual([2, 3, 4, 5]);
    expect(seqsOf(few.requests)).toEqual([2]);
    expect(rooms.requests).toEqual([]);
  });

  test('are tried by the schedule, then given up, and then the next event of the record goes', async () => {
    const on = await deliveryStage(database, { retrySeconds: [5, 300] });
    const receiver = await startReceiver(({ body }) => ({
      status: body.includes('"seq":1,') ? 503 : 200,
      body: 'x'.repeat(3_000),
    }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' }, { record_id: '1' });
    const tries: number[] = [];
    for (const ms of [0, 4_900, 100, 299_900, 100, 600_000]) {
      on.pass(ms);
      await on.deliver();
      tries.push(receiver.requests.length);
    }
    expect(tries).toEqual([1, 1, 2, 2, 4, 4]);
    expect(await on.deliveries()).toMatchObject([
      { state: 'failed', attempts: 3, status: 503, response_start: 'x'.repeat(1_024) },
      { state: 'delivered', attempts: 1 },
    ]);
  });

  test.each([false, true])(
    'an endpoint that fails is told, and told to be back, also where a person enabled it: %s',
    async (isEnabled) => {
      const on = await deliveryStage(database, { retrySeconds: [5, 5] });
      let status = 500;
      const receiver = await startReceiver(() => ({ status }));
      await on.add({ url: receiver.url });
      await on.put({ record_id: '1' });
      await on.deliver();
      on.pass(5_000);
      await on.deliver();
      if (isEnabled) await switchEndpoint(on.session, 'erp', 'active', on.now());
      status = 200;
      on.pass(5_000);
      await on.deliver();
      const outcomes = on.log.lines.filter(({ event }) => event !== undefined);
      expect(outcomes).toMatchObject([
        { event: 'webhook.failing', endpoint: 'erp', failures: 2, status: 500 },
        { event: 'webhook.back', endpoint: 'erp' },
      ]);
      expect(JSON.stringify(on.log.lines)).not.toContain(receiver.url);
    },
  );

  test('410 disables an endpoint; a replay activates it, and sends all again under the same ids', async () => {
    const on = await deliveryStage(database);
    let status = 200;
    const receiver = await startReceiver(() => ({ status }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' }, { record_id: '2' });
    await on.deliver();
    status = 410;
    await on.put({ record_id: '3' });
    await on.deliver();
    await on.put({ record_id: '4' });
    on.pass(86_400_000);
    await on.deliver();
    expect(receiver.requests).toHaveLength(3);
    expect(on.log.lines).toMatchObject([{ event: 'webhook.disabled', reason: 'gone' }]);
    status = 200;
    await replayEvents(on.session, 'erp', 1, on.now());
    await on.deliver();
    expect(on.log.lines.at(-1)).toMatchObject({ event: 'webhook.back', endpoint: 'erp' });
    expect(seqsOf(receiver.taken).toSorted()).toEqual([1, 2, 2, 3, 4]);
    const ids = receiver.requests.map(({ id, body }) => `${id} ${seqsOf([{ body }])[0] ?? ''}`);
    expect(new Set(ids).size).toBe(4);
  });

  test('days of failure disable an endpoint', async () => {
    const on = await deliveryStage(database, { retrySeconds: [86_400, 86_400, 86_400, 86_400, 86_400] });
    const receiver = await startReceiver(() => ({ status: 500 }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    for (let day = 0; day < 7; day += 1) {
      await on.deliver();
      on.pass(86_400_000);
    }
    expect(receiver.requests).toHaveLength(6);
    expect(on.log.lines.map(({ event }) => event)).toEqual(['webhook.failing', 'webhook.disabled']);
  });

  test('a receiver that asks for a pause gets it', async () => {
    const on = await deliveryStage(database, { retrySeconds: [1, 1, 1] });
    let status = 429;
    const receiver = await startReceiver(() => ({ status, headers: { 'retry-after': '60' } }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    await on.deliver();
    await on.put({ record_id: '2' });
    on.pass(50_000);
    await on.deliver();
    expect(receiver.requests).toHaveLength(1);
    status = 204;
    on.pass(10_000);
    await on.deliver();
    expect(receiver.taken).toHaveLength(2);
  });

  test('redirects are not followed', async () => {
    const on = await deliveryStage(database);
    const target = await startReceiver();
    const receiver = await startReceiver(() => ({ status: 307, headers: { location: target.url } }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    await on.deliver();
    expect(target.requests).toEqual([]);
    expect(await on.deliveries()).toMatchObject([{ state: 'ready', attempts: 1, status: 307 }]);
  });

  test('a rotated secret signs beside the new one for a day', async () => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver();
    const before = await on.add({ url: receiver.url });
    const after = await rotateSecret(on.session, 'erp', on.now());
    await on.put({ record_id: '1' });
    await on.deliver();
    const [first] = receiver.requests;
    if (first === undefined) throw new Error('no request');
    for (const { secret } of [before, after]) expect(verified(first, secret)).toBeDefined();
    on.pass(86_500_000);
    await on.put({ record_id: '2' });
    await on.deliver();
    const last = receiver.requests.at(-1);
    expect(last?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  test('a slow endpoint, or one that cannot be reached, delays no other', async () => {
    const on = await deliveryStage(database, { attemptMs: 30_000 });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await startReceiver(async () => {
      await held;
      return { status: 204 };
    });
    const quick = await startReceiver();
    await on.add({ name: 'slow', url: slow.url });
    await on.add({ name: 'dead', url: 'http://127.0.0.1:9/' });
    await on.add({ name: 'quick', url: quick.url });
    await on.put(...Array.from({ length: 40 }, (_, id) => ({ record_id: String(id + 1) })));
    const delivered = on.deliver();
    await quick.took(40);
    expect(slow.taken).toEqual([]);
    release();
    await delivered;
    expect(slow.taken).toHaveLength(40);
  });

  test('an event that was erased is dropped, and the next one of its record goes', async () => {
    const on = await deliveryStage(database);
    let status = 500;
    const receiver = await startReceiver(() => ({ status }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' }, { record_id: '1' });
    await on.deliver();
    await on.session.atomically((tx) => tx.query(sql`delete from changes where seq = 1`));
    status = 200;
    on.pass(5_000);
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([2]);
    expect(await on.deliveries()).toMatchObject([{ state: 'dropped' }, { state: 'delivered' }]);
  });

  test('what waits for a disabled endpoint outlasts the log of deliveries, and goes in order', async () => {
    const on = await deliveryStage(database);
    let isUp = false;
    const receiver = await startReceiver(() => ({ status: isUp ? 204 : 500 }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    await on.deliver();
    on.pass(1_000);
    await on.put({ record_id: '1' });
    await on.deliver();
    await switchEndpoint(on.session, 'erp', 'disabled', on.now());
    on.pass(40 * 86_400_000);
    await on.session.atomically((tx) =>
      endpointTables.prune(tx, { ...KEEP_ALL, deliveriesDays: 30 }, on.now()),
    );
    isUp = true;
    await switchEndpoint(on.session, 'erp', 'active', on.now());
    await on.deliver();
    expect(seqsOf(receiver.taken)).toEqual([1, 2]);
  });

  test('a delivery that is removed while it is sent stays away', async () => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver(async () => {
      await on.session.atomically((tx) => tx.query(sql`delete from webhook_deliveries where seq = 1`));
      return { status: 204 };
    });
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' }, { record_id: '2' });
    await on.deliver();
    expect(receiver.taken).toHaveLength(2);
    expect(await on.deliveries()).toMatchObject([{ seq: 2, state: 'delivered' }]);
  });
});
