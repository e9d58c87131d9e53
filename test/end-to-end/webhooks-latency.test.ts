import { loadavg } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { sendingRules } from '../../src/app/sending-rules.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { addEndpoint } from '../../src/events/webhooks/endpoints.ts';
import { createSender } from '../../src/events/webhooks/sender.ts';
import { createWebhookQueue } from '../../src/events/webhooks/webhook-queue.ts';
import { startEngine, type Engine } from '../../src/runs/engine/engine.ts';
import { createInProcessNotifier } from '../../src/runs/engine/notifier.ts';
import { formatInstant, systemClock } from '../../src/lib/time/clock.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { watchInserts } from '../../src/db/session/write-watch.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import { mirrorIn, putChanges } from '../events/support.ts';
import { startReceiver, type EventBody, type Receiver } from '../events/webhooks/receiver.ts';
import { memoryLog } from '../runs/engine/support.ts';
import { sized } from '../support/tiers.ts';

const PER_SECOND = sized({ quick: 20, acceptance: 200, deep: 200 });
const SECONDS = sized({ quick: 1, acceptance: 15, deep: 60 });
const config = loadConfig({ env: { BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' } });

/** A process that delivers, as `serve` puts it together. */
function startDeliverer(session: Session): Engine {
  const { logger } = memoryLog();
  const owner = THIS_PROCESS;
  const reader = sendingRules(config);
  const sender = createSender(systemClock, reader);
  const { signal: stopping } = new AbortController();
  const process = { session, clock: systemClock, logger, owner };
  const worker = { owner, roles: ['webhooks'] };
  const engine = startEngine(process, worker, createInProcessNotifier());
  const rules = { retrySeconds: config.webhooks.retrySeconds, reader, random: Math.random };
  engine.add(createWebhookQueue(process, sender, rules, stopping));
  onTestFinished(async () => {
    await engine.close();
    await sender[Symbol.asyncDispose]();
  });
  return engine;
}

/** Commits events by an even pace; returns how long each took to the receiver, in milliseconds, the shortest first. */
async function measure(session: Session, receiver: Receiver): Promise<readonly number[]> {
  const count = PER_SECOND * SECONDS;
  const committedAt = new Map<string, number>();
  const startMs = performance.now();
  for (let done = 0; done < count;) {
    await systemClock.sleep(Math.max(1, startMs + ((done + 1) * 1000) / PER_SECOND - performance.now()));
    const due = Math.min(count, Math.floor(((performance.now() - startMs) * PER_SECOND) / 1000));
    const ids = Array.from({ length: due - done }, (_, index) => String(done + index + 1));
    const event = { change: 'created', observed_at: formatInstant(new Date()), after: '{}' };
    await putChanges(session, ...ids.map((record_id) => ({ record_id, ...event })));
    for (const id of ids) committedAt.set(id, Date.now());
    done = due;
  }
  await receiver.took(count);
  const waits = receiver.taken.map(({ body, atMs }) => {
    const { recordId } = (JSON.parse(body) as EventBody).data;
    return Math.max(0, atMs - (committedAt.get(recordId) ?? 0));
  });
  return waits.toSorted((a, b) => a - b);
}

test.each([
  ['SQLite', 'the same process', { p50: 100, p99: 1_000 }],
  ['PostgreSQL', 'the same process', { p50: 100, p99: 1_000 }],
  ['PostgreSQL', 'another process', { p50: 1_500, p99: 2_500 }],
] as const)('events in %s, delivered by %s, arrive soon', async (...scene) => {
  const [database, deliverer, most] = scene;
  const { session, url } = await mirrorIn(database);
  await session.makeDurable();
  const receiver = await startReceiver();
  const wish = { name: 'erp', url: receiver.url, kinds: null, changes: null, fields: null };
  await addEndpoint(session, { ...wish, format: 'json' }, { ...config.webhooks, now: new Date() });
  const isAlone = deliverer === 'the same process';
  const other = isAlone ? session : await openSession(url);
  if (!isAlone) onTestFinished(() => other.close());
  const engine = startDeliverer(other);
  const wake = (): void => {
    if (isAlone) engine.wake('webhooks');
  };
  const waits = await measure(watchInserts(session, 'changes', wake), receiver);
  const p50 = waits[Math.floor(waits.length / 2)];
  const p99 = waits[Math.floor(waits.length * 0.99)];
  console.log('FIGURE', database, deliverer, { p50, p99, most: waits.at(-1), load: loadavg()[0] });
  expect(p50).toBeLessThanOrEqual(most.p50);
  expect(p99).toBeLessThanOrEqual(most.p99);
});
