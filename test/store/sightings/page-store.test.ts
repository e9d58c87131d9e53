import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { formatIds, parseIds } from '../../../src/diff/page-ids.ts';
import {
  readPages,
  savePages,
  prunePages,
  readDirtyRows,
  saveDirtyRows,
  compactDirtyRows,
  type StoredPage,
} from '../../../src/store/sightings/page-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';

const IDS = ['7', '9223372036854775807'];
const PAGE = {
  digest: 'd1',
  bytes: 2 ** 31 + 1,
  ids: formatIds(IDS),
  fields: ['id', 'né'],
  sent: 3,
  response: 4,
};

/** Stores pages 1, 2 … at once. */
const save = (session: Session, ...pages: readonly (Partial<typeof PAGE> | null)[]): Promise<void> =>
  session.atomically((tx) =>
    savePages(tx, 'clients', new Map(pages.map((page, at) => [at + 1, page && { ...PAGE, ...page }]))),
  );

/** Each page, and between which ticks it was read. */
const read = async (session: Session, kind = 'clients'): Promise<[number, number, number][]> =>
  [...(await readPages(session, kind))]
    .map(([page, { sent, response }]): [number, number, number] => [page, sent, response])
    .sort(([a], [b]) => a - b);

describe.each(DATABASES)('pages in %s', (_name, open) => {
  test('are read as they were saved, 64-bit ids to the digit, by their numbers', async () => {
    const session = await open();
    await save(session, {}, { ids: '[]', fields: [] });
    const pages = await readPages(session, 'clients');
    expect([...pages.keys()].sort()).toEqual([1, 2]);
    const shown = ({ keys, ...page }: StoredPage) => ({ ...page, keys: [...keys] });
    expect([...pages.values()].map(shown)).toMatchObject([
      { ...PAGE, keys: IDS },
      { keys: [], fields: [] },
    ]);
    expect(await readPages(session, 'products')).toEqual(new Map());
  });

  test('a page that is landed again replaces what it was', async () => {
    const session = await open();
    const anew = { digest: 'd2', bytes: 3, fields: ['id'], sent: 7, response: 9 };
    await save(session, {});
    await save(session, { ...anew, ids: '[8]' });
    expect((await readPages(session, 'clients')).get(1)).toMatchObject({ ...anew, ids: '[8]' });
  });

  test('the end of a sweep forgets those beyond the list, and the writes before it; the others keep their ticks', async () => {
    const session = await open();
    await save(session, {}, { sent: 21, response: 25 }, {});
    await session.atomically(async (tx) => {
      await savePages(tx, 'products', new Map([[9, PAGE]]));
      for (const kind of ['clients', 'products'])
        for (const response of [3, 20, 21]) await saveDirtyRows(tx, kind, new Map([['7', response]]));
      await prunePages(tx, 'clients', 2, 20);
    });
    expect(await read(session)).toEqual([
      [1, 3, 4],
      [2, 21, 25],
    ]);
    expect(await read(session, 'products')).toEqual([[9, 3, 4]]);
    const touched = await session.query(sql`select kind, response from touched order by kind, response`);
    expect(touched.map(({ kind, response }) => [kind, Number(response)])).toEqual([
      ['clients', 20],
      ['clients', 21],
      ['products', 3],
      ['products', 20],
      ['products', 21],
    ]);
    expect(await readDirtyRows(session, 'clients', 20)).toEqual(new Map([['7', 21]]));
  });
});

test.each([[[]], [['1']], [IDS]])('the ids %j are a JSON array of numbers, and are read back', (ids) => {
  expect([...parseIds(formatIds(ids))]).toEqual(ids);
  expect(formatIds(ids)).toBe(JSON.stringify(ids).replaceAll('"', ''));
});

const LARGEST = '9223372036854775807';

const touch = (session: Session, response: number, ...ids: readonly string[]): Promise<void> =>
  session.atomically((tx) => saveDirtyRows(tx, 'clients', new Map(ids.map((id) => [id, response]))));

describe.each(DATABASES)('rows that were written again in %s', (_name, open) => {
  test('are told by the latest response that wrote them, after a given one', async () => {
    const session = await open();
    await touch(session, 5, '1', LARGEST);
    await touch(session, 9, '1');
    await touch(session, 7, '2');
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(
      new Map([
        [LARGEST, 5],
        ['2', 7],
        ['1', 9],
      ]),
    );
    expect(await readDirtyRows(session, 'clients', 7)).toEqual(new Map([['1', 9]]));
    expect(await readDirtyRows(session, 'products', 0)).toEqual(new Map());
  });
});

describe.each(DATABASES)('dirty rows in %s', (_name, open) => {
  test('are each kept once where no sweep removes them, as of their last write', async () => {
    const session = await open();
    await session.atomically(async (tx) => {
      for (const [response, ids] of [['7', '8'], ['7'], ['9', '7'], ['8']].entries())
        await saveDirtyRows(tx, 'clients', new Map(ids.map((id) => [id, response + 1])));
      await saveDirtyRows(tx, 'products', new Map([['7', 1]]));
    });
    const before = await readDirtyRows(session, 'clients', 0);

    await compactDirtyRows(session);

    expect(await readDirtyRows(session, 'clients', 0)).toEqual(before);
    const rows = await session.query(sql`select kind, record_id from touched order by kind, record_id`);
    expect(rows.map(({ kind, record_id }) => `${String(kind)} ${String(record_id)}`)).toEqual([
      'clients 7',
      'clients 8',
      'clients 9',
      'products 7',
    ]);
  });
});
