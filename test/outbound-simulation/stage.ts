import type { ListedKind } from '../../src/catalog/kind.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import type { SendMark } from '../../src/outbound/freeze.ts';
import { createMark } from '../support/send-mark.ts';
import type { OutboundRules } from '../../src/outbound/parts.ts';
import type { PullRequest } from '../../src/pull/pull-kinds.ts';
import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { NetworkPlan } from '../simulation/network.ts';
import type { RecordedPull } from '../simulation/recording.ts';
import type { ServedKind } from '../simulation/service.ts';
import { createTimeline } from '../simulation/timeline.ts';
import type { Timeline } from '../simulation/timeline.ts';
import { watchedSession } from '../simulation/watched-session.ts';
import type { Life } from '../simulation/watched-session.ts';
import type { AnswerShape } from './answers.ts';
import { createWakeUp } from './wake-up.ts';
import type { WakeUp } from './wake-up.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Send } from './network.ts';
import type { Schedule } from './schedule.ts';
import { RULES } from './settings.ts';
import { SHAPES, listedKind } from './shapes.ts';
import type { KindName } from './shapes.ts';
import type { InHand } from './working.ts';
import { createWritableWorld } from './writable-world.ts';
import type { WritableWorld } from './writable-world.ts';
import { storedFields } from './written-value.ts';
import type { Normalizer } from './written-value.ts';

/** A kind as the service has it, shows it, and takes it. */
export interface Service {
  readonly name: KindName;
  readonly world: WritableWorld;
  readonly served: ServedKind;
  readonly shape: AnswerShape;
  readonly normalizer: Normalizer;
}

/** What an application wants to have done. */
export interface Intent {
  readonly entry: number;
  readonly kind: KindName;
  readonly operation: 'create' | 'update';
  readonly body: JsonObject;
  readonly recordId: string | null;
  readonly atMs: number;
}

/** Everything that a schedule in progress is made of. */
export interface Stage {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly session: Session;
  readonly services: readonly Service[];
  /** Kinds that are read beside them, and never written by us. */
  readonly alsoServed: readonly ServedKind[];
  readonly kinds: readonly ListedKind[];
  readonly rules: OutboundRules;
  /** What a pull has otherwise than by default. */
  readonly pullSettings: Partial<PullRequest>;
  readonly mark: SendMark;
  readonly wakeUp: WakeUp;
  readonly sends: Send[];
  readonly pulls: RecordedPull[];
  /** By the number of the entry. */
  readonly intents: Map<number, Intent>;
  /** Processes that are gone, or taken to be. */
  readonly dead: Set<string>;
  /** What dead processes leave behind. */
  readonly remains: Promise<unknown>[];
  /** Kinds that the token may not write at this moment. */
  readonly barred: Set<string>;
  readonly crashes: { isLast(point: CrashPoint): boolean; readonly reached: Set<CrashPoint> };
  readonly pauses: { takes(): boolean };
  /** Whether a sweep's process dies in its middle. */
  readonly dying: { take(life: Life): void };
  reads: NetworkPlan;
  /** Nothing goes wrong any more. */
  isCalm: boolean;
  isOver: boolean;
  readonly say: (line: string) => void;
  /** Ends the schedule with an error. */
  fail: (error: unknown) => void;
  /** The record of an update has just been read, and is not written yet. */
  readonly onRead: (inHand: InHand) => void;
}

export interface RunOptions {
  /** Of a mirror that is migrated, and empty. */
  readonly session: Session;
  readonly trace?: (line: string) => void;
}

/** Several things are under way at once here, and each of them must have got as far as it can. */
const QUIET_TURNS = 3;

export function setStage(schedule: Schedule, { session, trace }: RunOptions): Stage {
  const random = randomFrom('outbound run', schedule.seed);
  const timeline = createTimeline({
    ...{ random, together: schedule.together, togetherWithinMs: 2_000, quietTurns: QUIET_TURNS },
  });
  const say = (line: string): void => trace?.(`${timeline.nowMs()} ${line}`);
  const observed = watchedSession(session, timeline, { left: null, isOver: false }); // Time waits for whoever uses it.
  const services = schedule.kinds.map((plan) => openService(plan, { random, timeline, say }));
  const stage: Stage = {
    ...{
      schedule,
      random,
      timeline,
      session: observed,
      services,
      alsoServed: [],
      kinds: services.map(({ world }) => world.kind),
    },
    rules: RULES,
    pullSettings: {},
    ...{ mark: createMark(), wakeUp: createWakeUp(timeline), sends: [], pulls: [], intents: new Map() },
    ...{ dead: new Set(), remains: [], barred: new Set(), isCalm: false, isOver: false, say },
    ...planDeaths(schedule, random, () => stage),
    reads: { faults: schedule.readFaults, churn: 0, changes: [], slowestMs: schedule.slowestMs },
    fail: (error) => {
      throw error;
    },
    onRead: ({ entry }) => {
      editInWindow(stage, entry);
    },
  };
  return stage;
}

function openService(
  { name, rows, isNewestFirst, pageSize, hasMeta, shape, normalizer }: Schedule['kinds'][number],
  { random, timeline, say }: Pick<Stage, 'random' | 'timeline' | 'say'>,
): Service {
  const kind = listedKind(name);
  const world = createWritableWorld({ kind, isNewestFirst, random, nowMs: timeline.nowMs, onChange: say });
  for (let row = 1; row <= rows; row++)
    world.create(storedFields(kind, SHAPES[name].create(`0${row}`, random), normalizer), 'before');
  const served = { world, paging: { size: pageSize, hasMeta }, lie: {}, retrieve: undefined };
  return { name, world, served, shape, normalizer };
}

function planDeaths(
  schedule: Schedule,
  random: Random,
  stage: () => Stage,
): Pick<Stage, 'crashes' | 'pauses' | 'dying'> {
  const left = schedule.crashes.map(({ at, nth }) => ({ at, nth }));
  let pauses = schedule.pauses;
  const reached = new Set<CrashPoint>();
  return {
    crashes: {
      reached,
      isLast: (point) => {
        const due = left.find(({ at }) => at === point);
        if (due === undefined || --due.nth > 0) return false;
        left.splice(left.indexOf(due), 1);
        reached.add(point);
        return true;
      },
    },
    pauses: { takes: () => pauses > 0 && random.chance(0.5) && pauses-- > 0 },
    dying: {
      take: (life) => {
        if (!stage().isCalm && schedule.crashes.length > 0 && random.chance(0.1))
          life.left = random.integer(1, 80);
      },
    },
  };
}

/** A person edits the record that an update of ours has just read. */
function editInWindow({ schedule, random, services, intents, timeline, isCalm }: Stage, entry: number): void {
  const intent = intents.get(entry);
  const service = services.find(({ name }) => name === intent?.kind);
  if (isCalm || typeof intent?.recordId !== 'string' || !service || !random.chance(schedule.windowEdits))
    return;
  const { recordId } = intent;
  const { editable } = SHAPES[service.name];
  const [field, value] = random.pick(Object.entries(editable));
  timeline.after(random.integer(1, schedule.slowestMs), () => {
    const body = { [field]: value(`w${random.digits(4)}`, random) };
    service.world.edit(recordId, storedFields(service.world.kind, body, service.normalizer), 'person');
  });
}
