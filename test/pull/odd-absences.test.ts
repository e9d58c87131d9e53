import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readDisappeared } from '../../src/store/records/deletion-store.ts';
import { readCheck, rememberShown } from '../../src/store/records/hold-store.ts';
import { saveUnlisted } from '../../src/store/sightings/sighting-store.ts';
import { canary } from '../support/canary.ts';
import { send, serve } from '../support/serve.ts';
import { ONE_DATABASE, MIRRORS, absencesOf, decideHeld, kindState, pullOne, shortEvents } from './steps.ts';
import { liveIds } from './support.ts';

interface Record {
  readonly id: number;
  readonly [field: string]: unknown;
}

const PATHS = { '/api/punch': 'punches', '/api/categories': 'categories' } as const;

/** A service of one list; a single record answers as `single` says, else 200 or the service's own 404. */
async function service(path: keyof typeof PATHS, records: Record[]) {
  const world = { records, listed: (all: Record[]) => all, single: new Map<number, [number, unknown]>() };
  const headers: unknown[] = [];
  const url = await serve((request, response) => {
    headers.push(request.headers['cache-control']);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    if (pathname === path) {
      const page = Number(searchParams.get('page') ?? 1);
      const rows = world.listed(world.records);
      const meta = { current_page: page, last_page: 1, per_page: 100, total: rows.length };
      send(response, { success: true, data: page === 1 ? rows : [], meta });
      return;
    }
    const id = Number(pathname.split('/').at(-1));
    const found = world.records.find((record) => record.id === id);
    const [status, body] =
      world.single.get(id) ?? (found ? [200, { data: found }] : [404, { message: 'gone' }]);
    send(response, body, status);
  });
  return { world, headers, address: { url, token: canary('-odd') }, kind: PATHS[path] };
}

const numbered = (count: number, more: (id: number) => object = () => ({})): Record[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, code: `C${index + 1}`, ...more(index + 1) }));

const DAY = 24 * 60;

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('a row that an answer named and no list has shown stays, and its kind is not certified while it lives', async () => {
    const { world, address, kind } = await service('/api/punch', numbered(12));
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(address, session, { kind, minute });
    await pull(0);
    await session.atomically((tx) =>
      tx.query(sql`
      insert into punches (id, _first_seen_at, _changed_at, _response, _raw)
      values (500, '2026-03-01 12:00:00.000', '2026-03-01 12:00:00.000', 1, '{"id":500}')`),
    );
    await session.atomically((tx) => saveUnlisted(tx, kind, ['500']));
    for (const minute of [20, 40, 60, 80])
      expect(await pull(minute)).toMatchObject({ state: 'complete', reason: 'never_listed', deleted: 0 });
    expect(await liveIds(session, kind)).toContain('500');
    await pull(8 * DAY);
    expect(await readDisappeared(session)).toMatchObject([
      { state: 'held', records: 1, why: 'never_listed' },
    ]);

    world.records.push({ id: 500, code: 'C500' });
    expect(await pull(8 * DAY + 20)).toMatchObject({ state: 'certified', reason: null });
    expect(await absencesOf(session)).toEqual([]);
  });

  test('a row that an answer named and no list has shown is not deleted because it does not answer either', async () => {
    const { world, address, kind } = await service('/api/categories', numbered(12));
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(address, session, { kind, minute });
    await pull(0);
    await session.atomically((tx) =>
      tx.query(sql`
      insert into categories (id, _first_seen_at, _changed_at, _response, _raw)
      values (500, '2026-03-01 12:00:00.000', '2026-03-01 12:00:00.000', 1, '{"id":500}')`),
    );
    await session.atomically((tx) => saveUnlisted(tx, kind, ['500']));
    for (const minute of [20, 40, 60, 80])
      expect(await pull(minute)).toMatchObject({ state: 'complete', reason: 'never_listed', deleted: 0 });
    world.records = world.records.filter(({ id }) => id !== 7); // Another one can be asked for, and is deleted.
    for (const minute of [100, 120]) await pull(minute);
    expect(await shortEvents(session)).toEqual(['7 deleted']);
    for (const minute of [8 * DAY, 8 * DAY + 20]) await pull(minute);
    expect(await readDisappeared(session)).toMatchObject([
      { state: 'held', records: 1, why: 'never_listed' },
    ]);
    await decideHeld(session, kind, 'approved');
    for (const minute of [9 * DAY, 9 * DAY + 20]) await pull(minute);
    expect(await shortEvents(session)).toEqual(['7 deleted', '500 deleted']);
  });

  test.each([
    ['the last by id', (all: Record[]) => all.slice(0, 12), { id: 5 }],
    ['the first by id', (all: Record[]) => all.slice(-12), { id: 99 }],
    [
      'the last by date',
      (all: Record[]) =>
        all.toSorted((a, b) => String(a['date']).localeCompare(String(b['date']))).slice(0, 12),
      { id: 99, date: '2026-01-01' },
    ],
  ])(
    'a row that a list of constant length drops for another one is held: %s',
    async (_what, listed, entered) => {
      const { world, address, kind } = await service(
        '/api/punch',
        numbered(13, (id) => ({ date: `2026-02-${String(10 + ((id * 5) % 14))}` })).filter(
          ({ id }) => id !== 5,
        ),
      );
      const session = await MIRRORS[database]();
      const pull = (minute: number) => pullOne(address, session, { kind, minute });
      world.listed = listed;
      await pull(0);
      await pull(20);
      world.records = [...world.records, { code: 'NEW', ...entered }].toSorted((a, b) => a.id - b.id);
      for (const minute of [40, 60, 80, 100]) expect(await pull(minute)).toMatchObject({ deleted: 0 });
      expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1 }]);
    },
  );

  test('more than a third of a small kind is held', async () => {
    const { world, address, kind } = await service('/api/categories', numbered(9));
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(address, session, { kind, minute });
    await pull(0);
    world.records.splice(0, 3);
    for (const minute of [20, 40]) await pull(minute);
    expect(await liveIds(session, kind)).toHaveLength(6); // A third, and no more.
    world.records.splice(0, 3);
    for (const minute of [60, 80, 100]) await pull(minute);
    expect(await liveIds(session, kind)).toHaveLength(6);
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 3 }]);
  });

  test('a hold is approved for the records that were shown, and for no other', async () => {
    const { world, address, kind } = await service('/api/punch', numbered(60));
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(address, session, { kind, minute });
    await pull(0);
    world.records.splice(20, 6);
    await pull(20);
    const shown = await readCheck(session, kind, 'held');
    world.records.splice(20, 27);
    await pull(40);
    await expect(decideHeld(session, kind, 'approved', '6-0000000000')).rejects.toMatchObject({
      code: 'deletions.changed',
    });
    // They were not listed since the hold began, so that its beginning is what was shown.
    expect(await decideHeld(session, kind, 'approved')).toMatchObject({ records: 6, newer: 27 });
    await pull(60);
    await pull(80);
    expect(await liveIds(session, kind)).toHaveLength(54);
    await expect(decideHeld(session, kind, 'approved', shown)).rejects.toMatchObject({
      code: 'deletions.changed',
    });
    const [hold] = await readDisappeared(session);
    await session.atomically((tx) => rememberShown(tx, kind, hold?.check ?? ''));
    expect(await decideHeld(session, kind, 'approved')).toEqual({ kind, decision: 'approved', records: 27 });
  });

  test('a deletion that joined a hold goes on once most of the hold came back', async () => {
    const { world, address, kind } = await service('/api/categories', numbered(40));
    const session = await MIRRORS[database]();
    const pull = (minute: number) => pullOne(address, session, { kind, minute });
    await pull(0);
    world.listed = (all) => all.slice(20);
    await pull(20);
    world.records = world.records.filter(({ id }) => id !== 30);
    await pull(40);
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 21 }]);
    world.listed = (all) => all;
    for (const minute of [60, 80, 100]) await pull(minute);
    expect(await shortEvents(session)).toEqual(['30 deleted']);
  });

  describe('a list of recent rows only', () => {
    const dates = (id: number) => ({ date: `2026-02-${String(10 + Math.floor(id / 2)).padStart(2, '0')}` });

    test.each([
      ['by id', (id: number) => ({ date: `2026-02-${String(28 - id).padStart(2, '0')}` })],
      ['by date', dates],
    ])('is held at its third wave %s, and rejected it is certified', async (_by, more) => {
      const { world, address, kind } = await service('/api/punch', numbered(24, more));
      const session = await MIRRORS[database]();
      let minute = 0;
      const pull = () => pullOne(address, session, { kind, minute: (minute += 20) });
      await pull();
      for (const first of [3, 5]) {
        world.listed = (all) => all.filter(({ id }) => id >= first);
        for (let times = 0; times < 3; times++) await pull();
      }
      expect(await liveIds(session, kind)).toHaveLength(20);
      world.listed = (all) => all.filter(({ id }) => id >= 7);
      for (let times = 0; times < 4; times++) await pull();
      expect(await liveIds(session, kind)).toHaveLength(20);
      expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 2 }]);

      await decideHeld(session, kind, 'rejected');
      expect(await pull()).toMatchObject({ state: 'certified', reason: 'older_kept' });
      world.listed = (all) => all.filter(({ id }) => id >= 11);
      for (let times = 0; times < 3; times++)
        expect(await pull()).toMatchObject({ state: 'certified', reason: 'older_kept', deleted: 0 });
      expect(await kindState(session, kind)).toMatchObject({ state: 'certified', reason: 'older_kept' });
      expect(await liveIds(session, kind)).toHaveLength(20);

      world.records = world.records.filter(({ id }) => id !== 15); // A true deletion within the window.
      for (let times = 0; times < 2; times++) await pull();
      expect(await liveIds(session, kind)).not.toContain('15');
    });

    test('is held at three rows at once', async () => {
      const { world, address, kind } = await service('/api/punch', numbered(24, dates));
      const session = await MIRRORS[database]();
      const pull = (minute: number) => pullOne(address, session, { kind, minute });
      await pull(0);
      world.listed = (all) => all.slice(3);
      for (const minute of [20, 40, 60]) await pull(minute);
      expect(await liveIds(session, kind)).toHaveLength(24);
    });
  });

  test.each<[string, [number, unknown], string]>([
    ['200, inactive', [200, { data: { id: 7, code: 'C7', active: 0 } }], 'still_there'],
    ['403', [403, { message: 'not yours' }], 'forbidden'],
    ['a sign-in page', [200, '<html>Sign in</html>'], 'html'],
    ['null', [200, 'null'], 'wrong_record'],
  ])(
    'a record that the list lacks and that answers %s needs a person after a week',
    async (_name, answer, why) => {
      const { world, address, kind } = await service('/api/categories', numbered(20));
      const session = await MIRRORS[database]();
      const pull = (minute: number) => pullOne(address, session, { kind, minute });
      await pull(0);
      world.listed = (all) => all.filter(({ id }) => id !== 7);
      world.single.set(7, answer);
      for (const minute of [20, 40, 6 * DAY]) await pull(minute);
      expect((await readDisappeared(session)).filter(({ state }) => state === 'held')).toEqual([]);
      for (const minute of [8 * DAY, 8 * DAY + 20]) await pull(minute);
      expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1, why }]);

      world.records = world.records.filter(({ id }) => id !== 12); // Another deletion does not wait for that decision.
      for (const minute of [9 * DAY, 9 * DAY + 20]) await pull(minute);
      expect(await shortEvents(session)).toEqual(['12 deleted']);

      await decideHeld(session, kind, 'approved');
      for (const minute of [10 * DAY, 10 * DAY + 20]) await pull(minute);
      expect(await shortEvents(session)).toEqual(['12 deleted', '7 deleted']);
    },
  );
});

test('requests ask caches for the service’s own answer', async () => {
  const { address, headers, kind } = await service('/api/punch', numbered(3));
  await pullOne(address, await MIRRORS.SQLite(), { kind });
  expect(new Set(headers)).toEqual(new Set(['no-cache']));
});
