import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'drizzle-orm';
import { Agent, request } from 'undici';
import { outboundQueue } from '../src/app/queues.ts';
import { openMirror } from '../src/app/open-mirror.ts';
import { openConfiguredSource } from '../src/app/open-source.ts';
import { pullOnce } from '../src/app/pull.ts';
import { KINDS } from '../src/catalog/kinds/catalog.ts';
import { loadConfig } from '../src/config/load-config.ts';
import type { Config } from '../src/config/settings.ts';
import { createBullmqNotifier } from '../src/runs/bullmq/notifier.ts';
import { startEngine } from '../src/runs/engine/engine.ts';
import { createInProcessNotifier } from '../src/runs/engine/notifier.ts';
import { systemClock } from '../src/lib/time/clock.ts';
import { createLogger } from '../src/lib/log/logger.ts';
import type { Session } from '../src/db/session/session.ts';
import { createFileCounter } from '../src/outbound/send-counter.ts';
import { checkRequests, storeChecked } from '../src/outbound/intake/intake.ts';
import { THIS_PROCESS } from '../src/lib/owner.ts';
import { sqliteFiles } from './databases.ts';

/**
 * What a push costs over a bare POST of the same body: through the outbox, its journal, the queue and the mirror.
 * `npm run bench -- pushes [--pushes N --latency MS --rounds N --redis URL]`.
 */
const { values } = parseArgs({
  options: {
    pushes: { type: 'string', default: '400' },
    latency: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    redis: { type: 'string' },
  },
});
const pushes = Number(values.pushes);
const rounds = Number(values.rounds);
const logger = createLogger({ level: 'warn', secrets: [], destination: process.stderr });
const server = fork(new URL('./write-server.ts', import.meta.url), [values.latency], {
  execArgv: ['--import', 'tsx'],
});
const databases = sqliteFiles();
const [{ url }] = (await once(server, 'message')) as [{ url: string }];
const bodies = Array.from({ length: pushes }, (_, n) => ({ code: `C-${n}`, name: `Client ${n}` }));

for (const inFlight of [1, 8]) {
  const bare: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await postBare(inFlight));
    whole.push(await pushAll(inFlight));
  }
  const limit = pushes / median(bare);
  const rate = pushes / median(whole);
  console.log(
    JSON.stringify({
      queue: values.redis === undefined ? 'in process' : 'BullMQ on Redis',
      inFlight,
      pushes,
      rounds,
      latencyMs: Number(values.latency),
      barePerSecond: rounded(limit),
      pushesPerSecond: rounded(rate),
      ratio: Number((rate / limit).toFixed(3)),
    }),
  );
}
server.kill();
await databases.close();

async function postBare(inFlight: number): Promise<number> {
  const agent = new Agent({ connections: inFlight });
  const waiting = [...bodies];
  const start = performance.now();
  const worker = async (): Promise<void> => {
    for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
      const answer = await request(`${url}/api/clients`, {
        method: 'POST',
        body: JSON.stringify(body),
        dispatcher: agent,
        headers: { 'content-type': 'application/json' },
      });
      await answer.body.json();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  await agent.close();
  return (performance.now() - start) / 1000;
}

/** Everything is in the outbox when the clock starts; it stops when all is done. */
async function pushAll(inFlight: number): Promise<number> {
  const file = await databases.fresh();
  const source = { baseUrl: url, token: 'bench', concurrency: inFlight };
  const config = loadConfig({
    env: {},
    flags: { source, database: { url: file }, outbound: { writes: 'on' } },
  });
  await pullOnce(config, { logger, kinds: ['clients'], acceptNewSource: false });
  await using session = await openMirror(config);
  const requests = bodies.map((data) => ({ operation: 'create', kind: 'clients', data }) as const);
  await storeChecked(session, await checkRequests(session, KINDS, requests), new Date());
  return await workAll(config, session);
}

async function workAll(config: Config, session: Session): Promise<number> {
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  const parts = { session, source, clock: systemClock, logger, owner: THIS_PROCESS };
  const mark = createFileCounter(`${session.location}.sends`);
  const start = performance.now();
  const notifier =
    values.redis === undefined
      ? createInProcessNotifier()
      : createBullmqNotifier(values.redis, { clock: systemClock, logger, prefix: `bench-${Date.now()}` });
  const engine = startEngine(parts, { owner: parts.owner, roles: ['outbound'] }, notifier);
  engine.add(outboundQueue(config, parts, mark));
  for (;;) {
    const [left] = await session.query(sql`select count(*) as n from outbox where state <> 'done'`);
    if (left?.['n'] === 0) break;
    await delay(10);
  }
  const seconds = (performance.now() - start) / 1000;
  await engine.close();
  return seconds;
}

function rounded(rate: number): number {
  return Number(rate.toFixed(1));
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
