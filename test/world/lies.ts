import type { Random } from '../../sandbox/generate/draw.ts';
import { failure, json, type Answer } from './answers.ts';
import type { Row } from './records.ts';

/** How a service lies about the records that it has; the truth is in its `Records` all the same. */
export interface Lie {
  /** The rows that its lists are made of at an instant. */
  readonly rows?: (rows: readonly Row[], atMs: number) => readonly Row[];
  /** What it makes of a page that it was asked for. */
  readonly page?: (page: Page, asked: AskedPage) => Page;
  /** What it says of any single record, or of the ones that its lists do not show. */
  readonly record?: (atMs: number, isShown: boolean) => Answer | null;
}

export interface Page {
  readonly data: readonly unknown[] | null;
  readonly meta?: unknown;
  readonly success: boolean;
}

interface AskedPage {
  readonly page: number;
  readonly atMs: number;
}

const MINUTE = 60_000;
const GONE = failure(404, 'Record not found.');
const WEB_PAGE: Answer = {
  status: 404,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>404</title>',
};

/** Each lie may remember; so each history makes its own. */
export const LIES = {
  'lists are empty now and then': (random) => {
    const isDark = spells(random, 30 * MINUTE);
    return { rows: (rows, atMs) => (isDark(atMs) ? [] : rows) };
  },
  'data is null now and then': (random) => {
    const isDark = spells(random, 30 * MINUTE);
    return { page: (page, { atMs }) => (isDark(atMs) ? { ...page, data: null } : page) };
  },
  // Shorter than the grace: anyone who looks twice is not taken in.
  'rows are missing for some minutes': (random) => {
    const isDark = spell(random, 10 * MINUTE);
    const every = random.integer(2, 9);
    return { rows: (rows, atMs) => (isDark(atMs) ? rows.filter((_row, at) => at % every > 0) : rows) };
  },
  // Two sweeps at most: a third would make the path unusable.
  'the last rows are missing, and no record is ever found': (random) => {
    const isDark = spell(random, 25 * MINUTE);
    return { rows: (rows, atMs) => (isDark(atMs) ? rows.slice(0, -3) : rows), record: () => GONE };
  },
  'the last rows are missing, and a web page answers for them': (random) => {
    const isDark = spells(random, 60 * MINUTE);
    return {
      rows: (rows, atMs) => (isDark(atMs) ? rows.slice(0, -3) : rows),
      record: (atMs, isShown) => (isDark(atMs) && !isShown ? WEB_PAGE : null),
    };
  },
  'rows are filtered out after pages were cut': (random) => {
    const every = random.integer(3, 9);
    return { page: (page, { page: asked }) => (asked > 1 ? shortened(page, every) : page) };
  },
  'page 2 is empty': () => ({
    page: (page, { page: asked }) => (asked === 2 ? { ...page, data: [] } : page),
  }),
  'every page is cut to half': () => ({
    page: (page) => ({ ...page, data: page.data?.slice(0, Math.ceil(page.data.length / 2)) ?? null }),
  }),
  'the last page is page 1': () => ({
    page: (page) => ({
      ...page,
      meta: { current_page: 1, last_page: 1, per_page: 100, total: page.data?.length },
    }),
  }),
  'a row comes twice on its page, in two versions': () => ({
    page: (page) => ({ ...page, data: twice(page.data ?? []) }),
  }),
  'last_page is anything': (random) => ({
    page: (page) => ({
      ...page,
      meta: {
        ...(page.meta as object),
        last_page: random.pick<unknown>([0, -1, 1, 40, '3', '', null, 1.5, 'last', true, [], 1e21]),
      },
    }),
  }),
  'meta is anything': (random) => {
    const meta = random.pick<unknown>([[], [{ total: 0 }], null, 'none', { count: 9 }, { total: -1 }]);
    return { page: (page) => ({ ...page, meta }) };
  },
} satisfies Readonly<Record<string, (random: Random) => Lie>>;

export type LieName = keyof typeof LIES;

function shortened(page: Page, every: number): Page {
  return { ...page, data: page.data?.filter((_row, at) => at % every > 0) ?? null };
}

function twice(rows: readonly unknown[]): readonly unknown[] {
  const [first] = rows;
  return rows.length < 2 ? rows : [...rows.slice(0, -1), { ...(first as object), phone: 'another' }];
}

/** A page as a lying service sends it. */
export function liedPage(answer: Answer, lie: Lie, asked: AskedPage): Answer {
  if (lie.page === undefined || answer.status !== 200) return answer;
  return json(200, JSON.stringify(lie.page(JSON.parse(answer.body) as Page, asked)));
}

/** Reports when a service misbehaves: first after a while, then on and off, up to `longestMs` at a time. */
function spells(random: Random, longestMs: number): (atMs: number) => boolean {
  const edges: number[] = [];
  let at = random.integer(15 * MINUTE, 60 * MINUTE);
  for (let turn = 0; turn < 200; turn++) {
    edges.push(at);
    at += random.integer(1_000, longestMs);
  }
  return (atMs) => edges.filter((edge) => edge <= atMs).length % 2 === 1;
}

/** The same, once. */
function spell(random: Random, lengthMs: number): (atMs: number) => boolean {
  const fromMs = random.integer(15 * MINUTE, 90 * MINUTE);
  return (atMs) => atMs >= fromMs && atMs < fromMs + lengthMs;
}
