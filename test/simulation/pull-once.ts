import { sql } from 'drizzle-orm';
import { createLogger } from '../../src/lib/log/logger.ts';
import { pullKinds } from '../../src/pull/pull-kinds.ts';
import type { PullReport, PullRequest } from '../../src/pull/pull-kinds.ts';
import { openSource } from '../../src/source/source.ts';
import type { Source } from '../../src/source/source.ts';
import type { SourceSettings } from '../../src/source/http/http.ts';
import { dumpMirror } from './dump.ts';
import { drawChange, openNetwork } from './network.ts';
import type { Schedule } from './schedule.ts';
import type { Doubles, Stage } from './stage.ts';
import { watchedSession } from './watched-session.ts';
import type { Life } from './watched-session.ts';
import { KEEP_ALL } from '../support/retention.ts';

const LONGEST_STEP_MS = 600_000; // Set back further, the clock would make a grace outlast the healing.
const BASE_URL = 'http://service';
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

/** Waits, and pulls once; the process may die of it. */
export async function pullOnce(stage: Stage): Promise<void> {
  const { schedule, random, timeline, pulls, session } = stage;
  const isBusy = pulls.length < schedule.sweeps;
  passGap(stage, isBusy);
  if (isBusy && random.chance(schedule.clockSteps))
    timeline.stepClock(random.integer(-LONGEST_STEP_MS, LONGEST_STEP_MS));
  const life: Life = {
    left: isBusy && random.chance(schedule.kills) ? random.integer(1, 120) : null,
    isOver: false,
  };

  const fromMs = timeline.nowMs();
  const report = await timeline.drive(startPull(stage, life));
  const toMs = timeline.nowMs();
  stage.options.trace?.(`${toMs} — pull ${pulls.length + 1} ${JSON.stringify(report?.kinds ?? 'killed')}`);
  const [last] = await session.query(sql`select max(id) as id from runs`);
  pulls.push({
    fromMs,
    toMs,
    runId: Number(last?.['id']),
    states: new Map(report?.kinds.map(({ kind, state, reason }) => [kind, reason ?? state])),
    isDead: report === null,
    after: await dumpMirror(
      session,
      schedule.kinds.map(({ kind }) => kind),
    ),
  });
}

function passGap({ schedule, random, timeline, served, pulls, network }: Stage, isBusy: boolean): void {
  const gapMs = schedule.gapsMs[Math.min(pulls.length, schedule.gapsMs.length - 1)] ?? 0;
  const waitMs = isBusy ? gapMs : Math.max(gapMs, schedule.graceSeconds * 1000 + 1000);
  for (let left = isBusy && pulls.length > 0 ? schedule.changesBetween : 0; left > 0; left--) {
    const { world, change } = drawChange({ served, changes: network.changes }, random);
    timeline.after(random.integer(0, waitMs), () => {
      world.change(change);
    });
  }
  timeline.pass(waitMs);
}

async function startPull(stage: Stage, life: Life): Promise<PullReport | null> {
  const { schedule, timeline, session } = stage;
  const doubles = { ...REAL_PARTS, ...stage.options.doubles };
  const clock = doubles.clock(timeline.clock);
  await using source = openSimulated(stage, doubles);
  const parts = {
    session: doubles.session(watchedSession(session, timeline, life)),
    source: doubles.source(source),
    owner: { name: 'simulation', isDead: () => true },
    ...{ clock, logger },
  };
  try {
    return await pullKinds(parts, doubles.request(requestOf(schedule)));
  } catch (error) {
    if (life.isOver) return null;
    throw error;
  }
}

const REAL_PARTS: Required<Doubles> = {
  http: (client) => client,
  source: (source) => source,
  session: (session) => session,
  clock: (clock) => clock,
  request: (request) => request,
};

/** The real source, whose way to the network ends in the simulated one. */
function openSimulated(stage: Stage, { http, clock }: Required<Doubles>): Source {
  const { schedule, options, timeline, random, served } = stage;
  const say = (line: string): void => options.trace?.(`${timeline.nowMs()} ${line}`);
  const client = openNetwork({
    ...{ timeline, random, served, plan: () => stage.network },
    ...(options.trace && { trace: say }),
  });
  const settings: SourceSettings = {
    ...{ baseUrl: BASE_URL, token: 'simulated-token', concurrency: schedule.concurrency, timeoutSeconds: 30 },
    ...{ requestsPerSecond: null, maxAttempts: 5, maxBodyBytes: 1e7, authHeaders: 'all', proxyUrl: null },
  };
  return openSource(settings, {
    ...{ clock: clock(timeline.clock), logger },
    random: () => random.integer(0, 999_999) / 1_000_000,
    openHttp: () => http(client),
  });
}

function requestOf(schedule: Schedule): PullRequest {
  return {
    kinds: schedule.kinds.map(({ kind }) => kind),
    baseUrl: BASE_URL,
    acceptNewSource: false,
    retention: KEEP_ALL,
    deletions: { graceSeconds: schedule.graceSeconds, holdAbove: schedule.holdAbove },
    repeatBelowPages: schedule.repeatBelowPages,
    digestScope: 'simulation',
    ignoreFields: {},
  };
}
