import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import { isListed } from '../../../src/catalog/kind.ts';
import type { Json } from '../../../src/lib/json/json.ts';
import { claimKind } from '../../../src/store/kinds/kind-lease.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { BATCH_LIMITS, landResponses, type Landing } from '../../../src/pull/land/land-pages.ts';
import { createReadingState, createTicks, type KindReading } from '../../../src/pull/reading.ts';
import { startWalk } from '../../../src/source/paging/page-walk.ts';
import { readPages, readDirtyRows } from '../../../src/store/sightings/page-store.ts';
import { readCompanies } from '../../../src/pull/source-binding.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { endLeases } from '../../support/lapse.ts';
import { sized } from '../../support/tiers.ts';
import type { ListResponse } from '../../../src/source/paging/list-responses.ts';
import { issueKey } from '../../../src/store/records/issue-store.ts';
import { MIRRORS } from '../steps.ts';
import { mirror, rowsOf } from '../support.ts';
import { gate } from '../../store/temp-mirror.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

async function sweepOf(session: Session, owner = 'us'): Promise<KindReading> {
  const kind = documentedKind('categories');
  if (kind === undefined || !isListed(kind)) throw new Error('categories have a list');
  await endLeases(session); // An earlier sweep of the test.
  const lease = await claimKind(session, kind.name, owner);
  const claim = {
    baseUrl: 'http://service.test',
    isNew: false,
    isBound: false,
    confirmed: new Set<string>(),
    companyReads: new Map<string, Promise<void>>(),
    refusal: null,
  };
  return {
    kind,
    lease,
    runId: 1,
    binding: claim,
    began: lease.tick,
    fields: new Map(),
    rulesDigest: 'digestScope',
    companies: await readCompanies(session, kind, false),
    ticks: createTicks(lease.tick, fakeClock()),
    ignoredFields: new Set(),
    pages: await readPages(session, kind.name),
    state: createReadingState(await readDirtyRows(session, kind.name, 0), [], new Map()),
  };
}

const WALK = startWalk({ where: 'GET /api/categories', thorough: false });

function response(ticks: readonly [number, number], records: readonly Json[], page = 1): ListResponse {
  return {
    page,
    sent: ticks[0],
    answered: ticks[1],
    rows: records.length,
    read: () => records,
    keys: records.map((record) => String((record as { id?: unknown } | null)?.id)),
    holder: 'a user',
    isUnchanged: false,
    pageHash: { digest: JSON.stringify(records), bytes: 1 },
    meta: null,
    hasNext: null,
    envelope: 'array',
    end: null,
    walk: WALK,
  };
}

/** Lands responses that come at once, and so in one transaction. */
async function landPages(
  session: Session,
  reading: KindReading,
  responses: readonly ListResponse[],
  now: Date,
): Promise<readonly Landing[]> {
  const landings: Landing[] = [];
  const tally = { add: (landing: Landing) => landings.push(landing) };
  const read = async function* () {
    yield* await Promise.resolve(responses);
  };
  await landResponses({ session, clock: { ...fakeClock(), now: () => now } }, { reading, tally, read });
  return landings;
}

async function landOne(
  session: Session,
  sweep: KindReading,
  { response, now }: { response: ListResponse; now: Date },
): Promise<Landing> {
  const [landing] = await landPages(session, sweep, [response], now);
  if (landing === undefined) throw new Error('one response, one landing');
  return landing;
}

const category = (id: Json, code: Json) => ({ id, code, name_fr: 'Pneus', name_en: 'Tires' });

test('a row keeps when it was first seen, and takes the tick of the answer that changed it', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  await landOne(session, sweep, { response: response([1, 2], [category(1, 'A')]), now: NOW });
  const later = new Date('2026-03-02T12:00:00Z');
  const landing = await landOne(session, sweep, {
    response: response([3, 4], [category(1, 'B')]),
    now: later,
  });

  expect(landing).toMatchObject({ created: [], changed: ['1'], seen: ['1'] });
  expect(await rowsOf(session, 'categories')).toMatchObject([
    {
      code: 'B',
      _first_seen_at: '2026-03-01 12:00:00.000',
      _changed_at: '2026-03-02 12:00:00.000',
      _response: 4,
      _listed: 2,
    },
  ]);
});

test('a record that is spelled in another way than its row is written only if it has changed, and then compactly', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  const same = category(1, 'A');
  const other = category(2, 'A');
  await landOne(session, sweep, { response: response([1, 2], [same, other, category(3, 'A')]), now: NOW });
  const records = [same, { ...other, code: 'B' }, category(3, 'A')];
  const texts = [
    JSON.stringify(same),
    JSON.stringify(records[1], null, 1),
    JSON.stringify(records[2], null, 1),
  ];
  const landing = await landOne(session, sweep, {
    response: { ...response([3, 4], records), texts },
    now: NOW,
  });
  expect(landing).toMatchObject({ created: [], changed: ['2'], seen: ['1', '2', '3'] });
  const rows = await rowsOf(session, 'categories');
  expect(rows.map((row) => row['_raw'])).toEqual(records.map((record) => JSON.stringify(record)));
  expect(rows.map((row) => row['_response'])).toEqual([2, 4, 2]);
});

test('A19: of two answers under way at once, the one that lands second does not overwrite', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  await landOne(session, sweep, { response: response([1, 4], [category(1, 'A')]), now: NOW });
  await landOne(session, sweep, { response: response([2, 3], [category(1, 'B')], 2), now: NOW });
  expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'A', _response: 4 }]);

  await landOne(session, sweep, { response: response([5, 6], [category(1, 'B')]), now: NOW });
  expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'B', _response: 6 }]);
});

test('A18: a record that one answer shows twice with different contents is quarantined, and the rest lands', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  const records = [category(1, 'A'), category(2, 'B'), category(1, 'C'), category(2, 'B')];
  const landing = await landOne(session, sweep, { response: response([1, 2], records), now: NOW });

  expect(landing.seen).toEqual(['2']);
  expect(landing.quarantined).toHaveLength(2);
  expect(await rowsOf(session, 'categories')).toMatchObject([{ id: '2' }]);
});

test('A→Z→A within one sweep, read in another order than it happened, is healed by the next', async () => {
  const session = await mirror();
  const a = category(1, 'A');
  const other = category(2, 'B');
  await landOne(session, await sweepOf(session), { response: response([1, 2], [a, other]), now: NOW });

  // Page 2 was read first, when record 1 was Z and stood there; then it was A again, and back on page 1.
  const second = await sweepOf(session);
  const first = response([5, 9], [a, category(2, 'C')]);
  const late = response([4, 7], [category(1, 'Z')], 2);
  await landPages(session, second, [first, late], NOW);

  const third = await sweepOf(session);
  const known = { ...response([11, 12], [a, category(2, 'C')]), isUnchanged: true };
  await landOne(session, third, { response: known, now: NOW });
  expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'A' }, { code: 'C' }]);
});

test('a record that was left alone keeps its page from being known', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  await landOne(session, sweep, { response: response([1, 4], [category(1, 'A')]), now: NOW });
  const landing = await landOne(session, sweep, {
    response: response([2, 3], [category(1, 'B')], 2),
    now: NOW,
  });

  expect(landing.overtaken).toEqual(['1']);
  expect([...(await readPages(session, 'categories')).keys()]).toEqual([1]);
});

test.each([
  ['with an event', []],
  ['in an ignored field alone', ['code']],
])(
  'a page that landed before an older answer, which then changed one of its rows %s, is parsed again',
  async (_, ignored) => {
    const session = await mirror();
    const a = category(1, 'A');
    const z = category(1, 'Z');
    await landOne(session, await sweepOf(session), { response: response([1, 2], [a]), now: NOW });
    // Asked for again after an error, page 1 shows what it showed; page 2, answered before, shows the record moved and changed.
    const sweep = { ...(await sweepOf(session)), ignoredFields: new Set(ignored) };
    await landOne(session, sweep, { response: response([7, 8], [a, category(2, 'B')]), now: NOW });
    await landOne(session, sweep, { response: response([4, 5], [z], 2), now: NOW });
    expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'Z' }, { code: 'B' }]);

    const next = { ...response([11, 12], [a, category(2, 'B')]), isUnchanged: true };
    await landOne(session, await sweepOf(session), { response: next, now: NOW });
    expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'A' }, { code: 'B' }]);
  },
);

test('a transaction takes a page by its rows, or by its kilobytes if those are more; a known page weighs little', () => {
  const page = response(
    [1, 2],
    Array.from({ length: 100 }, (_, at) => category(at + 1, 'A')),
  );
  const ofBytes = (bytes: number) => ({ ...page, pageHash: { digest: '', bytes } });
  const weights = [
    ofBytes(80_000),
    ofBytes(5_000_000),
    { ...page, digest: null },
    { ...page, isUnchanged: true },
  ];
  expect(weights.map(BATCH_LIMITS.weigh)).toEqual([110, 5_010, 110, 40]);
  expect(BATCH_LIMITS.maxWeight).toBeLessThan(5_010);
});

test('what a transaction learned counts only once it has landed', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  await landOne(session, sweep, { response: response([1, 2], [category(1, 'A')]), now: NOW });
  const responses = [response([3, 4], [category(1, 'B'), 'poison']), response([5, 6], [category(1, 'C')], 2)];
  const failing = {
    ...session,
    atomically: <T>(work: Parameters<typeof session.atomically<T>>[0]) =>
      session.atomically<T>(async (tx) => {
        await work(tx);
        throw new Error('torn');
      }),
  };
  await expect(landPages(failing, sweep, responses, NOW)).rejects.toThrow('torn');

  expect(sweep.state.dirty.has('1')).toBe(false);
  const poison = { recordId: null, field: null, code: 'not_a_record', detail: '"poison"' };
  expect(sweep.state.quarantined.has(issueKey(poison))).toBe(false);
  expect(await rowsOf(session, 'categories')).toMatchObject([{ code: 'A', _response: 2 }]);
});

const LONG = 'C'.repeat(60_000);

/** Answers under way at once: each record is on any page, in any version, and pages come in any order of request and answer. */
const ANSWERS = fc.array(
  fc.record({
    page: fc.integer({ min: 1, max: 4 }),
    sent: fc.integer({ min: 1, max: 20 }),
    took: fc.integer({ min: 1, max: 8 }),
    records: fc.array(
      fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom<Json>('A', 'B', LONG, { no: 'text' })),
      {
        maxLength: 5,
      },
    ),
  }),
  { minLength: 2, maxLength: 8 },
);

test.each([
  ['SQLite', sized({ quick: 15, acceptance: 40, deep: 200 })],
  ['PostgreSQL', sized({ quick: 4, acceptance: 12, deep: 60 })],
] as const)('pages that land together leave what they leave one by one, in %s', async (database, numRuns) => {
  await fc.assert(
    fc.asyncProperty(ANSWERS, fc.integer({ min: 1, max: 8 }), async (answers, size) => {
      const responses = answers.map(({ page, sent, took, records }, index) =>
        response(
          [20 * sent, 20 * (sent + took) + index + 1],
          records.map(([id, code]) => category(id, code)),
          page,
        ),
      );
      const left = (together: number) => leftBy(responses, { database, together });
      expect(await left(size)).toEqual(await left(1));
    }),
    { numRuns },
  );
});

/** What landing leaves, so many responses a transaction. */
async function leftBy(
  responses: readonly ListResponse[],
  { database, together: size }: { readonly database: keyof typeof MIRRORS; readonly together: number },
): Promise<object> {
  await using session = await MIRRORS[database](); // A property needs more of them than the server has connections.
  const sweep = await sweepOf(session);
  const landings: Landing[] = [];
  for (let from = 0; from < responses.length; from += size)
    landings.push(...(await landPages(session, sweep, responses.slice(from, from + size), NOW)));
  const changes = sql`select record_id, change, before, after, fields from changes order by seq`;
  const issues = sql`select record_id, field, code, detail, closed_at from issues order by record_id, field, code, detail, closed_at`;
  return {
    landings: landings.map(({ sighting, fields, ...rest }) => ({
      ...rest,
      ...sighting,
      fields: [...fields],
    })),
    rows: await rowsOf(session, 'categories'),
    changes: await session.query(changes),
    issues: await session.query(issues),
    pages: [...(await readPages(session, 'categories'))]
      .map(([page, { ids, digest }]) => [page, ids, digest] as const)
      .sort(([page], [other]) => page - other),
    dirtyRows: await readDirtyRows(session, 'categories', 0),
  };
}

test('rows whose former text is long are read and written few at a time, however short the new text is', async () => {
  const session = await mirror();
  const pages = [1, 2, 3, 4, 5];
  const ofBytes = (page: number) => ({ digest: 'long', bytes: page === 5 ? 5_000_000 : 1_500_000 });
  const long = pages.map((id) => ({
    ...response([2 * id - 1, 2 * id], [category(id, LONG)], id),
    pageHash: ofBytes(id),
  }));
  await landPages(session, await sweepOf(session), long, NOW);
  const statements: string[] = [];
  const counting: Session = {
    ...session,
    atomically: (work) =>
      session.atomically((tx) =>
        work({
          ...tx,
          readRowsById: (table, columns, ids) => {
            statements.push(`read ${ids.join(' ')}`);
            return tx.readRowsById(table, columns, ids);
          },
          upsertRows: (rows) => {
            if (rows.table === 'categories') statements.push(`write ${rows.rows.length}`);
            return tx.upsertRows(rows);
          },
        }),
      ),
  };
  const short = pages.map((id) => response([11 + 2 * id, 12 + 2 * id], [category(id, 'A')], id));
  await landPages(counting, await sweepOf(session), short, NOW);
  expect(statements).toEqual(['read 1 2', 'write 2', 'read 3 4', 'write 2', 'read 5', 'write 1']);
});

test('a page is parsed outside of a transaction', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  let open = 0;
  const counting: Session = {
    ...session,
    atomically: (work) =>
      session.atomically(async (tx) => {
        open++;
        return work(tx).finally(() => open--);
      }),
  };
  const large = response([1, 2], [category(1, 'A')]);
  const read = (): readonly Json[] => {
    expect(open).toBe(0); // A million records take longer than PostgreSQL lets a transaction be idle.
    return large.read();
  };
  const { created } = await landOne(counting, sweep, { response: { ...large, read }, now: NOW });
  expect(created).toEqual(['1']);
});

test('while a batch is written, the next one is parsed; it lands after it', async () => {
  const session = await mirror();
  const sweep = await sweepOf(session);
  const parsed = gate();
  const waiting: Session = {
    ...session,
    atomically: async (work) => {
      await parsed.opened;
      return session.atomically(work);
    },
  };
  const records = [category(1, 'B')];
  async function* responses() {
    const first = response([1, 2], [category(1, 'A')]);
    yield { ...first, pageHash: { digest: 'first', bytes: 10_000_000 } }; // Enough for a batch of its own.
    const read = (): Json[] => {
      parsed.open();
      return records;
    };
    yield await Promise.resolve({ ...response([3, 4], records, 2), read });
  }
  const landings: Landing[] = [];
  const tally = { add: (landing: Landing) => landings.push(landing) };
  const parts = { session: waiting, clock: fakeClock() };
  await landResponses(parts, { reading: sweep, tally, read: responses });
  expect(landings).toMatchObject([
    { created: ['1'], changed: [] },
    { created: [], changed: ['1'] },
  ]);
});
