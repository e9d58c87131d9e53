import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { NetworkPlan } from '../simulation/network.ts';
import { ANSWER_SHAPES } from './answers.ts';
import type { AnswerShape } from './answers.ts';
import { CRASH_POINTS } from './crash-points.ts';
import type { CrashPoint } from './crash-points.ts';
import { FAULTS } from './fates.ts';
import type { Fate } from './fates.ts';
import type { KindName } from './shapes.ts';
import { NORMALIZERS } from './written-value.ts';
import type { Normalizer } from './written-value.ts';

/** Everything that a seed decides: the service, what people and applications do, and what goes wrong. */
export interface Schedule {
  readonly seed: number;
  readonly kinds: readonly KindPlan[];
  /** How long things go wrong. */
  readonly busyMs: number;
  /** When most of it happens at once. */
  readonly rush: { readonly share: number; readonly atMs: number; readonly forMs: number };
  readonly creates: number;
  readonly updates: number;
  /** Edits, creates and deletes by people who know nothing of us. */
  readonly peoplesActs: number;
  /** Sweeps that nobody has asked for. */
  readonly sweeps: number;
  readonly workers: number;
  /** Share of the writes that meet a fault. */
  readonly troubles: number;
  /** Which faults. */
  readonly faults: readonly Fate[];
  readonly readFaults: NetworkPlan['faults'];
  readonly slowestMs: number;
  readonly slowestWriteMs: number;
  /** The latest that a write is done after its answer was given up. */
  readonly latestCommitMs: number;
  /** Whether something on the way sends what was sent once more. */
  readonly replays: boolean;
  /** Share of the creates of which a person makes a look-alike. */
  readonly lookAlikes: number;
  /** Share of the creates that a person makes too, equal in every field. */
  readonly strangers: number;
  /** Share of the creates that are equal in every field to a record that the mirror knows. */
  readonly precedents: number;
  /** Share of the creates that are equal to an earlier one. */
  readonly equals: number;
  /** Share of the updates whose fields a person changes too. */
  readonly conflicts: number;
  /** Share of the updates during whose work, between its reading and its writing, a person edits the record. */
  readonly windowEdits: number;
  /** Times in which the token may not write. */
  readonly barredSpells: number;
  readonly crashes: readonly Crash[];
  /** Processes that stop in the middle of a send for so long that they are taken for dead. */
  readonly pauses: number;
  readonly together: number;
  /** Whether a person decides about what is parked or rejected at the end. */
  readonly decides: boolean;
}

/** A process dies when it comes to this point for the nth time. */
export interface Crash {
  readonly at: CrashPoint;
  readonly nth: number;
}

export interface KindPlan {
  readonly name: KindName;
  readonly rows: number;
  readonly isNewestFirst: boolean;
  /** Infinity for a list that comes whole. */
  readonly pageSize: number;
  readonly hasMeta: boolean;
  readonly shape: AnswerShape;
  readonly normalizer: Normalizer;
}

const MINUTE = 60_000;
const KINDS: readonly KindName[] = ['clients', 'clients', 'punches', 'purchase_products', 'vehicle_brands'];

export function scheduleOf(seed: number, fixed: Partial<Schedule> = {}): Schedule {
  const random = randomFrom('outbound schedule', seed);
  const kinds = planKinds(random);
  return {
    ...{ seed, kinds, busyMs: random.integer(10, 90) * MINUTE },
    rush: {
      ...{ share: random.pick([0, 0.8, 1, 1]), atMs: random.integer(0, 10 * MINUTE) },
      forMs: random.pick([50, 1_000, 4_000, 8_000, 60_000]),
    },
    ...{ creates: random.integer(1, 3), updates: random.pick([0, 1, 1, 2]) },
    ...{ peoplesActs: random.pick([0, 1, 3, 6]), sweeps: random.pick([0, 1, 2]) },
    ...{ workers: random.chance(0.3) ? 2 : 1, troubles: random.pick([0, 0.2, 0.4, 0.7]) },
    faults: FAULTS,
    readFaults: { passing: random.pick([0, 0, 0.05, 0.15]), nonsense: random.pick([0, 0, 0, 0.02]) },
    slowestMs: random.pick([20, 200, 2_000]),
    slowestWriteMs: random.pick([20, 200, 2_000]),
    latestCommitMs: 180 * MINUTE,
    ...{ replays: false, strangers: 0, precedents: 0 },
    lookAlikes: random.pick([0, 0.01, 0.1, 0.3]),
    equals: random.pick([0, 0, 0.3]),
    conflicts: random.pick([0, 0, 0.3]),
    windowEdits: random.pick([0, 0, 0.2]),
    barredSpells: random.chance(0.1) ? 1 : 0,
    crashes: planCrashes(random),
    pauses: random.chance(0.15) ? 1 : 0,
    together: random.pick([0, 0.1, 0.5]),
    decides: random.chance(0.3),
    ...fixed,
  };
}

function planKinds(random: Random): KindPlan[] {
  const names = new Set([random.pick(KINDS), ...(random.chance(0.1) ? [random.pick(KINDS)] : [])]);
  return [...names].map((name) => {
    const comesWhole = name !== 'clients' && random.chance(0.3);
    return {
      // A list that comes whole, without a word of its length, proves nothing where it has as many rows as a page may have.
      ...{ name, rows: comesWhole ? random.integer(11, 14) : random.integer(2, 9) },
      isNewestFirst: random.chance(0.5),
      pageSize: comesWhole ? Infinity : random.pick([3, 5, 10, 10]),
      hasMeta: !comesWhole,
      shape: random.pick(ANSWER_SHAPES),
      normalizer: random.chance(0.6) ? 'none' : random.pick(NORMALIZERS),
    };
  });
}

/** Every named point of the work has its turn. */
function planCrashes(random: Random): Crash[] {
  const count = random.pick([0, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => ({
    at: random.pick(CRASH_POINTS),
    nth: random.pick([1, 1, 1, 2, 3]),
  }));
}
