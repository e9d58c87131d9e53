import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { HonestMeta, Lie, PageDraft } from './list-page.ts';
import type { Change, Listed } from './world.ts';

/** A service that lies in one way, by its hazard in the catalogue. */
export interface Personality {
  readonly hazard: string;
  /**
   * What may be asked of the mirror while the service lies, once nothing else is wrong: `rows` = it holds every row;
   * `nothing` = only that no row is taken for deleted.
   */
  readonly promise: 'rows' | 'nothing';
  /** Changes that this service makes beside the usual ones. */
  readonly changes?: readonly Change[];
  /** The only changes that this service makes. */
  readonly only?: readonly Change[];
  /** A lie may remember; so each schedule makes its own. */
  readonly lie: (random: Random) => Lie;
  /** What its retrieve path answers. */
  readonly retrieve?: RetrieveLie;
  /** Where the lie would be no lie without it. */
  readonly needs?: {
    readonly retrieve?: boolean;
    readonly meta?: boolean;
    readonly atLeastRows?: number;
    /** The mirror held all there was when the lie began. */
    readonly wholeMirror?: boolean;
  };
}

/** `gone`: no record is ever found. `web page`: a proxy answers for every record that the list does not show. */
export type RetrieveLie = 'gone' | 'web page';

const MINUTE = 60_000;

export const PERSONALITIES = {
  honest: { hazard: '–', promise: 'rows', lie: () => ({}) },

  unstableTies: {
    hazard: 'A05',
    promise: 'nothing',
    lie: () => ({ list: (list, { random }) => shuffledTies(list, random) }),
  },

  ignorePage: {
    hazard: 'A06',
    promise: 'nothing',
    lie: (random) => {
      const saysSo = random.chance(0.5);
      return {
        place: () => ({ offset: 0 }),
        meta: (meta) => (saysSo ? { ...meta, current_page: 1 } : meta),
      };
    },
  },

  clampToLast: {
    hazard: 'A07',
    promise: 'nothing',
    lie: (random) => {
      const saysSo = random.chance(0.5);
      const shown = ({ page, list, size }: PageDraft): number =>
        Math.min(page, lastPageOf(list.length, size));
      return {
        place: (draft) => ({ offset: shown(draft) === 1 ? 0 : (shown(draft) - 1) * draft.size }),
        meta: (meta, draft) => (saysSo ? { ...meta, current_page: shown(draft) } : meta),
      };
    },
  },

  clampedPerPage: {
    hazard: 'A08',
    promise: 'rows',
    lie: (random) => {
      const [claimed, lastPage] = [random.pick([100, 25, 500]), random.chance(0.5)];
      return {
        meta: (meta) => ({
          ...meta,
          per_page: claimed,
          ...(lastPage && { last_page: lastPageOf(meta.total, claimed) }),
        }),
      };
    },
  },

  clampOutputOnly: {
    hazard: 'A09',
    promise: 'nothing',
    lie: () => ({ place: ({ page, size }) => ({ offset: page === 1 ? 0 : (page - 1) * size * 2 }) }),
  },

  staleTotal: {
    hazard: 'A11',
    promise: 'rows',
    lie: (random) => {
      const lag = random.pick([2_000, 30_000, 5 * MINUTE, 60 * MINUTE]);
      return { total: (_total, { world, nowMs }) => world.listAt(Math.max(0, nowMs - lag)).length };
    },
  },

  archivedInTotal: {
    hazard: 'A12',
    promise: 'rows',
    lie: (random) => {
      const archived = random.integer(1, 12);
      return { total: (total) => total + archived };
    },
  },

  lastPageLies: {
    hazard: 'A13',
    promise: 'nothing',
    lie: (random) => {
      const lies: readonly unknown[] = [0, -1, 1, 2, 40, '3', '', null, 1.5, 'last', true, [], 1e21];
      const fixed = random.pick(lies);
      const flickers = random.chance(0.3);
      return {
        meta: (meta, _draft, scene) => ({ ...meta, last_page: flickers ? scene.random.pick(lies) : fixed }),
      };
    },
  },

  noMeta: { hazard: 'A14', promise: 'rows', needs: { meta: false }, lie: () => ({}) },

  badMeta: {
    hazard: 'A15',
    promise: 'nothing',
    lie: (random) => {
      const shapes: readonly ((meta: HonestMeta) => unknown)[] = [
        (meta) =>
          Object.fromEntries(
            Object.entries<number>({ ...meta }).map(([name, value]) => [name, String(value)]),
          ),
        (meta) =>
          Object.fromEntries(Object.entries<number>({ ...meta }).map(([name, value]) => [name, { value }])),
        ({ total }) => ({ count: total, pages: 3 }),
        () => [],
        () => [{ total: 0 }],
        () => null,
        () => 'none',
        (meta) => ({ ...meta, total: -1 }),
        (meta) => ({ ...meta, current_page: null, per_page: '0' }),
      ];
      const shape = random.pick(shapes);
      return { meta: (meta) => shape(meta) };
    },
  },

  holes: {
    hazard: 'A16',
    promise: 'rows',
    needs: { atLeastRows: 15 },
    lie: (random) => {
      const [every, isCounted] = [random.integer(3, 9), random.chance(0.5)];
      const isHole = (at: number): boolean => at >= 10 && at % every === 0; // A hole on page 1 makes the list unreadable.
      return {
        // Every so often a place in the list is taken by a row that is filtered out after the page was cut.
        list: (list) => list.flatMap((row, at) => (isHole(at) ? [HOLE, row] : [row])),
        rows: ({ rows }) => rows.filter((row) => row !== HOLE),
        total: (total, scene) => (isCounted ? total : scene.world.listAt(scene.nowMs).length),
      };
    },
  },

  longerPage: {
    hazard: 'A17',
    promise: 'nothing',
    lie: (random) => {
      const often = random.pick([0.1, 0.5]);
      return {
        rows: ({ list, offset, size, page }, scene) =>
          list.slice(offset, offset + size + (page > 1 && scene.random.chance(often) ? 1 : 0)),
      };
    },
  },

  duplicateIds: {
    hazard: 'A18',
    promise: 'nothing',
    lie: (random) => {
      const isEqual = random.chance(0.3);
      return { rows: ({ rows }, scene) => withDuplicate(rows, { isEqual, random: scene.random }) };
    },
  },

  emptyAll: {
    hazard: 'A20',
    promise: 'nothing',
    needs: { retrieve: false },
    lie: (random) => {
      const dark = darkness(random, 30 * MINUTE);
      const isNull = random.chance(0.3);
      return {
        list: (list, { nowMs }) => (dark(nowMs) ? [] : list),
        data: (_draft, { nowMs }) => (dark(nowMs) && isNull ? 'null' : undefined),
      };
    },
  },

  laggingList: {
    hazard: 'A27',
    promise: 'nothing',
    lie: (random) => {
      const lag = random.pick([300, 2_000, 10_000]);
      return { list: (_list, { world, nowMs }) => world.listAt(Math.max(0, nowMs - lag)) };
    },
  },

  hideRestore: { hazard: 'A28', promise: 'nothing', changes: ['hide', 'hide', 'restore'], lie: () => ({}) },

  blink: {
    hazard: 'R1',
    promise: 'nothing',
    lie: (random) => {
      const dark = episode(random, 10 * MINUTE); // Shorter than the grace: whoever looks twice is not taken in.
      const every = random.integer(2, 9);
      return { list: (list, { nowMs }) => (dark(nowMs) ? list.filter((_row, at) => at % every > 0) : list) };
    },
  },

  silentCap: {
    hazard: 'A32',
    promise: 'nothing',
    // One row pushed out at a time would look like any deletion where the total agrees and no record can be asked for.
    only: ['edit', 'respell'],
    needs: { atLeastRows: 20, wholeMirror: true },
    lie: (random) => {
      const dark = darkness(random, 60 * MINUTE);
      return { list: (list, { nowMs }) => (nowMs > 50 * MINUTE && dark(nowMs) ? list.slice(0, 10) : list) };
    },
  },

  infinitePages: {
    hazard: 'A33',
    promise: 'nothing',
    lie: (random) => {
      const says = random.chance(0.5);
      return {
        place: ({ page, size, list }) => ({
          offset: list.length === 0 ? 0 : ((page - 1) * size) % list.length,
        }),
        meta: (meta, { page }) => (says ? { ...meta, last_page: page + 1 } : undefined),
      };
    },
  },

  retrieveSaysGone: {
    hazard: 'R1',
    promise: 'nothing',
    retrieve: 'gone',
    only: ['insert', 'edit'],
    needs: { retrieve: true, atLeastRows: 12 },
    lie: (random) => {
      const dark = episode(random, 25 * MINUTE); // Two sweeps at most: a third lesson would make the path unusable.
      return { list: (list, { nowMs }) => (dark(nowMs) ? list.slice(0, -3) : list) };
    },
  },

  retrieveIsWebPage: {
    hazard: 'B02',
    promise: 'nothing',
    retrieve: 'web page',
    needs: { retrieve: true, atLeastRows: 12 },
    lie: (random) => {
      const dark = darkness(random, 60 * MINUTE);
      return { list: (list, { nowMs }) => (dark(nowMs) ? list.slice(0, -3) : list) };
    },
  },
} as const satisfies Record<string, Personality>;

export type PersonalityName = keyof typeof PERSONALITIES;

export const personality = (name: PersonalityName): Personality => PERSONALITIES[name];

/** Where a row stands that no page shows. */
const HOLE: Listed = { id: '', key: '', text: '' };

const lastPageOf = (rows: number, size: number): number => Math.max(1, Math.ceil(rows / size));

/** Tells when the service misbehaves: first after a while, then on and off, up to `longestMs` at a time. */
function darkness(random: Random, longestMs: number): (nowMs: number) => boolean {
  const edges: number[] = [];
  let at = random.integer(0, 60 * MINUTE);
  for (let turn = 0; turn < 200; turn++) {
    edges.push(at);
    at += random.integer(1_000, longestMs);
  }
  return (nowMs) => edges.filter((edge) => edge <= nowMs).length % 2 === 1;
}

/** The same, once. */
function episode(random: Random, lengthMs: number): (nowMs: number) => boolean {
  const from = random.integer(0, 90 * MINUTE);
  return (nowMs) => nowMs >= from && nowMs < from + lengthMs;
}

function shuffledTies(list: readonly Listed[], random: Random): readonly Listed[] {
  const groups = list.map((row, at) => ({ row, group: Math.floor(at / 7), chance: random.integer(0, 1e6) }));
  return groups.sort((a, b) => a.group - b.group || a.chance - b.chance).map(({ row }) => row);
}

function withDuplicate(
  rows: readonly Listed[],
  { isEqual, random }: { readonly isEqual: boolean; readonly random: Random },
): readonly Listed[] {
  const [twin] = rows;
  if (twin === undefined || rows.length < 2 || random.chance(0.5)) return rows;
  const text = isEqual ? twin.text : twin.text.replace(/v\d+/, 'v0');
  return [...rows.slice(0, -1), { ...twin, text }];
}
