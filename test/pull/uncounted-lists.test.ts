import { describe, expect, onTestFinished, test } from 'vitest';
import { canary } from '../support/canary.ts';
import { kindOf } from '../world/bodies.ts';
import { serveWorld } from '../world/http-front.ts';
import { NO_SECRETS } from '../world/secrets.ts';
import { createService, recordsOf, type Service } from '../world/service.ts';
import { DOCUMENTED, type Personality } from '../world/traits.ts';
import { send, serve } from '../support/serve.ts';
import { ONE_DATABASE, MIRRORS, absencesOf, pullOne, shortEvents } from './steps.ts';
import { rowsOf } from './support.ts';

const PAGE = 15;
const BEYOND = {
  empty: { beyond: 'empty' },
  missing: { beyond: 'not found' },
  'last page again': { beyond: 'last page again' },
  'page ignored': { asked: 'page ignored', pageSize: '1000 rows' },
} as const satisfies Record<string, Partial<Personality>>;
type Beyond = keyof typeof BEYOND;
const BEYOND_NAMES = Object.keys(BEYOND) as readonly Beyond[];

/** A service whose bookings come in pages without meta. */
async function bareService(beyond: Beyond) {
  const service = createService({
    seed: 1,
    personality: { ...DOCUMENTED, announced: 'nothing', pageSize: `${PAGE} rows`, ...BEYOND[beyond] },
    kinds: [kindOf('bookings')],
    rows: 0,
    secrets: NO_SECRETS,
    seedRecord: () => ({}),
  });
  const records = recordsOf(service, 'bookings');
  const count = (): number => records.at(0).length;
  let asked = 0;
  const answer: Service['answer'] = (request, atMs) => {
    asked++;
    return service.answer(request, atMs);
  };
  const front = await serveWorld({ ...service, answer }, () => 0);
  onTestFinished(() => front[Symbol.asyncDispose]());
  return {
    service: { url: front.url, token: canary('-bare') },
    growTo: (rows: number) => {
      while (count() < rows) records.create({ code: `B${count()}` }, 0, 'before');
    },
    requests: () => {
      const before = asked;
      asked = 0;
      return before;
    },
  };
}

/** The requests of a sweep of a quiet list. */
function requestsFor(rows: number, beyond: Beyond): number {
  const pages = Math.ceil(rows / PAGE);
  if (beyond === 'page ignored') return 2;
  if (pages === 1) return beyond === 'last page again' ? 2 : 3;
  const isFull = rows % PAGE === 0;
  return pages + (isFull && beyond !== 'last page again' ? 3 : 2);
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test.each(BEYOND_NAMES)(
    'a list that tells nothing is known at every length; beyond its end: %s',
    async (beyond) => {
      const { service, growTo, requests } = await bareService(beyond);
      const session = await MIRRORS[database]();
      let minute = 0;
      const pull = () => pullOne(service, session, { kind: 'bookings', minute: (minute += 20) });
      for (const rows of [12, 15, 16, 40, 45, 60]) {
        growTo(rows);
        await pull(); // Where a page has come, one reading may not show how long pages are.
        requests();
        const isCut = beyond === 'missing' && rows > PAGE && rows % PAGE === 0; // Only a 404 shows the end.
        expect(await pull()).toMatchObject({ state: 'certified', reason: isCut ? 'cut_off' : null, rows });
        expect(requests()).toBe(requestsFor(rows, beyond));
      }
      expect(await rowsOf(session, 'bookings')).toHaveLength(60);
    },
  );

  describe('a 404 that is the only sign of the end', () => {
    /** Punches in pages without meta; `missing`: a page that answers the service's own 404 like those beyond the end. */
    async function punches(count: number) {
      const records = Array.from({ length: count }, (_, at) => ({ id: at + 1, note: `Note ${at}` }));
      const world = { records, missing: 0 };
      const url = await serve((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
        const page = Number(searchParams.get('page') ?? 1);
        const data = world.records.slice((page - 1) * PAGE, page * PAGE);
        const isFound = pathname === '/api/punch' && data.length > 0 && page !== world.missing;
        if (isFound) send(response, { data, success: true });
        else send(response, { message: 'Page not found' }, 404);
      });
      const session = await MIRRORS[database]();
      let minute = 0;
      const address = { url, token: canary('-missing') };
      const pull = () => pullOne(address, session, { kind: 'punches', minute: (minute += 20) });
      await pull();
      await pull();
      return { world, session, pull };
    }

    test.each([
      [2 * PAGE + 1, 3],
      [2 * PAGE + 2, 3],
      [PAGE + 1, 2],
    ])('holds what the list of %i lacks while page %i answers it', async (count, missing) => {
      const { world, session, pull } = await punches(count);
      world.missing = missing;
      for (let sweep = 0; sweep < 3; sweep++) expect(await pull()).toMatchObject({ deleted: 0 });
      const absences = await absencesOf(session);
      expect(new Set(absences.map((absence) => absence.split(' ')[1]))).toEqual(new Set(['held']));
      expect(absences).toHaveLength(count % PAGE);
      world.missing = 0;
      await pull();
      expect(await pull()).toMatchObject({ state: 'certified', rows: count });
      expect(await absencesOf(session)).toEqual([]);
      expect(await shortEvents(session)).toEqual([]);
    });

    test.each([2 * PAGE + 2, PAGE - 3])('lets a list of %i that ends short lose a row', async (count) => {
      const { world, session, pull } = await punches(count);
      world.records.splice(3, 1);
      for (let sweep = 0; sweep < 3; sweep++) await pull();
      expect(await shortEvents(session)).toHaveLength(1);
    });
  });
});
