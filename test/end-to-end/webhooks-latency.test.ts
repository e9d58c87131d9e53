import { loadavg } from 'node:os';
import { inject, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { addEndpoint } from '../../src/feed/webhooks/endpoints.ts';
import { createSender } from '../../src/feed/webhooks/sender.ts';
import { notifyDeliverers, wakeDeliverers, watchEvents, webhooksQueue } from '../../src/app/webhooks.ts';
import type { EventSignal } from '../../src/app/webhooks.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createBullmqNotifier } from '../../src/jobs/bullmq/notifier.ts';
import { startEngine } from '../../src/jobs/engine.ts';
import { createInProcessNotifier } from '../../src/jobs/notifier.ts';
import type { Notifier } from '../../src/jobs/notifier.ts';
import { instantText, systemClock } from '../../src/lib/time/clock.ts';
import { openSession } from '../../src/mirror/open-session.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { createOwner } from '../../src/pull/run/parts.ts';
import { DATABASES, mirrorIn, putChanges } from '../feed/support.ts';
import { startReceiver } from '../feed/webhooks/receiver.ts';
import type { EventBody, Receiver } from '../feed/webhooks/receiver.ts';
import { memoryLog, ownPrefix } from '../jobs/support.ts';
import { sized } from '../support/tiers.ts';

const PER_SECOND = sized({ quick: 20, acceptance: 200, deep: 200 });
const SECONDS = sized({ quick: 1, acceptance: 15, deep: 60 });
const ALLOWED = { allowHosts: ['127.0.0.1'] };
const config = loadConfig({ env: { BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' } });

type AtEnd = TestContext['onTestFinished'];

interface Deliverer {
  readonly session: Session;
  readonly notifier: Notifier;
  readonly events: EventSignal;
}

/** A process that delivers, as `serve` puts it together. */
function startDeliverer(atEnd: AtEnd, { session, notifier, events }: Deliverer): void {
  const { logger } = memoryLog();
  const [clock, owner, stopping] = [systemClock, createOwner(), new AbortController()];
  const sender = createSender({ clock, ...ALLOWED });
  const parts = { session, clock, logger, owner, sender, events, stopping: stopping.signal };
  const engine = startEngine({
    ...{ session, clock, logger, notifier, queues: [webhooksQueue(config, parts)] },
    worker: { owner: owner.name, roles: ['webhooks'] },
  });
  const stopWaking = wakeDeliverers({ clock, events }, engine);
  atEnd(async () => {
    stopping.abort();
    await stopWaking();
    await engine.close();
    await sender[Symbol.asyncDispose]();
  });
}

/** Commits the events that are due by an even pace, one transaction after the other; tells how long each took to the receiver. */
async function measure(session: Session, receiver: Receiver): Promise<readonly number[]> {
  const count = PER_SECOND * SECONDS;
  const committedAt = new Map<string, number>();
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  for (let done = 0; done < count;) {
    await systemClock.sleep(Math.max(1, startMs + ((done + 1) * 1000) / PER_SECOND - performance.now()));
    const due = Math.min(count, Math.floor(((performance.now() - startMs) * PER_SECOND) / 1000));
    const ids = Array.from({ length: due - done }, (_, index) => String(done + index + 1));
    const observed_at = instantText(new Date());
    await putChanges(
      session,
      ...ids.map((record_id) => ({ record_id, change: 'created', observed_at, after: '{}' })),
    );
    for (const id of ids) committedAt.set(id, Date.now());
    done = due;
  }
  await receiver.took(count);
  const { user, system } = process.cpuUsage(cpu);
  console.log('FIGURE', { cpuMsAnEvent: (user + system) / 1000 / count });
  return receiver.taken
    .map(({ body, atMs }) => {
      const { recordId } = (JSON.parse(body) as EventBody).data;
      return Math.max(0, atMs - (committedAt.get(recordId) ?? 0));
    })
    .toSorted((a, b) => a - b);
}

function tell(name: string, waits: readonly number[]): { readonly p50: number; readonly p99: number } {
  const at = (share: number): number =>
    waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
  const figures = { p50: at(0.5), p99: at(0.99), most: at(1), load: loadavg()[0] };
  console.log('FIGURE', name, figures);
  return figures;
}

/** A busy machine may be slower where the figures are not measured. */
const LIMITS =
  SECONDS === 1 ? { p50: 1_000, p99: 2_500, polled: 5_000 } : { p50: 100, p99: 1_000, polled: 2_500 };

async function receiverOf(session: Session): Promise<Receiver> {
  const receiver = await startReceiver();
  const wish = { name: 'erp', url: receiver.url, kinds: null, changes: null, fields: null };
  await addEndpoint(session, { ...wish, format: 'json' }, { ...ALLOWED, now: new Date() });
  return receiver;
}

test.each(DATABASES)(
  `events on %s, committed and delivered by one process, arrive soon`,
  { timeout: 120_000 },
  async (database) => {
    const { session } = await mirrorIn(database);
    await session.makeDurable();
    const receiver = await receiverOf(session);
    const ends: (() => Promise<void>)[] = [];
    const watched = watchEvents(session);
    const notifier = createInProcessNotifier();
    startDeliverer((end) => ends.push(end as () => Promise<void>), {
      ...{ session, notifier, events: watched.events },
    });
    const figures = tell(`one process on ${database}`, await measure(watched.session, receiver));
    for (const end of ends) await end();
    expect(figures.p50).toBeLessThanOrEqual(LIMITS.p50);
    expect(figures.p99).toBeLessThanOrEqual(LIMITS.p99);
  },
);

test.each([
  ['with a queue', true],
  ['without a queue', false],
] as const)(
  'events of one process, delivered by another %s, arrive soon',
  { timeout: 120_000 },
  async (name, hasQueue) => {
    const { session, url } = await mirrorIn('PostgreSQL');
    await using other = await openSession(url);
    const receiver = await receiverOf(session);
    const ends: (() => Promise<void>)[] = [];
    const prefix = ownPrefix();
    const { logger } = memoryLog();
    const notifierOf = (): Notifier =>
      hasQueue
        ? createBullmqNotifier(inject('redisUrl'), { clock: systemClock, logger, prefix })
        : createInProcessNotifier();
    const deliverer = { session: other, notifier: notifierOf(), events: watchEvents(other).events };
    startDeliverer((end) => ends.push(end as () => Promise<void>), deliverer);
    const watched = watchEvents(session);
    const parts = { session, clock: systemClock, logger, events: watched.events };
    const notifier = notifierOf();
    const stop = notifyDeliverers(parts, notifier);
    const figures = tell(`two processes ${name}`, await measure(watched.session, receiver));
    await stop();
    await notifier.close();
    for (const end of ends) await end();
    expect(figures.p99).toBeLessThanOrEqual(hasQueue ? LIMITS.p99 : LIMITS.polled);
    if (hasQueue) expect(figures.p50).toBeLessThanOrEqual(LIMITS.p50);
  },
);
