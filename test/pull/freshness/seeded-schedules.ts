import { sql } from 'drizzle-orm';
import { createLogger } from '../../../src/lib/log/logger.ts';
import { decideHold } from '../../../src/mirror/records/deletion-store.ts';
import { createFreshnessTask } from '../../../src/pull/freshness/keep-fresh.ts';
import type { PullParts } from '../../../src/pull/run/parts.ts';
import { pullKinds } from '../../../src/pull/pull-kinds.ts';
import { openSource } from '../../../src/source/source.ts';
import type { Source } from '../../../src/source/source.ts';
import { dumpChanges, dumpMirror } from '../../simulation/dump.ts';
import { CALM, drawChange, openNetwork } from '../../simulation/network.ts';
import type { Recording } from '../../simulation/recording.ts';
import { scheduleOf } from '../../simulation/schedule.ts';
import { setStage } from '../../simulation/stage.ts';
import type { RunOptions, Stage } from '../../simulation/stage.ts';
import { watchedSession } from '../../simulation/watched-session.ts';
import type { Life } from '../../simulation/watched-session.ts';
import { KEEP_ALL } from '../../support/retention.ts';

const BASE_URL = 'http://service';
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

const HEALING_SWEEPS = 4;

export interface SeededRun {
  readonly recording: Recording;
  /** Pages that have landed between sweeps. */
  readonly readings: number;
}

/**
 * Plays a schedule of the simulated service with readings between its sweeps and beside them: the list drifts while pages are
 * read, answers fail, and processes die.
 */
export async function playSeed(seed: number, options: RunOptions): Promise<SeededRun> {
  const kills = seed % 3 === 0 ? 0.4 : 0;
  const schedule = scheduleOf(seed, { personality: 'honest', plan: { kills, sweeps: 3, graceSeconds: 60 } });
  const stage = setStage(schedule, options);
  let readings = 0;
  for (let sweep = 0; sweep < schedule.sweeps; sweep++) readings += await readAndPull(stage, true);
  stage.network = { ...stage.network, ...CALM };
  for (let sweep = 0; sweep < HEALING_SWEEPS; sweep++) {
    readings += await readAndPull(stage, false);
    for (const { kind } of schedule.kinds)
      // A person looks at every hold.
      await stage.session.atomically((tx) => decideHold(tx, kind.name, 'approved'));
  }
  const ledgers = new Map(stage.served.map(({ world }) => [world.kind.name, world.ledger]));
  const changes = await dumpChanges(stage.session);
  return { recording: { schedule, ledgers, pulls: stage.pulls, changes, lying: null }, readings };
}

/** Waits with readings, then sweeps with readings beside. Returns how many pages have landed between sweeps. */
async function readAndPull(stage: Stage, isBusy: boolean): Promise<number> {
  const { schedule, random, timeline, session } = stage;
  const before = await countReadings(stage);
  const looks = random.integer(2, 5);
  for (let look = 0; look < looks; look++) {
    if (isBusy) changeSoon(stage);
    timeline.pass(random.integer(5_000, 60_000));
    await mortal(stage, isBusy ? schedule.kills : 0, (parts) => createFreshnessTask(parts, rulesOf(stage))());
  }
  timeline.pass(isBusy ? 1000 : schedule.graceSeconds * 1000 + 1000);
  const fromMs = timeline.nowMs();
  const isRead = random.chance(0.5);
  const report = await mortal(stage, isBusy ? schedule.kills : 0, async (parts) => {
    const [pulled, beside] = await Promise.allSettled([
      pullKinds(parts, requestOf(stage)),
      isRead ? readBeside(stage) : null,
    ]);
    if (pulled.status === 'rejected') throw pulled.reason;
    if (beside.status === 'rejected') throw beside.reason;
    return pulled.value;
  });
  const [last] = await session.query(sql`select max(id) as id from runs`);
  const kinds = schedule.kinds.map(({ kind }) => kind);
  stage.pulls.push({
    ...{ fromMs, toMs: timeline.nowMs(), runId: Number(last?.['id']), isDead: report === null },
    states: new Map(report?.kinds.map(({ kind, state, reason }) => [kind, reason ?? state])),
    after: await dumpMirror(session, kinds),
  });
  return (await countReadings(stage)) - before;
}

/** Changes the world at some instant of the wait that follows. */
function changeSoon({ served, network, random, timeline }: Stage): void {
  const { world, change } = drawChange({ served, changes: network.changes }, random);
  timeline.after(random.integer(0, 60_000), () => {
    world.change(change);
  });
}

/** Readings of another process while a sweep begins, reads and ends. */
async function readBeside(stage: Stage): Promise<void> {
  const task = createFreshnessTask(partsOf(stage, IMMORTAL), rulesOf(stage));
  for (let look = 0; look < 3; look++) {
    await task();
    await stage.timeline.clock.sleep(stage.random.integer(1, 400));
  }
}

const IMMORTAL: Life = { left: null, isOver: false };

/** Does work that the process may die of; null where it did. */
async function mortal<T>(
  stage: Stage,
  kills: number,
  work: (parts: PullParts) => Promise<T>,
): Promise<T | null> {
  const { random, timeline } = stage;
  const life: Life = { left: random.chance(kills) ? random.integer(1, 120) : null, isOver: false };
  try {
    return await timeline.drive(work(partsOf(stage, life)));
  } catch (error) {
    if (life.isOver) return null;
    throw error;
  }
}

function partsOf(stage: Stage, life: Life): PullParts {
  const { session, timeline } = stage;
  return {
    session: watchedSession(session, timeline, life),
    source: openSimulated(stage),
    clock: timeline.clock,
    owner: { name: 'simulation', isDead: () => true },
    logger,
  };
}

function openSimulated(stage: Stage): Source {
  const { schedule, timeline, random, served, options } = stage;
  const say = (line: string): void => options.trace?.(`${timeline.nowMs()} ${line}`);
  const client = openNetwork({
    ...{ timeline, random, served, plan: () => stage.network },
    ...(options.trace && { trace: say }),
  });
  return openSource(
    {
      ...{
        baseUrl: BASE_URL,
        token: 'simulated-token',
        concurrency: schedule.concurrency,
        timeoutSeconds: 30,
      },
      ...{ requestsPerSecond: null, maxAttempts: 5, maxBodyBytes: 1e7, authHeaders: 'all', proxyUrl: null },
    },
    {
      ...{ clock: timeline.clock, logger, openHttp: () => client },
      random: () => random.integer(0, 999_999) / 1_000_000,
    },
  );
}

const rulesOf = ({ schedule }: Stage) => {
  const kinds = schedule.kinds.map(({ kind }) => kind);
  const sweepsOf = (): null => null;
  return { kinds, sweepsOf, requestsPerMinute: 20, baseUrl: BASE_URL, rules: readingRules(schedule) };
};

const requestOf = ({ schedule }: Stage) => ({
  ...readingRules(schedule),
  ...{ kinds: schedule.kinds.map(({ kind }) => kind), baseUrl: BASE_URL, acceptNewSource: false },
  retention: KEEP_ALL,
});

const readingRules = ({ graceSeconds, holdAbove, repeatBelowPages }: Stage['schedule']) => ({
  ...{
    deletions: { graceSeconds, holdAbove },
    repeatBelowPages,
    digestScope: 'simulation',
    ignoreFields: {},
  },
});

async function countReadings({ session }: Stage): Promise<number> {
  const [row] = await session.query(
    sql`select count(*) as count from sightings where sweep is null and run_id = 0`,
  );
  return Number(row?.['count']);
}
