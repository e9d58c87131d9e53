import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { testEndpoint } from '../../../src/events/webhooks/test-event.ts';
import { parseInstant, systemClock } from '../../../src/lib/time/clock.ts';
import { listEndpoints } from '../../../src/events/webhooks/endpoint-store.ts';
import { ONE_DATABASE, mirrorIn } from '../support.ts';
import { document, run } from '../../support/command-line.ts';
import { ALLOWED, SENDING, deliveryStage } from './stage.ts';
import { startReceiver } from './receiver.ts';

const testedOn = ({ session, now }: Awaited<ReturnType<typeof deliveryStage>>) =>
  testEndpoint(
    { session, clock: { ...systemClock, now }, signal: new AbortController().signal },
    SENDING,
    'erp',
  );

test.for(ONE_DATABASE)('a test event on %s is sent by the command, by its own settings', async (database) => {
  const { url, session } = await mirrorIn(database);
  const receiver = await startReceiver();
  const here = { DATABASE_URL: url };
  const inside = { ...here, BMS__WEBHOOKS__ALLOW_HOSTS: JSON.stringify(ALLOWED) };
  await run(['webhooks', 'add', receiver.url, '--name', 'erp'], inside);
  const tested = async (env: typeof here): Promise<unknown> =>
    document(await run(['webhooks', 'test', 'erp', '--json'], env));

  expect(await tested(here)).toMatchObject({ delivered: false, error: 'address_refused' });
  expect((await run(['webhooks', 'test', 'erp'], here)).stdout).toContain('This command sent it');
  expect(await tested(inside)).toMatchObject({ delivered: true, status: 204, error: null });
  expect(receiver.taken).toHaveLength(1);
  const log = await session.query(sql`select state, attempts from webhook_deliveries order by id`);
  const failed = { state: 'failed', attempts: 1 };
  expect(log).toEqual([failed, failed, { state: 'delivered', attempts: 1 }]);

  await session.atomically((tx) => tx.query(sql`update webhook_endpoints set state = 'disabled'`)); // It can be tested all the same.
  expect(await tested(here)).toMatchObject({ state: 'disabled', error: 'address_refused' });
  expect((await run(['webhooks', 'test', 'erp'], here)).stdout).toMatch(
    /The endpoint is disabled\. To send it what waits: bms-sync webhooks enable erp\n$/,
  );
});

test.for(ONE_DATABASE)(
  'a test event on %s is a delivery that is tried once and says nothing of the others',
  async (database) => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver(() => ({ status: 503, body: 'down' }));
    await on.add({ url: receiver.url });
    expect(await testedOn(on)).toMatchObject({ delivered: false, status: 503 });
    on.pass(86_400_000);
    await on.deliver();
    expect(receiver.requests).toHaveLength(1);
    expect(await on.deliveries()).toMatchObject([{ state: 'failed', attempts: 1, status: 503 }]);
    const health = sql`select state, failures, failing_since from webhook_endpoints`;
    expect(await on.session.query(health)).toEqual([{ state: 'active', failures: 0, failing_since: null }]);
  },
);

test.for(ONE_DATABASE)('a test event on %s that is accepted sends what waits at once', async (database) => {
  const on = await deliveryStage(database, { retrySeconds: [86_400] });
  let answer = { status: 503 };
  const receiver = await startReceiver(() => answer);
  await on.add({ url: receiver.url });
  await on.put({ record_id: '1' }, { record_id: '2' });
  await on.deliver();
  const nextAttempt = async () => (await listEndpoints(on.session))[0]?.nextAttemptAt ?? null;
  expect(parseInstant((await nextAttempt()) ?? '').getTime()).toBe(on.now().getTime() + 86_400_000);

  expect(await testedOn(on)).toMatchObject({ delivered: false, status: 503 });
  await on.deliver();
  expect(receiver.taken).toHaveLength(0);

  answer = { status: 204 };
  expect(await testedOn(on)).toMatchObject({ delivered: true, status: 204 });
  await on.deliver();
  expect(receiver.taken).toHaveLength(3);
  expect(await nextAttempt()).toBeNull();
});

test.for(ONE_DATABASE)(
  'a test event on %s is sent in a pause that the receiver has asked for, and nothing else',
  async (database) => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '600' } }));
    await on.add({ url: receiver.url });
    await on.put({ record_id: '1' });
    await on.deliver();
    await on.put({ record_id: '2' });
    on.pass(300_000);
    expect(await testedOn(on)).toMatchObject({ status: 429 });
    const types = () => receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types()).toEqual(['clients.updated', 'webhook.test']);
    on.pass(300_000);
    await on.deliver();
    expect(types()).toEqual(['clients.updated', 'webhook.test', 'clients.updated', 'clients.updated']);
  },
);
