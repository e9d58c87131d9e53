import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_META, type Meta } from '../../../src/source/http/read-answer.ts';
import { SourceError } from '../../../src/source/http/errors.ts';
import type { PageResponse, ListEnd } from '../../../src/source/paging/page-checks.ts';
import { nextStep, reopenWalk, startWalk } from '../../../src/source/paging/page-walk.ts';
import type { PageWalk } from '../../../src/source/paging/walk-steps.ts';
import { tries } from '../../support/tiers.ts';

interface Reading {
  readonly asked: number[];
  readonly seen: Set<string>;
  readonly ends: { page: number; end: ListEnd }[];
  /** As the last response left it. */
  readonly walk: PageWalk;
}

type Service = (page: number) => PageResponse;

interface Options {
  readonly thorough?: boolean;
  readonly sizesVary?: boolean;
  readonly knownRows?: number;
  readonly maxWholeRows?: number;
}

function carryOut(service: Service, options: Options = {}): Reading {
  return follow(startWalk({ where: 'GET /list', thorough: false, sizesVary: true, ...options }), service);
}

/** Reads the list's end again, and the pages before it. */
const closing = ({ walk }: Reading, service: Service): Reading => follow(reopenWalk(walk), service);

function follow(start: PageWalk, service: Service): Reading {
  const reading: Omit<Reading, 'walk'> = { asked: [], seen: new Set(), ends: [] };
  let walk = start;
  while (walk.step.ask !== null) {
    const { from, to } = walk.step.ask;
    for (let page = from; page <= to; page++) {
      const response = service(page);
      reading.asked.push(page);
      walk = nextStep(walk, response);
      for (const key of response.keys) reading.seen.add(key);
      if (walk.end) reading.ends.push({ page, end: walk.end });
    }
  }
  return { ...reading, walk };
}

const ids = (rows: number): string[] => Array.from({ length: rows }, (_, index) => String(index + 1));

function metaOf(page: number, rowsPerPage: number, total: number): Meta {
  return {
    currentPage: page,
    lastPage: Math.max(1, Math.ceil(total / rowsPerPage)),
    perPage: rowsPerPage,
    total,
  };
}

/** A quiet list, read by pages of `rowsPerPage`. */
function paged(rows: readonly string[], rowsPerPage: number, withMeta = true): Service {
  return (page) => ({
    page,
    keys: rows.slice((page - 1) * rowsPerPage, page * rowsPerPage),
    meta: withMeta ? metaOf(page, rowsPerPage, rows.length) : NO_META,
  });
}

/** A list that is always answered whole. */
const unpaged =
  (rows: readonly string[], meta = NO_META): Service =>
  (page) => ({ page, keys: rows, meta });

/** A quiet list in pages of ten without `meta` and `links`. */
const bare = (rows: number): Service => paged(ids(rows), 10, false);

const withMeta =
  (service: Service, change: (meta: Meta, page: number) => Partial<Meta>): Service =>
  (page) => {
    const response = service(page);
    return { ...response, meta: { ...response.meta, ...change(response.meta, page) } };
  };

/** Beyond the end the last page again, with `current_page` as the service has it. */
function clamped(rows: readonly string[], rowsPerPage: number, honest: boolean): Service {
  const last = Math.max(1, Math.ceil(rows.length / rowsPerPage));
  return (page) => {
    const shown = Math.min(page, last);
    const { keys, meta } = paged(rows, rowsPerPage)(shown);
    return { page, keys, meta: { ...meta, currentPage: honest ? shown : page } };
  };
}

const reasonOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return (error as { reason?: unknown }).reason;
  }
  return 'no fault';
};

describe('any quiet list', () => {
  const lists = fc.record({
    rows: fc.nat(400),
    rowsPerPage: fc.integer({ min: 1, max: 100 }),
    thorough: fc.boolean(),
    meta: fc.boolean(),
    knownRows: fc.nat(400),
  });

  test('is seen whole, no page more than three times', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const { asked, seen } = carryOut(paged(ids(list.rows), list.rowsPerPage, list.meta), list);
        const times = Math.max(...asked.map((page) => asked.filter((other) => other === page).length));
        expect(seen.size).toBe(list.rows);
        expect(times).toBeLessThanOrEqual(4);
        const longest = list.meta ? list.rows : Math.max(list.rows, list.knownRows);
        expect(Math.max(...asked)).toBeLessThanOrEqual(
          Math.ceil(longest / Math.min(list.rowsPerPage, list.rows || 1)) + 2,
        );
      }),
      { numRuns: tries(2000) },
    );
  });

  test('is never said to have fewer rows than it has, and with meta is proved to the row', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const { ends } = carryOut(paged(ids(list.rows), list.rowsPerPage, list.meta), list);
        for (const { end } of ends) expect(end.rows).toBeGreaterThanOrEqual(list.rows);
        if (list.meta) expect(ends.map(({ end }) => end.rows)).toContain(list.rows);
      }),
      { numRuns: tries(2000) },
    );
  });

  test('that is answered whole is proved whole', () => {
    fc.assert(
      fc.property(fc.nat(400), fc.boolean(), (rows, thorough) => {
        const { seen, ends, asked } = carryOut(unpaged(ids(rows)), { thorough });
        expect(seen.size).toBe(rows);
        expect(ends.at(-1)?.end).toEqual({ rows });
        expect(asked.length).toBeLessThanOrEqual(2);
      }),
    );
  });

  test('whose meta is any nonsense ends or is refused, and is never proved short by arithmetic alone', () => {
    const number = fc.option(fc.integer({ min: 1, max: 300 }));
    const meta = fc.record({
      currentPage: fc.constant(null),
      lastPage: number,
      perPage: number,
      total: number,
    });
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), meta, (rows, rowsPerPage, lie) => {
        const service = withMeta(paged(ids(rows), rowsPerPage), () => lie);
        const reason = reasonOf(() => carryOut(service, { thorough: true }));
        expect(['no fault', 'endless', 'empty_pages', 'page_grew', 'page_ignored']).toContain(reason);
      }),
      { numRuns: tries(2000) },
    );
  });
});

describe('the order of a sweep', () => {
  test('page 1, the last page alone, then 1 to L-1', () => {
    expect(carryOut(paged(ids(35), 10)).asked).toEqual([1, 4, 1, 2, 3]);
  });

  test('a thorough sweep asks for the empty page as well', () => {
    expect(carryOut(paged(ids(35), 10), { thorough: true }).asked).toEqual([1, 4, 1, 2, 3, 5]);
  });

  test('a full last page is followed by one further request', () => {
    expect(carryOut(paged(ids(40), 10)).asked).toEqual([1, 4, 5, 1, 2, 3, 4]);
  });

  test('a one-page list is one request, and two when thorough', () => {
    expect(carryOut(paged(ids(7), 10)).asked).toEqual([1]);
    expect(carryOut(paged(ids(7), 10), { thorough: true }).asked).toEqual([1, 2]);
    expect(carryOut(paged([], 10)).asked).toEqual([1]);
  });

  test('A14: without meta a thorough sweep goes page after page until an empty one', () => {
    expect(carryOut(bare(35), { thorough: true }).asked).toEqual([1, 2, 3, 4, 5]);
  });

  test('without meta the end is looked for where the known rows end, and the page behind it is always asked for', () => {
    expect(carryOut(bare(35), { knownRows: 35 }).asked).toEqual([1, 4, 1, 2, 3, 5]);
    expect(carryOut(bare(40), { knownRows: 40 }).asked).toEqual([1, 4, 5, 1, 2, 3, 4]);
    expect(carryOut(bare(35), { knownRows: 12 }).asked).toEqual([1, 2, 3, 4, 1, 2, 3, 5]);
    expect(carryOut(bare(35), { knownRows: 52 }).asked).toEqual([1, 6, 5, 4, 1, 2, 3, 5]);
    expect(carryOut(bare(35), { knownRows: 400 }).asked).toEqual([1, 40, 39, 38, 37, 36, 2, 3, 4, 5]);
  });

  test('without meta a page that may be the whole list is read before and after the empty one', () => {
    for (const rows of [7, 10]) {
      const { asked, ends } = carryOut(bare(rows), { knownRows: rows });
      expect(asked).toEqual([1, 2, 1]);
      expect(ends).toEqual([{ page: 1, end: { rows } }]);
    }
  });

  test('without meta a one-page list that changes while it is read is not proved by an empty page 2', () => {
    for (const later of [['0', ...ids(7)], ['0', ...ids(6)], ids(6)]) {
      const reads = [ids(7), [], later];
      const service = (page: number): PageResponse => ({ page, keys: reads.shift() ?? [], meta: NO_META });
      expect(carryOut(service).ends).toEqual([]);
    }
  });

  test('without meta the service’s own 404 ends a list like an empty page, and is a fault before its end', () => {
    const missing = new SourceError('not_found', 'GET /list: got status 404');
    const service = (rows: number): Service => {
      const pages = bare(rows);
      return (page) => ({ ...pages(page), ...(pages(page).keys.length === 0 && { missing }) });
    };
    for (const rows of [7, 10, 35, 40])
      for (const options of [{ thorough: true }, { knownRows: rows }, { knownRows: rows + 30 }]) {
        const { asked, seen, ends } = carryOut(bare(rows), options);
        expect(carryOut(service(rows), options)).toMatchObject({ asked, seen, ends });
      }
    const gap: Service = (page) => (page === 2 ? { page, keys: [], meta: NO_META, missing } : bare(35)(page));
    expect(reasonOf(() => carryOut(gap, { knownRows: 35 }))).toBe('not_found');
    const counted: Service = (page) => (page === 4 ? { ...gap(2), page } : paged(ids(35), 10)(page));
    expect(reasonOf(() => carryOut(counted))).toBe('not_found');
    const byTotal = withMeta(paged(ids(35), 10), () => ({ lastPage: null }));
    const last: Service = (page) => (page === 4 ? { ...gap(2), page } : byTotal(page));
    expect(reasonOf(() => carryOut(last))).toBe('not_found');
  });

  test('links tell the end: a next that is null, but never one that is not', () => {
    const linked = (rows: number): Service => {
      return (page) => ({ ...bare(rows)(page), hasNext: page * 10 < rows });
    };
    expect(carryOut(linked(7))).toMatchObject({ asked: [1], ends: [{ page: 1, end: { rows: 7 } }] });
    expect(carryOut(linked(40), { knownRows: 40 }).asked).toEqual([1, 4, 1, 2, 3]);
    expect(carryOut(linked(40), { knownRows: 40 }).ends).toEqual([{ page: 4, end: { rows: 40 } }]);
    const whole: Service = (page) => ({ page, keys: ids(30), meta: NO_META, hasNext: true });
    expect(reasonOf(() => carryOut(whole))).toBe('page_ignored');
  });

  test('a list that ignores the page is asked again only when it is longer than ever, or may be one full page', () => {
    const asked = (rows: number, maxWholeRows: number) =>
      carryOut(unpaged(ids(rows)), { maxWholeRows, knownRows: rows }).asked;
    expect(asked(33, 0)).toEqual([1, 2]);
    expect(asked(33, 34)).toEqual([1]);
    expect(asked(35, 34)).toEqual([1, 2]);
    expect(asked(34, 34)).toEqual([1, 2]); // Else row 35 of pages of 34 would stay unseen.
    expect(asked(1_001, 1_001)).toEqual([1]);
    expect(carryOut(unpaged(ids(33))).walk.wholeListRows).toBe(33);
    expect(carryOut(bare(33)).walk.wholeListRows).toBeNull();
  });

  test('a list that shrank is followed to the page that it names', () => {
    const long = paged(ids(60), 10);
    const short = paged(ids(25), 10);
    let calls = 0;
    const { asked } = carryOut((page) => (calls++ === 0 ? long(page) : short(page)));
    expect(asked).toEqual([1, 6, 3, 1, 2]);
  });
});

describe('page 1 that comes again', () => {
  test.each([null, 1])('is no end where it is full by its own word (current_page %s)', (page) => {
    const full = withMeta(unpaged(ids(10)), () => ({ perPage: 10, currentPage: page }));
    expect(carryOut(full)).toMatchObject({ asked: [1, 2], ends: [] });
    const larger = withMeta(unpaged(ids(10)), () => ({ perPage: 11, currentPage: page }));
    expect(carryOut(larger)).toMatchObject({ asked: [1, 2], ends: [{ page: 2, end: { rows: 10 } }] });
  });
});

describe('a page that has the rows of an earlier one', () => {
  const named = (service: Service): Service => withMeta(service, (_, page) => ({ currentPage: page }));

  test('and names itself ends a list; of a few rows, the next page must have them too', () => {
    expect(carryOut(named(unpaged(ids(10)))).asked).toEqual([1, 2]);
    expect(carryOut(named(unpaged(ids(9))))).toMatchObject({
      asked: [1, 2, 3],
      ends: [{ page: 3, end: { rows: 9 } }],
      walk: { wholeListRows: 9 },
    });
  });

  test('ends no list below the rows that were live, unless the next page has them too', () => {
    expect(carryOut(unpaged(ids(33)), { knownRows: 34 }).asked).toEqual([1, 2, 3]);
    expect(carryOut(unpaged(ids(33)), { knownRows: 33 }).asked).toEqual([1, 2]);
  });

  test('in another order is another page, unless the next one has them too', () => {
    const flipped = (page: number) => (page % 2 === 0 ? ids(20).toReversed() : ids(20));
    const paging: Service = (page) => paged(flipped(page), 10, false)(page);
    expect(carryOut(paging, { thorough: true }).asked).toEqual([1, 2, 3]);
    const whole: Service = (page) => ({ page, keys: flipped(page), meta: NO_META });
    expect(carryOut(whole)).toMatchObject({ asked: [1, 2, 3], ends: [{ page: 3, end: { rows: 20 } }] });
  });

  test('and others is another page', () => {
    const rows = [ids(7), ids(5)];
    const service = named((page) => ({ page, keys: rows[page - 1] ?? [], meta: NO_META }));
    expect(carryOut(service, { thorough: true }).asked).toEqual([1, 2, 3]);
  });
});

describe('a closing read', () => {
  const asked = (service: Service, options?: Options, later = service): number[] =>
    closing(carryOut(service, options), later).asked;

  test('is the last page, alone, then 1 to L-1; never thorough', () => {
    expect(asked(paged(ids(35), 10))).toEqual([4, 1, 2, 3]);
    expect(asked(paged(ids(35), 10), { thorough: true })).toEqual([4, 1, 2, 3]);
  });

  test('begins behind a full last page, which would prove nothing', () => {
    expect(asked(paged(ids(40), 10))).toEqual([5, 1, 2, 3, 4]);
    expect(asked(paged(ids(40), 10), { thorough: true })).toEqual([5, 1, 2, 3, 4]);
  });

  test('of a one-page list is that page', () => {
    expect(asked(paged(ids(7), 10))).toEqual([1]);
    expect(asked(paged(ids(7), 10), { thorough: true })).toEqual([1]);
    expect(asked(paged([], 10), { thorough: true })).toEqual([1]);
  });

  test('of a list that does not tell its length is the same pages, in their order, until the end', () => {
    expect(asked(unpaged(ids(33)))).toEqual([1, 2]);
    expect(asked(bare(7))).toEqual([1, 2, 1]);
    expect(asked(bare(35), { knownRows: 35 })).toEqual([1, 2, 3, 4, 5]);
    expect(asked(bare(40), { thorough: true })).toEqual([1, 2, 3, 4, 5]);
  });

  test('follows a list that grew', () => {
    expect(asked(paged(ids(35), 10), {}, paged(ids(40), 10))).toEqual([4, 5, 1, 2, 3, 4]);
    expect(asked(paged(ids(35), 10), {}, paged(ids(47), 10))).toEqual([4, 5, 1, 2, 3, 4]);
    expect(asked(paged(ids(40), 10), {}, paged(ids(57), 10))).toEqual([5, 6, 1, 2, 3, 4, 5]);
    expect(asked(paged(ids(7), 10), {}, paged(ids(12), 10))).toEqual([1, 2, 1]);
  });

  test('follows a list that shrank', () => {
    expect(asked(paged(ids(60), 10), {}, paged(ids(25), 10))).toEqual([7, 3, 1, 2]);
    expect(asked(paged(ids(35), 10), {}, paged(ids(5), 10))).toEqual([4, 1]);
    expect(asked(paged(ids(35), 10), {}, paged([], 10))).toEqual([4, 1]);
    expect(asked(paged(ids(7), 10), {}, paged([], 10))).toEqual([1]);
  });

  test('may itself be followed by another', () => {
    const grown = closing(carryOut(paged(ids(35), 10)), paged(ids(47), 10));
    expect(closing(grown, paged(ids(47), 10)).asked).toEqual([5, 1, 2, 3, 4]);
    const shrunk = closing(carryOut(paged(ids(35), 10)), paged(ids(12), 10));
    expect(shrunk.asked).toEqual([4, 2, 1]);
    expect(closing(shrunk, paged(ids(12), 10)).asked).toEqual([2, 1]);
  });

  test('A07: finds the last page behind the end, where the service shows it and admits it', () => {
    const walk = carryOut(clamped(ids(35), 10, true), { thorough: true });
    expect(walk.asked).toEqual([1, 4, 1, 2, 3, 5]);
    expect(closing(walk, clamped(ids(35), 10, true)).asked).toEqual([4, 1, 2, 3]);
    const shrunk = closing(walk, clamped(ids(15), 10, true));
    expect(shrunk.asked).toEqual([4, 1]);
    expect(shrunk.ends).toEqual([{ page: 4, end: { rows: 15 } }]);
  });

  test('takes a page that has moved for another one', () => {
    const newestFirst = (rows: number) => paged(ids(rows).reverse(), 10);
    for (const rows of [45, 50, 65])
      expect(closing(carryOut(newestFirst(rows)), newestFirst(rows + 10)).seen.size).toBe(rows + 10);
  });

  test('A06, A17, A33: is refused for what a sweep is refused for', () => {
    const walk = carryOut(paged(ids(35), 10));
    const ignoring: Service = (page) => ({ ...paged(ids(35), 10)(1), page });
    const growing: Service = (page) => ({ page, keys: ids(11).map((id) => `${page}-${id}`), meta: NO_META });
    const endless: Service = (page) => ({ page, keys: ids(10).map((id) => `${page}-${id}`), meta: NO_META });
    expect(reasonOf(() => closing(walk, ignoring))).toBe('page_ignored');
    expect(reasonOf(() => closing(walk, growing))).toBe('page_grew');
    expect(reasonOf(() => closing(walk, endless))).toBe('endless');
  });

  test('of any quiet list sees it whole, and proves its end as its first response, or the next, does', () => {
    const list = fc.record({
      rows: fc.nat(400),
      rowsPerPage: fc.integer({ min: 1, max: 100 }),
      thorough: fc.boolean(),
      meta: fc.boolean(),
      later: fc.nat(400),
      isBusy: fc.boolean(),
    });
    fc.assert(
      fc.property(list, ({ rows, rowsPerPage, thorough, meta, later, isBusy }) => {
        const total = isBusy ? Math.min(later, rows + 5 * rowsPerPage) : rows;
        const first = carryOut(paged(ids(rows), rowsPerPage, meta), { thorough });
        fc.pre(!isBusy || (meta && rows > 0)); // An empty list without meta does not show its page size.
        const { seen, ends, asked } = closing(first, paged(ids(total), rowsPerPage, meta));
        expect(seen.size).toBe(total);
        for (const { end } of ends) expect(end.rows).toBeGreaterThanOrEqual(total);
        if (meta) expect(ends.map(({ end }) => end.rows)).toContain(total);
        if (!isBusy) expect(asked.length).toBeLessThanOrEqual(Math.ceil(rows / rowsPerPage) + 2);
      }),
      { numRuns: tries(1000) },
    );
  });
});
