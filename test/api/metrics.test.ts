import { expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { openAttempt } from '../../src/store/outbox/attempts-and-links.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { NOON, NOON_TEXT, kindNamed, later, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { packageVersion } from '../../src/lib/package-folder.ts';
import { serveMirror, type Stage } from '../http/stage.ts';

const mirror = () => tempMirror([kindNamed('clients'), kindNamed('products')]);

const linesOf = async ({ get }: Stage): Promise<readonly string[]> =>
  (await (await get('/metrics')).text()).split('\n');

test('the mirror is told as it is when it is asked', async () => {
  const session = await mirror();
  const stage = await serveMirror(session);
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '1' }, { id: '2' }, { id: '3', _deleted_at: NOON_TEXT }]);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, last_sweep_at, certified_at, epoch)
      values ('clients', 0, 'certified', 1, ${NOON_TEXT}, ${NOON_TEXT}, 1)`);
    await saveBlock(tx, { kind: 'clients', reason: 'forbidden', now: NOON, probeAt: NOON });
    await freeze(tx, 'restored', NOON);
  });
  expect(await linesOf(stage)).toEqual(
    expect.arrayContaining([
      'bms_sync_rows{kind="clients"} 2',
      'bms_sync_rows{kind="products"} 0',
      'bms_sync_last_sweep_timestamp_seconds{kind="clients"} 1772366400',
      'bms_sync_certified_timestamp_seconds{kind="clients"} 1772366400',
      'bms_sync_open_issues{kind="clients"} 0',
      'bms_sync_held_deletions{kind="clients"} 0',
      'bms_sync_outbox_entries{state="parked"} 0',
      'bms_sync_outbox_oldest_unsettled_age_seconds 0',
      'bms_sync_write_blocked{kind="clients"} 1',
      'bms_sync_write_blocked{kind="products"} 0',
      'bms_sync_frozen 1',
      'bms_sync_last_change_seq 0',
      `bms_sync_build_info{version="${packageVersion()}"} 1`,
    ]),
  );
  await session.atomically((tx) => tx.query(sql`delete from write_blocks`));
  expect(await linesOf(stage)).toContain('bms_sync_write_blocked{kind="clients"} 0');
});

test('a send of which nobody knows whether it arrived has an age, which never is below nothing', async () => {
  const session = await mirror();
  const clock = fakeClock(later(90_000).toISOString());
  const stage = await serveMirror(session, { clock });
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload, state)
      values ('one', 'clients', 'create', '{}', 'unsettled')`);
    await openAttempt(tx, { outboxId: 1, n: 1, request: 'POST', now: NOON });
  });
  const name = 'bms_sync_outbox_oldest_unsettled_age_seconds';
  expect(await linesOf(stage)).toContain(`${name} 90`);
  await session.atomically((tx) =>
    openAttempt(tx, { outboxId: 1, n: 2, request: 'POST', now: later(99_000) }),
  );
  expect(await linesOf(stage)).toContain(`${name} 0`);
});

test('each endpoint of webhooks tells what waits for it, what ended how, and whether it takes anything', async () => {
  const session = await mirror();
  const stage = await serveMirror(session, { clock: fakeClock(later(90_000).toISOString()) });
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into webhook_endpoints (name, public_id, url, cursor, state, disabled_reason, failing_told_at)
      values ('shop', 'p1', 'https://example.com/', 0, 'active', null, null),
        ('erp', 'p2', 'https://example.com/', 0, 'active', null, ${NOON_TEXT}),
        ('past', 'p3', 'https://example.com/', 0, 'disabled', 'by_a_person', null)`);
    await tx.query(sql`
      insert into webhook_deliveries (endpoint_id, webhook_id, type, state, created_at)
      values (1, 'a', 'clients.updated', 'delivered', ${NOON_TEXT}), (1, 'b', 'clients.updated', 'delivered', ${NOON_TEXT}),
        (2, 'c', 'clients.updated', 'failed', ${NOON_TEXT}), (2, 'd', 'clients.updated', 'waiting', ${NOON_TEXT})`);
  });
  const lines = (await linesOf(stage)).filter((line) => line.startsWith('bms_sync_webhook'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'bms_sync_webhook_oldest_waiting_age_seconds{endpoint="shop"} 0',
      'bms_sync_webhook_oldest_waiting_age_seconds{endpoint="erp"} 90',
      'bms_sync_webhook_failing{endpoint="shop"} 0',
      'bms_sync_webhook_failing{endpoint="erp"} 1',
      'bms_sync_webhook_failing{endpoint="past"} 0',
      'bms_sync_webhook_disabled{endpoint="erp"} 0',
      'bms_sync_webhook_disabled{endpoint="past"} 1',
    ]),
  );
});

test('answers are counted by route, never by what the path holds', async () => {
  const stage = await serveMirror(await mirror());
  await stage.get('/v1/records/clients/123456');
  await stage.get('/secret-path');
  await stage.get('/v1/runs', { authorization: 'Bearer wrong' });
  const lines = await linesOf(stage);
  expect(lines).toEqual(
    expect.arrayContaining([
      'bms_sync_http_requests_total{method="GET",route="/v1/records/:kind/:id",status="404"} 1',
      'bms_sync_http_requests_total{method="GET",route="none",status="404"} 1',
      'bms_sync_http_requests_total{method="GET",route="/v1/runs",status="401"} 1',
    ]),
  );
  expect(lines.join('\n')).not.toMatch(/123456|secret-path|canary/);
});

/** What BullMQ says of a queue. */
const BULLMQ = `# HELP bullmq_job_count Number of jobs in the queue by state
# TYPE bullmq_job_count gauge
# HELP bullmq_job_completed_total Total number of completed jobs
# TYPE bullmq_job_completed_total counter
bullmq_job_count{queue="outbox", state="active"} 3
bullmq_job_completed_total{queue="outbox"} 0`;

test('what is told is what Prometheus reads: no line twice', async () => {
  const stage = await serveMirror(await mirror(), { queueMetrics: () => Promise.resolve(BULLMQ) });
  await stage.get('/v1/runs');
  const lines = await linesOf(stage);
  const shownLines = lines.filter((line) => line !== '');
  expect(shownLines).toEqual([...new Set(shownLines)]);
  expect(shownLines).toContain('bullmq_jobs{queue="outbox", state="active"} 3');
  expect(shownLines).toContain('bms_sync_queue_metrics_up 1');
});

test.each([
  ['fails', () => Promise.reject(new Error('no queue'))],
  ['never answers', () => new Promise<string>(() => undefined)],
])('a queue that %s keeps nothing else from being told', async (_name, queueMetrics) => {
  const stage = await serveMirror(await mirror(), { queueMetrics, clock: fakeClock() });
  const lines = await linesOf(stage);
  expect(lines).toContain('bms_sync_queue_metrics_up 0');
  expect(lines).toContain('bms_sync_frozen 0');
});
