import fc from 'fast-check';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { sized } from '../support/tiers.ts';
import { DATABASES, MIRRORS, pullOne } from './steps.ts';
import { rowsOf, sandbox } from './support.ts';
import { createUncountedList } from './uncounted-lists.ts';
import type { Manner, Step } from './uncounted-lists.ts';

const RUNS = sized({ quick: 1_500, acceptance: 6_000, deep: 20_000 });

const QUIET: Step = { grows: 0, shrinks: 0, moves: new Map() };

const manners: fc.Arbitrary<Manner> = fc.record({
  pageSize: fc.option(fc.integer({ min: 2, max: 7 }), { freq: 6 }),
  order: fc.constantFrom('newest first', 'oldest first'),
  beyond: fc.constantFrom('empty', 'missing', 'last page again'),
  tells: fc.record({
    total: fc.boolean(),
    lastPage: fc.boolean(),
    currentPage: fc.boolean(),
    links: fc.boolean(),
    perPage: fc.constantFrom('no', 'true', 'capped'),
  }),
});

const rows = fc.integer({ min: 0, max: 26 });

const move = fc.oneof(
  fc.record({ grows: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ leaves: fc.nat(26) }),
);

const steps: fc.Arbitrary<Step> = fc.record({
  grows: fc.oneof(fc.constant(0), fc.nat(26)),
  shrinks: fc.oneof(fc.constant(0), fc.nat(26)),
  moves: fc
    .uniqueArray(fc.tuple(fc.nat(12), move), { maxLength: 6, selector: ([at]) => at })
    .map((moves) => new Map(moves)),
});

/** Its `meta` gives the length, and speaks of other pages than it sends, or shows the last page under another number. */
function contradictsItself({ beyond, pageSize, tells }: Manner): boolean {
  const isCounted = tells.total || tells.lastPage;
  return isCounted && pageSize !== null && beyond === 'last page again' && !tells.currentPage;
}

describe('a list of any manner', () => {
  test('is never certified unless the service had exactly these rows at an instant', () => {
    fc.assert(
      fc.property(manners, rows, fc.array(steps, { minLength: 2, maxLength: 6 }), (manner, length, all) => {
        const list = createUncountedList(manner, length);
        for (const step of all) {
          const outcome = list.sweep(step);
          expect(outcome.isTrue).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('is certified after at most two sweeps once it is quiet, whatever it was before', () => {
    fc.assert(
      fc.property(manners, rows, fc.array(steps, { maxLength: 4 }), (manner, length, before) => {
        fc.pre(!contradictsItself(manner));
        const list = createUncountedList(manner, length);
        for (const step of before) list.sweep(step);
        const outcomes = [list.sweep(QUIET), list.sweep(QUIET)];
        expect(outcomes.map(({ state }) => state)).toContain('certified');
        expect(list.sweep(QUIET)).toMatchObject({ state: 'certified', isTrue: true });
      }),
      { numRuns: RUNS },
    );
  });
});

const PAGE = 15;
const BEYOND = ['empty', 'missing', 'last page again', 'page ignored'] as const;

/** A service whose bookings come in pages that say nothing of themselves. */
async function bareService(beyond: (typeof BEYOND)[number]) {
  const state = { rows: 0 };
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const last = Math.max(1, Math.ceil(state.rows / PAGE));
    const wanted = Number(new URL(url, 'http://service').searchParams.get('page') ?? 1);
    const page = beyond === 'last page again' ? Math.min(wanted, last) : wanted;
    const all = Array.from({ length: state.rows }, (_, index) => ({ id: index + 1, code: `B${index}` }));
    const data = beyond === 'page ignored' ? all : all.slice((page - 1) * PAGE, page * PAGE);
    const isMissing = data.length === 0 && page > 1 && beyond === 'missing';
    response.writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isMissing ? { message: 'Not found.' } : { data }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const honest: Sandbox = await sandbox({ size: 1 });
  const service = { ...honest, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return { service, state, requests: () => asked.splice(0).length };
}

/** The requests of a sweep of a quiet list. */
function requestsFor(rows: number, beyond: (typeof BEYOND)[number]): number {
  const pages = Math.ceil(rows / PAGE);
  if (beyond === 'page ignored') return 2;
  if (pages === 1) return beyond === 'last page again' ? 2 : 3;
  const isFull = rows % PAGE === 0;
  return pages + (isFull && beyond !== 'last page again' ? 3 : 2);
}

describe.each(DATABASES)('in %s', (database) => {
  test.each(BEYOND)(
    'a list that tells nothing is known at every length; beyond its end: %s',
    async (beyond) => {
      const [{ service, state, requests }, session] = [await bareService(beyond), await MIRRORS[database]()];
      let minute = 0;
      const pull = () => pullOne(service, session, { kind: 'bookings', minute: (minute += 20) });
      for (const rows of [12, 15, 16, 40, 45, 60]) {
        state.rows = rows;
        await pull(); // Where a page has come, one reading may not show how long pages are.
        requests();
        expect(await pull()).toMatchObject({ state: 'certified', reason: null, rows });
        expect(requests()).toBe(requestsFor(rows, beyond));
      }
      expect(await rowsOf(session, 'bookings')).toHaveLength(60);
    },
  );
});
