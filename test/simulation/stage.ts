import type { Clock } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import type { PullRequest } from '../../src/pull/pull-kinds.ts';
import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { HttpClient } from '../../src/source/http/http.ts';
import type { Source } from '../../src/source/source.ts';
import type { NetworkPlan } from './network.ts';
import { personality } from './personalities.ts';
import type { RecordedPull } from './recording.ts';
import type { Schedule } from './schedule.ts';
import type { ServedKind } from './service.ts';
import { createTimeline } from './timeline.ts';
import type { Timeline } from './timeline.ts';
import { createWorld } from './world.ts';

/** Stand-ins with a bug, one or several, each made of the real part. */
export interface Doubles {
  readonly http?: (client: HttpClient) => HttpClient;
  readonly source?: (source: Source) => Source;
  readonly session?: (session: Session) => Session;
  readonly clock?: (clock: Clock) => Clock;
  readonly request?: (request: PullRequest) => PullRequest;
}

export interface RunOptions {
  /** Of a mirror that is migrated, and empty. */
  readonly session: Session;
  readonly doubles?: Doubles;
  /** Told of everything that happens. */
  readonly trace?: (line: string) => void;
  /** Called after each pull of the busy part, while nothing is under way. */
  readonly afterPull?: (stage: Stage) => Promise<void>;
  /** See `TimelineOptions`. */
  readonly quietTurns?: number;
}

/** Everything that a schedule in progress is made of. */
export interface Stage {
  readonly schedule: Schedule;
  readonly options: RunOptions;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly served: readonly ServedKind[];
  readonly session: Session;
  readonly pulls: RecordedPull[];
  network: NetworkPlan;
}

export function setStage(schedule: Schedule, options: RunOptions): Stage {
  const { session } = options;
  const random = randomFrom('run', schedule.seed);
  const timeline = createTimeline({
    random,
    together: schedule.together,
    ...(options.quietTurns !== undefined && { quietTurns: options.quietTurns }),
  });
  const say = (line: string): void => options.trace?.(`${timeline.nowMs()} ${line}`);
  const served = schedule.kinds.map((plan): ServedKind => {
    const { lie, retrieve } = personality(plan.personality);
    const world = createWorld(plan, { random, nowMs: timeline.nowMs, onChange: say });
    return { world, paging: plan.paging, lie: lie(random), retrieve };
  });
  const pulls: RecordedPull[] = [];
  return { schedule, options, random, timeline, served, session, pulls, network: schedule.busy };
}
