import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { Listed, World } from './world.ts';

/** What a list request asks for. */
export interface Asked {
  readonly page: number;
  /** Null where the request names no size. */
  readonly perPage: number | null;
}

/** One answer in the making: an honest service's, until a personality has its way with it. */
export interface PageDraft extends Asked {
  /** Every row of the list at the instant of reading. */
  readonly list: readonly Listed[];
  /** Rows before the page, and rows that it takes. */
  readonly offset: number;
  readonly size: number;
  /** The rows on the page. */
  readonly rows: readonly Listed[];
  readonly total: number;
  /** What stands in `meta`; undefined = no `meta`. */
  readonly meta: unknown;
  /** What stands in `data`, where it is not the rows. */
  readonly data?: string;
}

/** Where and when a page is read. */
export interface Scene {
  readonly world: World;
  readonly nowMs: number;
  /** A chance of the schedule's own. */
  readonly random: Random;
}

/**
 * A way of lying: each part sees what the one before has left, in the order list, total, place, rows, meta, data.
 */
export interface Lie {
  readonly list?: (list: readonly Listed[], scene: Scene) => readonly Listed[];
  readonly total?: (total: number, scene: Scene) => number;
  /** Which rows of the list the page shows. */
  readonly place?: (draft: PageDraft, scene: Scene) => Partial<PageDraft>;
  readonly rows?: (draft: PageDraft, scene: Scene) => readonly Listed[];
  readonly meta?: (meta: HonestMeta, draft: PageDraft, scene: Scene) => unknown;
  readonly data?: (draft: PageDraft, scene: Scene) => string | undefined;
}

export interface HonestMeta {
  readonly current_page: number;
  readonly last_page: number;
  readonly per_page: number;
  readonly total: number;
}

/** How a list is cut into pages. */
export interface Paging {
  /** Rows on a page whatever is asked for; Infinity for a list that comes whole. */
  readonly size: number;
  readonly hasMeta: boolean;
}

/** Reads the rows of a page at the scene's instant; `meta` is made later, as of another instant. */
export function readRows(
  paging: Paging,
  asked: Asked,
  { lie, scene }: { lie: Lie; scene: Scene },
): PageDraft {
  const truth = scene.world.listAt(scene.nowMs);
  const list = lie.list?.(truth, scene) ?? truth;
  const size = Math.min(paging.size, asked.perPage ?? Infinity);
  const offset = asked.page === 1 ? 0 : (asked.page - 1) * size;
  const rows: readonly Listed[] = [];
  const plain: PageDraft = { ...asked, list, offset, size, rows, total: 0, meta: undefined };
  const placed = { ...plain, ...lie.place?.(plain, scene) };
  const cut = { ...placed, rows: list.slice(placed.offset, placed.offset + placed.size) };
  return { ...cut, rows: lie.rows?.(cut, scene) ?? cut.rows };
}

/** Adds what the answer says about the list, as of the scene's instant. */
export function addMeta(
  paging: Paging,
  draft: PageDraft,
  { lie, scene }: { lie: Lie; scene: Scene },
): PageDraft {
  const counted = (lie.list?.(scene.world.listAt(scene.nowMs), scene) ?? scene.world.listAt(scene.nowMs))
    .length;
  const total = lie.total?.(counted, scene) ?? counted;
  const size = Number.isFinite(paging.size) ? paging.size : 500;
  const honest: HonestMeta = {
    current_page: draft.page,
    last_page: Math.max(1, Math.ceil(total / size)),
    per_page: size,
    total,
  };
  const meta = lie.meta ? lie.meta(honest, draft, scene) : paging.hasMeta ? honest : undefined;
  const data = lie.data?.(draft, scene);
  return { ...draft, total, meta, ...(data !== undefined && { data }) };
}

export function listBody({ rows, meta, data }: PageDraft): string {
  const records = data ?? `[${rows.map(({ text }) => text).join(',')}]`;
  return `{"data":${records}${meta === undefined ? '' : `,"meta":${JSON.stringify(meta)}`},"success":true}`;
}
