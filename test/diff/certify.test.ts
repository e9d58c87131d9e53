import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certify, type Certificate, type Sighting, type Certification } from '../../src/diff/certify.ts';
import { sized, tries } from '../support/tiers.ts';

/** Responses one after the other, each answered before the next is sent. */
function oneByOne(...pages: readonly Partial<Sighting>[]): Sighting[] {
  return pages.map((page, index) => response({ sent: 2 * index + 1, answered: 2 * index + 2, ...page }));
}

function response(shown: Partial<Sighting>): Sighting {
  const ids = shown.ids ?? '[]';
  const rows = JSON.parse(ids) as unknown[];
  return {
    sweep: 1,
    sent: 1,
    answered: 2,
    page: 1,
    rows: rows.length,
    ids,
    endRows: null,
    total: null,
    ...shown,
  };
}

function certificateOf(responses: readonly Sighting[], known: readonly string[] = []): Certificate {
  const verdict = certify(responses, known);
  if (!verdict.certified) throw new Error(`not certified: ${verdict.reason}, ${verdict.detail}`);
  return verdict;
}

const outcome = (verdict: Certification): string => (verdict.certified ? 'certified' : verdict.reason);

const QUIET = oneByOne(
  { page: 1, ids: '[1,2]' },
  { page: 3, ids: '[5]', endRows: 5, total: 5 },
  { page: 1, ids: '[1,2]' },
  { page: 2, ids: '[3,4]' },
);
const NEXT = oneByOne(
  { page: 1, ids: '[1,2]' },
  { page: 3, ids: '[5]', endRows: 5, total: 5 },
  { page: 1, ids: '[1,2]' },
  { page: 2, ids: '[3,4]' },
).map((page) => ({ ...page, sweep: 2, sent: page.sent + 10, answered: page.answered + 10 }));

describe('a list is known to the row', () => {
  test('where every row was seen before its end was proved and after it, or with it', () => {
    const { point, size, isInList: lists } = certificateOf([...QUIET, ...NEXT]);
    expect(point).toBe(NEXT[1]);
    expect(size).toBe(5);
    expect(['1', '2', '3', '4', '5', '6'].map(lists)).toEqual([true, true, true, true, true, false]);
  });

  test('not yet after its first sweep, as its middle was seen after the end only', () => {
    expect(certify(QUIET)).toEqual({
      certified: false,
      reason: 'rows_unseen',
      detail: '3 of 5 rows seen both before and after the response that proves the end',
    });
  });

  test('after its first sweep where the rows were known from before', () => {
    const { size, isInList: lists, wasShownSince: showedSince } = certificateOf(QUIET, ['3', '4', '9']);
    expect([size, lists('3'), lists('9'), showedSince('3'), showedSince('9')]).toEqual([
      5,
      true,
      false,
      true,
      false,
    ]);
  });

  test('by one response, where that is the whole list', () => {
    const { size, isInList: lists } = certificateOf([response({ ids: '[7,8]', endRows: 2 })]);
    expect([size, lists('7'), lists('8'), lists('9')]).toEqual([2, true, true, false]);
  });

  test('where it is empty', () => {
    const { size, isInList: lists } = certificateOf([
      response({ ids: '[1]', endRows: 1 }),
      response({ sweep: 2, sent: 3, answered: 4, endRows: 0 }),
    ]);
    expect([size, lists('1')]).toEqual([0, false]);
  });

  test('by an empty page, though that proves no more than a bound', () => {
    const pages = oneByOne({ ids: '[1,2]' }, { page: 2, ids: '[]', endRows: 2, total: 2 }, { ids: '[1,2]' });
    expect(certificateOf(pages).point).toBe(pages[1]);
    const fewer = oneByOne({ ids: '[1,2]' }, { page: 2, ids: '[]', endRows: 2 }, { ids: '[1]' });
    expect(outcome(certify(fewer))).toBe('rows_unseen');
  });

  test('without a total, once page 1 was full for certain: other rows were there before it and after it', () => {
    const short = oneByOne({ ids: '[1,2]' }, { page: 2, ids: '[3]', endRows: 3 }, { ids: '[1,2]' });
    expect(outcome(certify(short))).toBe('page_size_unproven');
    const [last] = oneByOne({ page: 2, ids: '[3]', endRows: 3, sent: 7, answered: 8 });
    expect(certificateOf([...short, ...(last ? [last] : [])]).size).toBe(3);
  });

  test('C03: with ids that a float would merge', () => {
    const ids = '[9007199254740992,9007199254740993,9223372036854775806,9223372036854775807]';
    const { isInList: lists } = certificateOf([
      response({ ids: '[9223372036854775805]', endRows: 1 }),
      response({ sweep: 2, sent: 3, answered: 4, ids, endRows: 4 }),
    ]);
    expect(['9007199254740992', '9223372036854775807', '9007199254740994'].map(lists)).toEqual([
      true,
      true,
      false,
    ]);
    expect(lists('9223372036854775805')).toBe(false);
  });
});

describe('a row that is gone', () => {
  const after = NEXT.map((page) => (page.page === 2 ? { ...page, ids: '[3]', rows: 1 } : page));

  test('is missed by the next sweep whose end fits', () => {
    const gone = after.map((page) =>
      page.page === 3 ? { ...page, ids: '[]', rows: 0, endRows: 4, total: 4 } : page,
    );
    const shrunk = gone.map((page) => (page.page === 2 ? { ...page, ids: '[3,5]', rows: 2 } : page));
    const { size, isInList: lists, wasShownSince: showedSince } = certificateOf([...QUIET, ...shrunk]);
    expect([size, lists('4'), showedSince('4')]).toEqual([4, false, false]);
  });

  test('is missed by nobody where only its page lost it: the count says that one row was not seen', () => {
    const verdict = certify([...QUIET, ...after]);
    expect(outcome(verdict)).toBe('rows_unseen');
    expect(verdict).toHaveProperty(
      'detail',
      '4 of 5 rows seen both before and after the response that proves the end',
    );
  });

  test('and was shown by a response that is not certainly before the point, is no candidate', () => {
    const before = response({ sweep: 1, sent: 1, answered: 4, ids: '[9]' });
    const point = response({ sweep: 1, sent: 2, answered: 3, ids: '[1]', endRows: 1 });
    const { isInList: lists, wasShownSince: showedSince } = certificateOf([before, point]);
    expect([lists('9'), showedSince('9')]).toEqual([false, true]);
  });
});

describe('when a record was shown last', () => {
  const POINT = response({ sent: 11, answered: 12, ids: '[1]', endRows: 1 });

  test('is when the last response that showed it was sent, before the point or since, in whatever order they landed', () => {
    const seen = [
      response({ sent: 5, answered: 20, ids: '[1,2,9007199254740993]' }),
      response({ sent: 6, answered: 7, ids: '[2,3]' }),
      response({ sweep: null, sent: 8, answered: 9, ids: '[3]' }),
      POINT,
      response({ sent: 30, answered: 31, ids: '[4]' }),
    ];
    for (const landed of [seen, seen.toReversed()]) {
      const { lastShown } = certificateOf(landed);
      const ticks = ['1', '2', '3', '4', '9007199254740993', '9007199254740992'].map(lastShown);
      expect(ticks).toEqual([11, 6, 8, 30, 5, null]);
    }
  });

  test('is told by no response where the record is only known from before, or not at all', () => {
    const { lastShown, isInList: lists } = certificateOf([POINT], ['1', '7']);
    expect([lastShown('1'), lastShown('7'), lastShown('8')]).toEqual([11, null, null]);
    expect(lists('7')).toBe(false);
  });
});

test('responses under way at the same time are in no order', () => {
  const page = { ids: '[1]', page: 1 };
  const point = response({ page: 2, ids: '[2]', endRows: 2, total: 2, sent: 10, answered: 20 });
  const around = (before: Partial<Sighting>, after: Partial<Sighting>): string =>
    outcome(certify([response({ ...page, ...before }), response({ ...page, ...after }), point]));
  expect(around({ sent: 1, answered: 9 }, { sent: 21, answered: 22 })).toBe('certified');
  expect(around({ sent: 1, answered: 11 }, { sent: 21, answered: 22 })).toBe('rows_unseen');
  expect(around({ sent: 1, answered: 9 }, { sent: 19, answered: 22 })).toBe('rows_unseen');
  // One response that spans the point is not before it and not after it.
  expect(around({ sent: 1, answered: 30 }, { sent: 2, answered: 31 })).toBe('rows_unseen');
});

describe('no certificate', () => {
  test('without a proof of the end, or by a read of the head alone', () => {
    expect(certify([])).toEqual({
      certified: false,
      reason: 'no_end',
      detail: 'no response proves the end of the list',
    });
    expect(outcome(certify([response({ ids: '[1]' })]))).toBe('no_end');
    expect(outcome(certify([response({ ids: '[1]', sweep: null, endRows: 1 })]))).toBe('no_end');
  });

  test('though reads of the head are as good as any before a point and after it', () => {
    const head = { sweep: null, ids: '[1]' };
    const pages = oneByOne(head, { page: 2, ids: '[2]', endRows: 2, total: 2 }, head);
    expect(certificateOf(pages).size).toBe(2);
  });

  test('where the total is another', () => {
    expect(certify([response({ ids: '[1]', endRows: 1, total: 2 })])).toEqual({
      certified: false,
      reason: 'total_differs',
      detail: 'its total is 2, its pages hold 1 rows',
    });
  });

  test('but an older one, where the newest point fails', () => {
    const old = QUIET[1];
    const wrong = NEXT.map((page) => (page.endRows === null ? page : { ...page, total: 6 }));
    const { point } = certificateOf([...QUIET, ...wrong], ['3', '4']);
    expect(point).toBe(old);
  });

  describe('for the reason of the newest point, where several fail', () => {
    const withTotal = (pages: readonly Sighting[], total: number): Sighting[] =>
      pages.map((page) => (page.endRows === null ? page : { ...page, total }));
    const unseen = {
      certified: false,
      reason: 'rows_unseen',
      detail: '3 of 5 rows seen both before and after the response that proves the end',
    };

    test('be it its total or its rows', () => {
      expect(certify([...withTotal(QUIET, 7), ...withTotal(NEXT, 6)])).toMatchObject({
        reason: 'total_differs',
        detail: 'its total is 6, its pages hold 5 rows',
      });
      const fewer = NEXT.map((page) => (page.page === 2 ? { ...page, ids: '[3]', rows: 1 } : page));
      const ownRows = { ...unseen, detail: unseen.detail.replace('3 of 5', '4 of 5') };
      expect(certify([...QUIET, ...fewer])).toEqual(ownRows);
      expect(certify([...withTotal(QUIET, 7), ...fewer])).toEqual(ownRows);
    });

    test('save that the rows which an older one lacks say more than a total', () => {
      expect(certify([...QUIET, ...withTotal(NEXT, 6)])).toEqual(unseen);
    });

    test('as where an empty page after the end bounds the list only', () => {
      const empty = response({ sent: 9, answered: 10, page: 4, endRows: 6, total: 5 });
      expect(certify([...QUIET, empty])).toEqual(unseen);
    });
  });

  test('at all, where more rows were there than the list had: a premise is broken', () => {
    const many = response({ sweep: 3, sent: 41, answered: 42, page: 2, ids: '[5]', endRows: 1, total: 1 });
    const again = NEXT.map((page) => ({
      ...page,
      sweep: 4,
      sent: page.sent + 40,
      answered: page.answered + 40,
    }));
    const responses = [...QUIET, ...NEXT, many, ...again.filter(({ endRows }) => endRows === null)];
    expect(certify(responses)).toEqual({
      certified: false,
      reason: 'too_many_rows',
      detail: '5 rows were there when a response proved that there are 1 at most',
    });
  });

  test('by a page with rows where the same sweep later found rows beyond it', () => {
    const holed = oneByOne({ page: 1, ids: '[1]', endRows: 1 }, { page: 2, ids: '[2]' });
    expect(outcome(certify(holed))).toBe('no_end');
    const [first, second] = holed;
    if (!first || !second) throw new Error('two responses');
    expect(outcome(certify([first, { ...second, sweep: 2 }]))).toBe('certified');
    expect(outcome(certify([first, { ...second, rows: 0, ids: '[]' }]))).toBe('certified');
    expect(
      outcome(
        certify([
          { ...first, answered: 10 },
          { ...second, sent: 9 },
        ]),
      ),
    ).toBe('certified');
  });

  test('where a row came twice on the page that ends the list, or had no id', () => {
    expect(outcome(certify([response({ ids: '[1,1]', endRows: 2 })]))).toBe('rows_unseen');
    expect(outcome(certify([response({ ids: '[1]', rows: 2, endRows: 2 })]))).toBe('rows_unseen');
  });

  test('by rows on two pages counted twice', () => {
    const pages = oneByOne({ ids: '[1,2]' }, { page: 2, ids: '[2]', endRows: 3 }, { page: 1, ids: '[1,2]' });
    expect(outcome(certify(pages))).toBe('rows_unseen');
  });
});

const idsOf = ({ ids }: Sighting): string[] => [...ids.matchAll(/\d+/g)].map(([id]) => id);
const before = (a: Sighting, b: Sighting): boolean => a.answered < b.sent;

/** The ids that were certainly in the list at a response. */
function liveAt(at: Sighting, responses: readonly Sighting[], known: readonly string[]): string[] {
  return [...new Set([...known, ...responses.flatMap(idsOf)])].filter((id) => {
    const shown = responses.filter((r) => idsOf(r).includes(id));
    const isBefore = known.includes(id) || shown.some((r) => before(r, at));
    return shown.includes(at) || (isBefore && shown.some((r) => before(at, r)));
  });
}

/** Why a point certifies nothing; null = it does. */
function objectionTo(p: Sighting, responses: readonly Sighting[], known: readonly string[]): string | null {
  const endRows = p.endRows ?? 0;
  const live = liveAt(p, responses, known).length;
  if (p.total !== null && p.total !== endRows) return 'total_differs';
  if (live < endRows) return 'rows_unseen';
  const size = (endRows - p.rows) / (p.page - 1);
  const firsts = responses.filter((r) => r.sweep === p.sweep && r.page === 1 && r.rows === size);
  const isFull = firsts.some((first) => liveAt(first, responses, known).length > size);
  if (p.total === null && p.page > 1 && !isFull) return 'page_size_unproven';
  return live > endRows ? 'too_many_rows' : null;
}

/** The definition, word for word and slow. */
function byDefinition(responses: readonly Sighting[], known: readonly string[]): unknown {
  const everyId = [...new Set([...known, ...responses.flatMap(idsOf)])];
  const points = responses
    .filter(({ sweep, endRows }) => sweep !== null && endRows !== null)
    .filter((p) => {
      const beyond = responses.filter((r) => r.sweep === p.sweep && r.page > p.page && before(p, r));
      return p.rows === 0 || beyond.every(({ rows }) => rows === 0);
    })
    .sort((a, b) => b.answered - a.answered);
  const reasons: string[] = [];
  for (const p of points) {
    const objection = objectionTo(p, responses, known);
    if (objection === 'too_many_rows') return objection;
    if (objection !== null) {
      reasons.push(objection);
      continue;
    }
    const live = liveAt(p, responses, known);
    const since = everyId.filter((id) => responses.some((r) => !before(r, p) && idsOf(r).includes(id)));
    const last = everyId.flatMap((id) => {
      const sent = responses.filter((r) => idsOf(r).includes(id)).map((r) => r.sent);
      return sent.length === 0 ? [] : [[id, Math.max(...sent)]];
    });
    return {
      point: p,
      size: live.length,
      last: Object.fromEntries(last) as unknown,
      live: live.sort(),
      since: since.sort(),
    };
  }
  const [first = 'no_end'] = reasons;
  return first === 'total_differs' && reasons.includes('rows_unseen') ? 'rows_unseen' : first;
}

describe('any responses', () => {
  const POOL = ['1', '2', '3', '123456789', '1000000000', '9007199254740993', '9223372036854775807'];
  const ids = fc.array(fc.constantFrom(...POOL), { maxLength: 4 });
  const shown = fc.record({
    ids,
    nameless: fc.integer({ min: -8, max: 1 }).map((rows) => Math.max(0, rows)),
    sweep: fc.constantFrom(1, 1, 2, null),
    page: fc.integer({ min: 1, max: 3 }),
    endRows: fc.option(fc.integer({ min: 0, max: 5 })),
    total: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 3 }),
  });
  const responses = fc.array(shown, { minLength: 1, maxLength: 9 }).chain((pages) =>
    fc
      .shuffledSubarray(
        pages.flatMap((_, index) => [index, index]),
        { minLength: 2 * pages.length },
      )
      .map((order) =>
        pages.map(({ ids: list, nameless, ...page }, index): Sighting => ({
          ...page,
          rows: list.length + nameless,
          ids: `[${list.join(',')}]`,
          sent: order.indexOf(index) + 1,
          answered: order.lastIndexOf(index) + 1,
        })),
      ),
  );
  const known = fc.array(fc.constantFrom(...POOL), { maxLength: 3 });

  const summary = (verdict: Certification): unknown => {
    if (!verdict.certified) return verdict.reason;
    const { point, size, isInList: lists, wasShownSince: showedSince, lastShown } = verdict;
    const all = POOL.toSorted();
    const last = all.map((id) => [id, lastShown(id)] as const).filter(([, tick]) => tick !== null);
    return {
      point,
      size,
      live: all.filter(lists),
      since: all.filter(showedSince),
      last: Object.fromEntries(last),
    };
  };

  test('are judged as the definition says', () => {
    const outcomes = new Map<string, number>();
    fc.assert(
      fc.property(responses, known, (seen, before) => {
        const verdict = certify(seen, before);
        outcomes.set(outcome(verdict), (outcomes.get(outcome(verdict)) ?? 0) + 1);
        expect(summary(verdict)).toEqual(byDefinition(seen, before));
      }),
      { numRuns: sized({ quick: 3_000, acceptance: 10_000, deep: 10_000 }) },
    );
    // Else the property would say little.
    const reasons = ['no_end', 'total_differs', 'rows_unseen', 'page_size_unproven', 'too_many_rows'];
    for (const reason of ['certified', ...reasons])
      expect([reason, (outcomes.get(reason) ?? 0) > 100]).toEqual([reason, true]);
  });

  test('are judged alike in whatever order they landed', () => {
    const shuffled = responses.chain((seen) =>
      fc.tuple(fc.constant(seen), fc.shuffledSubarray(seen, { minLength: seen.length })),
    );
    fc.assert(
      fc.property(shuffled, known, ([seen, landed], before) => {
        expect(summary(certify(landed, before))).toEqual(summary(certify(seen, before)));
      }),
      { numRuns: tries(3000) },
    );
  });

  test('are judged alike whatever the numbers of the ticks, so long as their order is the same', () => {
    const late = 2 ** 52;
    fc.assert(
      fc.property(responses, known, (seen, before) => {
        const later = seen.map((page) => ({
          ...page,
          sent: late + page.sent,
          answered: late + page.answered,
        }));
        expect(outcome(certify(later, before))).toBe(outcome(certify(seen, before)));
      }),
    );
  });
});

test('a list of 100,000 rows is certified by three sweeps, each row by its id', () => {
  const rows = 100_000;
  const pages = Array.from({ length: rows / 100 }, (_, page) =>
    JSON.stringify(Array.from({ length: 100 }, (__, row) => page * 100 + row + 1)),
  );
  const end = { page: pages.length + 1, ids: '[]', endRows: rows };
  const responses = oneByOne(...pages.map((ids) => ({ ids })), end, ...pages.map((ids) => ({ ids })));
  const { size, isInList: lists, wasShownSince: showedSince } = certificateOf(responses);
  expect(size).toBe(rows);
  expect([lists('1'), lists('100000'), lists('100001'), showedSince('777')]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});
