import { kindNamed } from '../../src/catalog/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { setStage } from '../outbound-simulation/stage.ts';
import type { Service, Stage } from '../outbound-simulation/stage.ts';
import type { Doer } from '../outbound-simulation/writable-world.ts';
import { storedFields } from '../outbound-simulation/written-value.ts';
import type { Cell } from '../simulation/records.ts';
import type { KindPlan } from '../simulation/schedule.ts';
import type { ServedKind } from '../simulation/service.ts';
import { createWorld } from '../simulation/world.ts';
import { PATIENCE_SECONDS, outboundSchedule } from './plan.ts';
import type { SoakPlan } from './plan.ts';
import { countLine, noTally } from './tally.ts';
import type { Tally } from './tally.ts';
import { createWeather } from './weather.ts';
import type { Weather } from './weather.ts';

/** A long life in progress: the outbox's simulated world, and beside it a list that is only read. */
export interface Soak {
  readonly plan: SoakPlan;
  readonly stage: Stage;
  readonly read: ServedKind;
  readonly readPlan: KindPlan;
  readonly weather: Weather;
  readonly tally: Tally;
  readonly today: Today;
}

/**
 * On some days applications push creates that are equal in every field, on the others a person decides at night: who retries
 * what the service says to have refused, and has done, can only guess which of two equal creates it was.
 */
export interface Today {
  hasEquals: boolean;
}

export interface SoakOptions {
  /** Of a mirror that is migrated, and empty. */
  readonly session: Session;
  readonly trace?: (line: string) => void;
}

export function setSoak(plan: SoakPlan, { session, trace }: SoakOptions): Soak {
  const tally = noTally();
  const [outbound, today] = [outboundSchedule(plan), { hasEquals: false }];
  let troubles = (): number => outbound.troubles;
  const schedule = {
    ...outbound,
    get troubles() {
      return troubles();
    },
    get equals() {
      return today.hasEquals ? outbound.equals : 0;
    },
  };
  const stage = setStage(schedule, {
    session,
    trace: (line) => {
      countLine(tally, line.slice(line.indexOf(' ') + 1));
      trace?.(line);
    },
  });
  for (const service of stage.services) takeOnlyField(stage, service);
  const readPlan = planOfRead(plan);
  const read = serve(stage, readPlan);
  const { nowMs } = stage.timeline;
  const weather = createWeather({ plan, read, nowMs, isCalm: () => stage.isCalm });
  troubles = weather.troubles;
  Object.assign(stage, {
    alsoServed: [read],
    kinds: [...stage.kinds, readPlan.kind],
    rules: { ...stage.rules, patienceSeconds: PATIENCE_SECONDS },
    pullSettings: PULL_SETTINGS,
    reads: weather.reads,
  });
  return { plan, stage, read, readPlan, weather, tally, today };
}

/**
 * A service may ignore a field of a create, but not the only one. The record that it would make has nothing of what was sent
 * (a brand has a name, and no more): nobody could know it again, and an update of it days later has nothing to go by.
 */
function takeOnlyField({ sends }: Stage, { world, normalizer }: Service): void {
  const create = world.create.bind(world);
  Object.assign(world, {
    create: (cells: ReadonlyMap<string, Cell>, doer: Doer) => {
      const body = typeof doer === 'object' ? (sends[doer.send]?.body ?? {}) : {};
      return create(cells.size > 0 ? cells : storedFields(world.kind, body, normalizer), doer);
    },
  });
}

/** What is kept is gone before the week is; a person is asked about mass deletions, as by default. */
const PULL_SETTINGS: Stage['pullSettings'] = {
  retention: { runsDays: 1, changesDays: 2, outboxDays: 2, issuesDays: 2, deliveriesDays: 2 },
  deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } },
};

function planOfRead({ rows }: SoakPlan): KindPlan {
  const kind = kindNamed('departments');
  if (kind === undefined || !isListed(kind)) throw new TypeError('The catalogue lists no departments.');
  const paging = { size: 10, hasMeta: true };
  return { kind, rows, paging, order: 'rank', largeIds: true, personality: 'hideRestore' };
}

function serve({ random, timeline, say }: Stage, plan: KindPlan): ServedKind {
  const world = createWorld(plan, { random, nowMs: timeline.nowMs, onChange: say });
  return { world, paging: plan.paging, lie: {}, retrieve: undefined };
}
