/** The program of one soak, in a process of its own: what `serve` does, on the fast calendar, and what it holds to be true. */
import { sql } from 'drizzle-orm';
import { startDailyCheck } from '../../src/checks/database-file.ts';
import { allKinds } from '../../src/config/known-kinds.ts';
import { openMirror } from '../../src/app/open-mirror.ts';
import { openConfiguredSource } from '../../src/app/open-source.ts';
import { outboundQueue, runsQueue } from '../../src/app/queues.ts';
import { pullSettings } from '../../src/app/pull.ts';
import { schedulesOf } from '../../src/app/schedules.ts';
import { startStaleWatch } from '../../src/checks/stale-kinds.ts';
import { startRunRequests } from '../../src/runs/request-runs.ts';
import { openSendCounter } from '../../src/outbound/send-counter.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/settings.ts';
import { startEngine } from '../../src/runs/engine/engine.ts';
import { createInProcessNotifier } from '../../src/runs/engine/notifier.ts';
import { parseInstant, systemClock } from '../../src/lib/time/clock.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { openSourceBinding } from '../../src/pull/source-binding.ts';
import type { Session } from '../../src/db/session/session.ts';
import { checkRequests, storeChecked } from '../../src/outbound/intake/intake.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import { canary } from '../support/canary.ts';
import { PACE, fastClock } from './clock.ts';
import { countCreates, deletedRecords, takeSample, type Sample } from './figures.ts';
import { MOVING_KINDS, type Certificate } from './life.ts';
import { watchStalls, type Stalls } from './stalls.ts';

/** What a soak is started with: one argument, as JSON. */
export interface SoakOrder {
  readonly databaseUrl: string;
  readonly serviceUrl: string;
  readonly beganMs: number;
  readonly minutes: number;
  readonly drainMinutes: number;
  readonly createsASecond: number;
}

export type SoakMessage =
  | { readonly is: 'certificate'; readonly certificate: Certificate }
  | { readonly is: 'minute'; readonly sample: Sample; readonly stalls: Stalls }
  | {
      readonly is: 'end';
      readonly creates: Record<string, number>;
      readonly deleted: readonly string[];
    };

const MINUTE = 60_000;
const ROLES = ['pulls', 'outbound'] as const;
/** The engine's own waits stay as they are: they are the machine's, not the calendar's. */
const TIMINGS = {
  pollMs: 100 * PACE,
  heartbeatMs: 5_000 * PACE,
  takeOverMs: 5_000 * PACE,
  graceMs: 25_000 * PACE,
};

const send = (message: SoakMessage): void => void process.send?.(message);

const configOf = ({ databaseUrl, serviceUrl }: SoakOrder): Config =>
  loadConfig({
    env: {},
    flags: {
      database: { url: databaseUrl },
      source: { baseUrl: serviceUrl, token: canary('-soak'), timeoutSeconds: 5 },
      // Time that was waited is measured by the machine's clock, which no calendar makes faster.
      outbound: { writes: 'on', settleSeconds: 2, patienceSeconds: 60 },
      // A list loses hundreds of its records a day here.
      deletions: { holdAbove: { rows: 200, share: 0.5 } },
      schedules: { soak: { kinds: [...MOVING_KINDS], cron: '*/10 * * * *' } },
      retention: { changesDays: null, runsDays: 2, outboxDays: 2, issuesDays: 2 },
    },
  });

interface Running {
  readonly session: Session;
  readonly push: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Composes what `serve` does, on the fast calendar. */
async function startService(config: Config, beganMs: number): Promise<Running> {
  const clock = fastClock(beganMs);
  const logger = createLogger({ level: 'fatal', secrets: [], destination: process.stderr });
  const source = openConfiguredSource(config, { clock, logger });
  const session = await openMirror(config);
  await session.makeDurable();
  const owner = THIS_PROCESS;
  const parts = { session, source, clock, logger, owner };
  await openSourceBinding(session, pullSettings(config).baseUrl, false);
  const mark = await openSendCounter(session, config.queue.url);
  // A lease of 45 s is over in 31 ms of this calendar: one process alone need not take over from others.
  const runs = { ...runsQueue(config, parts), releaseStaleClaims: () => Promise.resolve() };
  const engine = startEngine(parts, { owner, roles: ROLES }, createInProcessNotifier(), TIMINGS);
  for (const queue of [runs, outboundQueue(config, parts, mark)]) engine.add(queue);
  const schedules = schedulesOf(config);
  const stopSchedules = [startRunRequests(parts, schedules), startStaleWatch(parts, schedules)];
  const stopChecks = startDailyCheck(parts);
  let pushed = 0;
  return {
    session,
    push: async (count) => {
      const requests = Array.from({ length: count }, () => {
        const code = `NEW-${pushed++}`;
        const made =
          pushed % 2 === 0 ? { kind: 'clients', name: 'name' } : { kind: 'products', name: 'name_fr' };
        const data = { code, [made.name]: `Pushed ${code}` };
        return { operation: 'create', kind: made.kind, data, key: code } as const;
      });
      await storeChecked(session, await checkRequests(session, allKinds(config), requests), clock.now());
      engine.wake();
    },
    stop: async () => {
      await Promise.all([...stopSchedules.map((stop) => stop()), stopChecks()]);
      await engine.close();
      mark.close();
      await source[Symbol.asyncDispose]();
      await session.close();
    },
  };
}

/** Reports of each list that is certified now, once. */
async function sendCertificates(
  session: Session,
  beganMs: number,
  sentAt: Map<string, string>,
): Promise<void> {
  for (const kind of MOVING_KINDS) {
    const rows = await session.query(sql`
      select s.certified_at as at, cast(k.id as text) as id
      from kind_state as s left join ${sql.identifier(kind)} as k on k._deleted_at is null
      where s.kind = ${kind} and s.state = 'certified'`);
    const at = rows[0]?.['at'];
    if (typeof at !== 'string' || sentAt.get(kind) === at) continue;
    sentAt.set(kind, at);
    const ids = rows.flatMap(({ id }) => (id === null ? [] : [String(id)]));
    const atMs = parseInstant(at).getTime() - beganMs;
    send({ is: 'certificate', certificate: { kind, atMs, ids } });
  }
}

const openCount = (creates: Record<string, number>): number =>
  ['ready', 'sending', 'unsettled'].reduce((sum, state) => sum + (creates[state] ?? 0), 0);

async function soak(order: SoakOrder): Promise<void> {
  const { session, push, stop } = await startService(configOf(order), order.beganMs);
  const watch = watchStalls();
  const sentAt = new Map<string, string>();
  const began = performance.now();
  let minute = 0;
  send({ is: 'minute', sample: await takeSample(session, minute), stalls: watch.take() });
  while (performance.now() - began < order.minutes * MINUTE) {
    await Promise.all([push(order.createsASecond), systemClock.sleep(1_000)]);
    await sendCertificates(session, order.beganMs, sentAt);
    if (performance.now() - began < (minute + 1) * MINUTE) continue;
    minute++;
    send({ is: 'minute', sample: await takeSample(session, minute), stalls: watch.take() });
  }
  watch.stop();
  const drainBegan = performance.now();
  const drainMs = order.drainMinutes * MINUTE;
  while (performance.now() - drainBegan < drainMs && openCount(await countCreates(session)) > 0)
    await systemClock.sleep(1_000);
  send({ is: 'end', creates: await countCreates(session), deleted: await deletedRecords(session) });
  await stop();
  process.disconnect();
}

await soak(JSON.parse(process.argv[2] ?? '') as SoakOrder);
