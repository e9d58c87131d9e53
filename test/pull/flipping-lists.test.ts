import { describe, expect, test } from 'vitest';
import { canary } from '../support/canary.ts';
import { send, serve } from '../support/serve.ts';
import { ONE_DATABASE, MIRRORS, pullOne, shortEvents } from './steps.ts';
import { rowsOf } from './support.ts';

/** What the pages say of themselves. */
const PAGE_META = {
  'their number': (page: number) => ({ meta: { current_page: page } }),
  nothing: () => ({}),
};
type Meta = keyof typeof PAGE_META;

/** A service whose list of punches comes in the other direction at every second request. */
async function flippingService(meta: Meta, ids: number[], size: number) {
  let requests = 0;
  const url = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    if (pathname !== '/api/punch') {
      send(response, { message: 'not found' }, 404);
      return;
    }
    const page = Number(searchParams.get('page') ?? 1);
    const rows = requests++ % 2 === 0 ? ids : ids.toReversed();
    const data = rows.slice((page - 1) * size, page * size).map((id) => ({ id, note: `note ${id}` }));
    send(response, { success: true, data, ...PAGE_META[meta](page) });
  });
  return { url, token: canary('-flip') };
}

const idsUpTo = (rows: number): number[] => Array.from({ length: rows }, (_, index) => index + 1);

describe.each(ONE_DATABASE)('in %s, a list whose order differs between requests', (database) => {
  test.each<[Meta, number, number]>([
    ['their number', 47, 7],
    ['their number', 9, 5],
    ['their number', 10, 5],
    ['their number', 20, 10],
    ['nothing', 47, 7],
    ['nothing', 9, 5],
    ['nothing', 10, 5],
  ])('is not over where pages share rows; they tell %s, %i rows by %i', async (meta, rows, size) => {
    const ids = idsUpTo(rows);
    const service = await flippingService(meta, ids, size);
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(service, session, { kind: 'punches', minute });
    for (const minute of [0, 20, 40, 60]) {
      const { state, rows: seen } = await pull(minute);
      if (state === 'certified') expect(seen).toBe(rows);
    }
    expect((await rowsOf(session, 'punches')).map(({ id }) => Number(id))).toEqual(ids);
    expect(await shortEvents(session)).toEqual([]);
    expect(await pull(80)).toMatchObject({ state: 'certified', rows });
  });
});
