import { kindNamed } from '../../src/catalog/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { Paging } from './list-page.ts';
import { USUAL_CHANGES } from './network.ts';
import type { NetworkPlan } from './network.ts';
import { PERSONALITIES, personality } from './personalities.ts';
import type { Personality, PersonalityName } from './personalities.ts';
import type { Order, WorldPlan } from './world.ts';

/** Everything that a seed decides: the service, what goes wrong, and how it is read. */
export interface Schedule {
  readonly seed: number;
  readonly kinds: readonly KindPlan[];
  readonly busy: NetworkPlan;
  /** Sweeps while the world changes and things go wrong: nothing false may be concluded. */
  readonly sweeps: number;
  /** Sweeps of a world at rest whose service still lies: what it promises must hold. */
  readonly quietSweeps: number;
  /** Waits before each sweep, in milliseconds; the last one is used from then on. */
  readonly gapsMs: readonly number[];
  /** Changes of the world in each wait. */
  readonly changesBetween: number;
  readonly concurrency: number;
  readonly graceSeconds: number;
  readonly holdAbove: { readonly rows: number; readonly share: number };
  readonly repeatBelowPages: number;
  /** Chance of answers that come in before the one before has been dealt with. */
  readonly together: number;
  /** Chance that a sweep's process dies, somewhere. */
  readonly kills: number;
  /** Chance that the clock is set back or forth between two sweeps. */
  readonly clockSteps: number;
}

export interface KindPlan extends WorldPlan {
  readonly paging: Paging;
  readonly personality: PersonalityName;
}

/** What a test fixes of a schedule; the seed decides the rest. */
export interface Fixed {
  readonly personality?: PersonalityName;
  readonly plan?: Partial<Schedule>;
  readonly kind?: Partial<KindPlan>;
}

const MINUTE = 60_000;
const NAMES = Object.keys(PERSONALITIES) as PersonalityName[];
const DEFAULT_HOLD = { rows: 5, share: 0.02 };
const NO_HOLD = { rows: 1_000_000, share: 1 };

export function scheduleOf(seed: number, fixed: Fixed = {}): Schedule {
  const random = randomFrom('schedule', seed);
  const name = fixed.personality ?? (random.chance(0.6) ? 'honest' : random.pick(NAMES));
  const kinds = [planKind(name, random, fixed)];
  if (random.chance(0.08)) kinds.push(...another(kinds[0]?.kind, random));
  return {
    ...{ seed, kinds, busy: planNetwork(personality(name), random) },
    ...planSweeps(name, random),
    ...planMishaps(personality(name), random),
    ...fixed.plan,
  };
}

function planSweeps(name: PersonalityName, random: Random) {
  const isHonest = name === 'honest';
  return {
    sweeps: random.integer(2, 5),
    quietSweeps: isHonest ? 0 : 2,
    gapsMs: Array.from({ length: 12 }, () => gap(random)),
    changesBetween: random.pick([0, 0, 1, 1, 2, 4]),
    concurrency: random.pick([1, 2, 4, 8]),
    graceSeconds: isHonest ? random.pick([0, 60, 900, 900]) : 900,
    holdAbove: isHonest && random.chance(0.7) ? NO_HOLD : DEFAULT_HOLD,
    repeatBelowPages: random.pick([0, 20, 20]),
  };
}

function planMishaps({ needs }: Personality, random: Random) {
  const mayDie = random.chance(0.15) && needs?.wholeMirror !== true;
  return {
    together: random.pick([0, 0.2, 0.5]),
    kills: mayDie ? 0.5 : 0,
    clockSteps: random.chance(0.1) ? 0.5 : 0,
  };
}

/** Now and then at once, mostly longer than the grace. */
function gap(random: Random): number {
  return random.chance(0.25) ? random.integer(1, 2 * MINUTE) : random.integer(16 * MINUTE, 45 * MINUTE);
}

function planNetwork({ changes = [], only }: Personality, random: Random): NetworkPlan {
  const usual = random.chance(0.2)
    ? [...USUAL_CHANGES, 're-sort' as const, 'detour' as const]
    : USUAL_CHANGES;
  return {
    faults: { passing: random.pick([0, 0, 0.05, 0.15]), nonsense: random.pick([0, 0, 0, 0.02]) },
    churn: random.pick([0, 0.05, 0.2, 0.6]),
    changes: only ?? [...usual, ...changes, ...changes],
    slowestMs: random.pick([20, 200, 2_000]),
  };
}

function planKind(name: PersonalityName, random: Random, fixed: Fixed): KindPlan {
  const { needs = {} } = personality(name);
  const kind = pickKind(random, needs);
  const least = needs.atLeastRows ?? 0;
  const tellsPages = needs.meta !== false && name !== 'badMeta';
  const comesWhole = kind.list.paging === 'by answer' && least === 0 && random.chance(0.25);
  return {
    kind,
    personality: name,
    order: pickOrder(kind, random),
    rows: random.integer(least, Math.max(least + 5, random.pick([12, 25, 25, 40]))),
    largeIds: random.chance(0.1),
    paging: {
      // Without a word of pages, only a round number of rows tells that there may be more.
      size: comesWhole ? Infinity : tellsPages ? random.pick([3, 5, 5, 10]) : 10,
      hasMeta: needs.meta ?? true,
    },
    ...fixed.kind,
  };
}

function pickKind(random: Random, { retrieve, meta }: NonNullable<Personality['needs']>): ListedKind {
  const names = ['clients', 'departments', 'punches', 'purchase_products'].filter((name) => {
    const isUsable = name === 'clients' || name === 'departments';
    return (retrieve ?? isUsable) === isUsable && (meta !== true || name !== 'punches');
  });
  return listedKind(random.pick(names));
}

function pickOrder(kind: ListedKind, random: Random): Order {
  if (kind.list.order === 'code') return 'code';
  return random.pick(['oldest first', 'newest first', 'rank']);
}

/** A second, honest kind beside the first: what goes wrong with one must not touch the other. */
function another(first: ListedKind | undefined, random: Random): KindPlan[] {
  return first?.name === 'clients'
    ? []
    : [{ ...planKind('honest', random, {}), kind: listedKind('clients'), order: 'code' }];
}

function listedKind(name: string): ListedKind {
  const kind = kindNamed(name);
  if (kind === undefined || !isListed(kind)) throw new TypeError(`The catalogue lists no ${name}.`);
  return kind;
}
