import { kindNamed } from '../../../src/catalog/catalog.ts';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import type { Random } from '../../../src/sandbox/generate/draw.ts';

/** A list of the simulated service: its order, its size, and what its answers tell. */
export interface ListPlan {
  readonly kind: string;
  readonly order: ListOrder;
  readonly pages: number;
  /** Whether answers tell how many rows there are. */
  readonly hasTotal: boolean;
}

/** Ten lists of 1 to 600 pages, 1,000 in all, in the orders of the documentation; punches come without `meta`. */
export const TEN_LISTS: readonly ListPlan[] = (
  [
    ['purchase_products', 600],
    ['products', 160],
    ['projects', 90],
    ['bookings', 60],
    ['clients', 50],
    ['providers', 20],
    ['punches', 10],
    ['vehicle_brands', 5],
    ['categories', 4],
    ['departments', 1],
  ] as const
).map(([kind, pages]) => ({
  ...{ kind, pages, hasTotal: kind !== 'punches' },
  order: kindNamed(kind)?.list?.order ?? 'unknown',
}));

export const ALL_PAGES = TEN_LISTS.reduce((sum, { pages }) => sum + pages, 0);
export const ROWS_A_PAGE = 25;

/** Events in a minute, all lists together; and how many of the updates fall on which share of the pages. */
export interface Churn {
  readonly creates: number;
  readonly deletions: number;
  readonly updates: number;
  readonly busy: { readonly ofUpdates: number; readonly ofPages: number };
}

export const NINE_IN_TEN: Churn = {
  ...{ creates: 2, deletions: 2, updates: 20 },
  busy: { ofUpdates: 0.9, ofPages: 0.1 },
};
export const EIGHT_IN_TEN: Churn = { ...NINE_IN_TEN, busy: { ofUpdates: 0.8, ofPages: 0.2 } };

/** One list of the service, with what the mirror has not seen yet of it. */
export interface SimulatedList {
  readonly plan: ListPlan;
  /** The records, in the order of the list. */
  readonly ids: string[];
  /** By record: when its updates happened that no reading has shown. */
  readonly updates: Map<string, number[]>;
  readonly created: Map<string, number>;
  readonly deleted: Map<string, number>;
}

export interface DelayWorld {
  readonly lists: readonly SimulatedList[];
  /** Lets happen what happens until an instant. */
  readonly advance: (toMs: number) => void;
}

/** Creates a world in which records come, change and go by chance, as often in each list as it has pages. */
export function createDelayWorld(plans: readonly ListPlan[], churn: Churn, random: Random): DelayWorld {
  let nextId = 1;
  const newId = (): string => String(nextId++);
  const lists = plans.map((plan): SimulatedList => {
    const ids = Array.from({ length: plan.pages * ROWS_A_PAGE - (plan.pages > 1 ? 7 : 0) }, newId);
    return { plan, ids, updates: new Map(), created: new Map(), deleted: new Map() };
  });
  const [busy, quiet] = [new Set<string>(), new Set<string>()];
  const homes = new Map<string, SimulatedList>();
  for (const list of lists)
    for (let page = 0; page < list.plan.pages; page++) {
      const isBusy = random.chance(churn.busy.ofPages);
      for (const id of list.ids.slice(page * ROWS_A_PAGE, (page + 1) * ROWS_A_PAGE)) {
        (isBusy ? busy : quiet).add(id);
        homes.set(id, list);
      }
    }
  const pick = pickers(random);
  const anyList = (): SimulatedList => {
    const all = lists.reduce((sum, { plan }) => sum + plan.pages, 0);
    let at = random.integer(0, all - 1);
    for (const list of lists) if ((at -= list.plan.pages) < 0) return list;
    throw new Error('no list');
  };
  const acts = {
    create: (atMs: number) => {
      const list = anyList();
      const id = newId();
      list.ids.splice(placeOfNew(list, random), 0, id);
      homes.set(id, list);
      quiet.add(id);
      list.created.set(id, atMs);
    },
    delete: (atMs: number) => {
      const list = anyList();
      const [id] = list.ids.splice(random.integer(0, list.ids.length - 1), 1);
      if (id === undefined) return;
      for (const all of [busy, quiet]) all.delete(id);
      homes.delete(id);
      list.updates.delete(id);
      if (!list.created.delete(id)) list.deleted.set(id, atMs);
    },
    update: (atMs: number) => {
      const id = pick(random.chance(churn.busy.ofUpdates) ? busy : quiet);
      const list = id === undefined ? undefined : homes.get(id);
      if (id === undefined || list === undefined || list.created.has(id)) return;
      list.updates.set(id, [...(list.updates.get(id) ?? []), atMs]);
    },
  };
  const sources = [
    { every: 60_000 / churn.creates, act: acts.create, next: 0 },
    { every: 60_000 / churn.deletions, act: acts.delete, next: 0 },
    { every: 60_000 / churn.updates, act: acts.update, next: 0 },
  ];
  const pause = (every: number): number =>
    -Math.log((random.integer(1, 1_000_000) - 0.5) / 1_000_000) * every;
  for (const source of sources) source.next = pause(source.every);
  return {
    lists,
    advance: (toMs) => {
      for (;;) {
        const first = sources.reduce((one, other) => (other.next < one.next ? other : one));
        if (first.next > toMs) return;
        first.act(first.next);
        first.next += pause(first.every);
      }
    },
  };
}

function placeOfNew({ plan, ids }: SimulatedList, random: Random): number {
  switch (plan.order) {
    case 'created, newest first':
      return 0;
    case 'pickup date, newest first':
      return Math.min(ids.length, random.integer(0, 2 * ROWS_A_PAGE)); // Mostly for the days to come.
    case 'code':
      return random.integer(0, ids.length);
    case 'created, oldest first':
    case 'unknown':
      return ids.length;
  }
}

/** Picks of a set that changes: members of a list, of which those that left are passed over. */
function pickers(random: Random): (set: Set<string>) => string | undefined {
  const drawn = new Map<Set<string>, string[]>();
  return (set) => {
    for (let tries = 0; ; tries++) {
      let members = drawn.get(set);
      if (members === undefined || tries > 50) drawn.set(set, (members = [...set]));
      if (members.length === 0) return undefined;
      const id = members[random.integer(0, members.length - 1)];
      if (id !== undefined && set.has(id)) return id;
    }
  };
}
