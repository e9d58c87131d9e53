import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { testEndpoint } from '../../../src/events/webhooks/test-event.ts';
import { parseInstant, systemClock, type Clock } from '../../../src/lib/time/clock.ts';
import { listEndpoints } from '../../../src/events/webhooks/endpoint-store.ts';
import { saveHeartbeat } from '../../../src/store/runs/worker-store.ts';
import { ONE_DATABASE, mirrorIn } from '../support.ts';
import { document, run } from '../../support/command-line.ts';
import { start } from '../../support/program.ts';
import { ALLOWED, SENDING, deliveryStage } from './stage.ts';
import { startReceiver } from './receiver.ts';

interface Tested {
  readonly byService: boolean;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

test.for(ONE_DATABASE)(
  'a test event on %s is sent by the background service, by its settings; by the command where none runs',
  async (database, { onTestFinished }) => {
    const { url, session } = await mirrorIn(database);
    const receiver = await startReceiver();
    const here = { DATABASE_URL: url };
    const inside = { ...here, BMS__WEBHOOKS__ALLOW_HOSTS: JSON.stringify(ALLOWED) };
    await run(['webhooks', 'add', receiver.url, '--name', 'erp'], inside);
    const tested = async (): Promise<Tested> =>
      document(await run(['webhooks', 'test', 'erp', '--json'], here)) as Tested;

    expect(await tested()).toMatchObject({ byService: false, delivered: false, error: 'address_refused' });
    expect((await run(['webhooks', 'test', 'erp'], here)).stdout).toContain('This command sent it');

    const source = { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: 'token-of-no-service' };
    const serving = start(['serve', '--only', 'webhooks'], { env: { ...inside, ...source } });
    onTestFinished(() => void serving.child.kill('SIGKILL'));
    const workers = () => session.query(sql`select owner from workers`);
    await expect.poll(workers).toHaveLength(1);

    expect(await tested()).toMatchObject({ byService: true, delivered: true, status: 204, error: null });
    expect(receiver.taken).toHaveLength(1);
    const log = await session.query(sql`select state, attempts from webhook_deliveries order by id`);
    const failed = { state: 'failed', attempts: 1 };
    expect(log).toEqual([failed, failed, { state: 'delivered', attempts: 1 }]);

    await session.atomically((tx) => tx.query(sql`update webhook_endpoints set state = 'disabled'`)); // It can be tested all the same.
    const disabled = { state: 'disabled', byService: false, error: 'address_refused' };
    expect(await tested()).toMatchObject(disabled);
    expect((await run(['webhooks', 'test', 'erp'], here)).stdout).toMatch(
      /: the endpoint is disabled\. To send it what waits: bms-sync webhooks enable erp\n$/,
    );
  },
);

test.for(ONE_DATABASE)(
  'a test event on %s is a delivery that is tried once and says nothing of the others',
  async (database) => {
    const on = await deliveryStage(database);
    const receiver = await startReceiver(() => ({ status: 503, body: 'down' }));
    await on.add({ url: receiver.url });
    await saveHeartbeat(on.session, { owner: 'other', roles: ['webhooks'] });
    let ranMs = 0;
    const clock: Clock = {
      now: on.now,
      monotonicMs: () => ranMs,
      sleep: (ms) => Promise.resolve(void (ranMs += ms)),
    };
    const parts = { session: on.session, clock, signal: new AbortController().signal };
    const unsent = { byService: true, delivered: false, status: null, error: 'not_sent_yet' };
    expect(await testEndpoint(parts, SENDING, 'erp')).toMatchObject(unsent);
    await on.deliver();
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

  const parts = { session: on.session, clock: { ...systemClock, now: on.now } };
  const tested = () => testEndpoint({ ...parts, signal: new AbortController().signal }, SENDING, 'erp');
  expect(await tested()).toMatchObject({ delivered: false, status: 503 });
  await on.deliver();
  expect(receiver.taken).toHaveLength(0);

  answer = { status: 204 };
  expect(await tested()).toMatchObject({ delivered: true, status: 204 });
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
    await saveHeartbeat(on.session, { owner: 'other', roles: ['webhooks'] });
    let ranMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      ranMs += ms;
      await on.deliver();
    };
    const clock: Clock = { now: on.now, monotonicMs: () => ranMs, sleep };
    const parts = { session: on.session, clock, signal: new AbortController().signal };
    expect(await testEndpoint(parts, SENDING, 'erp')).toMatchObject({ byService: true, status: 429 });
    const types = () => receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types()).toEqual(['clients.updated', 'webhook.test']);
    on.pass(300_000);
    await on.deliver();
    expect(types()).toEqual(['clients.updated', 'webhook.test', 'clients.updated', 'clients.updated']);
  },
);
