import { expect, test, describe } from 'vitest';
import { canary } from '../support/canary.ts';
import { send, serve } from '../support/serve.ts';
import { ONE_DATABASE, MIRRORS, kindState, pullOne, shortEvents } from './steps.ts';
import { liveIds } from './support.ts';

const kind = 'clients';
const RECORDS = 90;

/** A list that is sorted by a day that many records share: of pages of one size, those of `hidden` come in none, and others twice. */
async function tiedList(hidden: (size: number) => readonly number[], records = RECORDS, most = 20) {
  const sizes: number[] = [];
  const state = { slowPage: 0 };
  const url = await serve((incoming, answer) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://x');
    if (pathname !== '/api/clients') {
      send(answer, { message: 'Not found.' }, 404);
      return;
    }
    const page = Number(searchParams.get('page'));
    const size = Math.min(most, Number(searchParams.get('per_page')));
    if (page === 1) sizes.push(size);
    if (page === state.slowPage && size > 50) {
      answer.writeHead(504).end('<h1>Gateway</h1>');
      return;
    }
    const ids = Array.from({ length: records }, (_, at) => at + 1);
    const shown = ids.map((id) => (hidden(size).includes(id) ? id - 40 : id));
    const data = shown.slice((page - 1) * size, page * size).map((id) => ({ id, name: `Garage ${id}` }));
    const meta = { current_page: page, last_page: Math.ceil(records / size), per_page: size, total: records };
    send(answer, { success: true, data, meta });
  });
  return { service: { url, token: canary('-tied') }, sizes, state };
}

const LAST_TEN = Array.from({ length: 10 }, (_, at) => 81 + at);
const OTHERS = Array.from({ length: 5 }, (_, at) => 61 + at);

describe.each(ONE_DATABASE)('%s', (database) => {
  test.each([
    ['one size', (size: number) => (size === 20 ? LAST_TEN : [])],
    ['each size', (size: number) => (size === 20 ? LAST_TEN : size === 10 ? OTHERS : [7 + 40])],
  ])('records that no page of %s shows come with pages of another', async (_, hidden) => {
    const { service, sizes } = await tiedList(hidden);
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(service, session, { kind, minute });
    for (let time = 0; time < 8; time++) await pull(20 * time);
    expect((await liveIds(session, kind)).length).toBe(RECORDS);
    expect((await kindState(session, kind))['certified_at']).not.toBeNull();
    expect((await shortEvents(session)).filter((event) => !event.endsWith('created'))).toEqual([]);
    expect(new Set(sizes)).toContain(10);
  });

  test('a later page that takes too long gives the next sweep smaller pages, which it keeps for a day', async () => {
    const { service, sizes, state } = await tiedList(() => [], 290, 100);
    const session = await MIRRORS[database]();
    state.slowPage = 3;
    expect(await pullOne(service, session, { kind })).toMatchObject({ reason: 'page_unread', rows: 200 });
    expect(await pullOne(service, session, { kind, minute: 20 })).toMatchObject({
      state: 'certified',
      rows: 290,
    });
    state.slowPage = 0;
    sizes.length = 0;
    await pullOne(service, session, { kind, minute: 1500 });
    expect(new Set(sizes)).toEqual(new Set([100]));
  });
});
