import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { compactJson } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { mirror, rewriting, rowsOf, sandbox } from './support.ts';
import {
  DATABASES,
  ONE_DATABASE,
  MIRRORS,
  backfillFrom,
  eventsOf,
  openIssueCodes,
  decideHeld,
  pullOne,
  shortEvents,
  watched,
  type Step,
} from './steps.ts';
import { sourceWithTokens } from './other-tokens.ts';

const kind = 'clients';

/** Pulls clients; returns which pages were parsed, each once and in order, and what came of it. */
async function pullWatched(service: Sandbox, session: Session, step: Omit<Step, 'kind'> = {}) {
  const { source, parsed } = watched(service, step.minute);
  const report = await pullOne(service, session, { ...step, kind, parts: { source } });
  await source.close();
  return { ...report, parsed: [...new Set(parsed)].sort((a, b) => a - b) };
}

/** A mirror that holds three pages of clients, known exactly. */
async function pulled(open: () => Promise<Session> = mirror, size = 260) {
  const service = await sandbox({ size });
  const session = await open();
  await pullOne(service, session, { kind });
  return { service, session };
}

async function expectTruth({ world }: Sandbox, session: Session): Promise<void> {
  const truth = [...world.ids(kind)]
    .sort((a, b) => a - b)
    .map((id) => compactJson(world.get(kind, id) ?? null));
  const live = (await rowsOf(session, kind)).filter((row) => row['_deleted_at'] === null);
  expect(live.map((row) => row['_raw'])).toEqual(truth);
}

describe.each(DATABASES)('%s', (database) => {
  test('A→Z→A: every state of a record is seen, also the one whose page was known before', async () => {
    const { service, session } = await pulled(MIRRORS[database]);
    const id = service.world.ids(kind)[150] ?? 0;
    const first = service.world.get(kind, id) ?? {};
    for (const [index, website] of ['Z', first['website'] ?? null, 'Z', first['website'] ?? null].entries()) {
      service.world.update(kind, id, { website });
      const report = await pullWatched(service, session, { minute: 10 * (index + 1) });
      expect(report).toMatchObject({ parsed: [2], updated: 1 });
      await expectTruth(service, session);
    }
    expect(await eventsOf(session)).toHaveLength(4);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a list that has not changed is not parsed, and reported as if it were', async () => {
    const { service, session } = await pulled(MIRRORS[database]);
    const before = await rowsOf(session, kind);

    const report = await pullWatched(service, session, { minute: 10 });

    expect(report).toMatchObject({
      parsed: [],
      state: 'certified',
      pages: 3,
      rows: 260,
      unchanged: 260,
      requests: 4,
      created: 0,
      updated: 0,
      restored: 0,
      deleted: 0,
      quarantined: 0,
      reason: null,
    });
    expect(await rowsOf(session, kind)).toEqual(before);
    for (const minute of [20, 30, 40])
      expect((await pullWatched(service, session, { minute })).parsed).toEqual([]);
  });

  test('only the page that changed is parsed', async () => {
    const { service, session } = await pulled(MIRRORS[database]);
    service.world.update(kind, service.world.ids(kind)[150] ?? 0, { website: 'https://neuf.test' });
    expect(await pullWatched(service, session, { minute: 10 })).toMatchObject({ parsed: [2], updated: 1 });
    expect((await pullWatched(service, session, { minute: 20 })).parsed).toEqual([]);
    await expectTruth(service, session);
  });
});

describe('a page that is known is parsed all the same', () => {
  test('under another token', async () => {
    const { service, session } = await pulled();
    const other = async (minute: number) => {
      const { source, parsed } = watched(
        service,
        minute,
        sourceWithTokens(service, minute, () => 'another'),
      );
      await pullOne(service, session, { kind, minute, parts: { source } });
      await source.close();
      return [...new Set(parsed)].sort();
    };
    expect(await other(10)).toEqual([1, 2, 3]);
    expect(await other(20)).toEqual([]);
    expect((await pullWatched(service, session, { minute: 30 })).parsed).toEqual([1, 2, 3]);
  });

  test('under other settings', async () => {
    const { service, session } = await pulled();
    const rules = { ignoreFields: { clients: ['city'] } };
    expect((await pullWatched(service, session, { rules, minute: 10 })).parsed).toEqual([1, 2, 3]);
    const others = { ignoreFields: { clients: ['city'], products: ['price'] } };
    expect((await pullWatched(service, session, { rules: others, minute: 20 })).parsed).toEqual([]);
  });

  test('after its row was written by a backfill, and after it was confirmed by one', async () => {
    const { service, session } = await pulled();
    const id = service.world.ids(kind)[150] ?? 0;
    const first = service.world.get(kind, id) ?? {};
    service.world.update(kind, id, { website: 'Z' });
    await backfillFrom(service, session, { kind, extent: { ids: [String(id)] }, minute: 10 });
    service.world.update(kind, id, first); // Page 2 has the bytes that are known.

    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({ parsed: [2], updated: 1 });
    await expectTruth(service, session);
    expect((await pullWatched(service, session, { minute: 30 })).parsed).toEqual([]);
  });

  test('where a row of it is deleted here, and its bytes come back', async () => {
    const { service, session } = await pulled();
    const id = service.world.ids(kind)[259] ?? 0; // The last one: no other row moves.
    const record = service.world.get(kind, id) ?? {};
    // The list stays as it is for the proof: a page that is known again, when its row is gone.
    service.world.remove(kind, id);
    await pullOne(service, session, { kind, minute: 20 });
    await pullOne(service, session, { kind, minute: 40 });
    expect(await shortEvents(session)).toEqual([`${id} deleted`]);

    service.world.insert(kind, record);
    expect(await pullWatched(service, session, { minute: 60 })).toMatchObject({ restored: 1 });
    await expectTruth(service, session);
  });

  test('where a row of it was written behind our back as deleted, at the tick of a tombstone', async () => {
    const { service, session } = await pulled();
    const id = String(service.world.ids(kind)[150] ?? 0);
    const { writeTombstones } = await import('../../src/pull/deletions/tombstone-store.ts');
    const [state] = await session.query(sql`select tick from kind_state where kind = ${kind}`);
    const response = Number(state?.['tick']) + 1;
    await session.atomically(async (tx) => {
      await tx.query(sql`update kind_state set tick = ${response} where kind = ${kind}`);
      await writeTombstones(tx, { kind, ids: [id], proof: 'list', response, runId: 1, now: new Date() });
    });

    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({ parsed: [2], restored: 1 });
    await expectTruth(service, session);
  });

  test('where it stands at another place now', async () => {
    const { service, session } = await pulled(mirror, 300);
    const first = service.world.ids(kind).slice(0, 100);
    for (const id of first) service.world.remove(kind, id); // Page 2 becomes page 1, byte by byte.
    // An empty page is never known.
    const rules = { deletions: { graceSeconds: 0, holdAbove: { rows: 1000, share: 1 } } };
    expect(await pullWatched(service, session, { minute: 10, rules })).toMatchObject({
      parsed: [1, 2, 3],
      deleted: 100,
      state: 'certified',
      rows: 200,
    });
    expect((await pullWatched(service, session, { minute: 20, rules })).parsed).toEqual([3]);
    await expectTruth(service, session);
  });

  test('where a record on it could not become a row, or the page shows one twice', async () => {
    const honest = await sandbox({ size: 260 });
    const session = await mirror();
    const [a = 0, b = 0] = honest.world.ids(kind).slice(110);
    const texts = [a, b].map((id) => compactJson(honest.world.get(kind, id) ?? null));
    let rewrite = (body: string): string => body.replace(`{"id":${a},`, '{"id":"007",');
    const service = await rewriting(honest, (body) => rewrite(body));
    for (const minute of [0, 10]) await pullOne(service, session, { kind, minute });
    expect(await pullWatched(service, session, { minute: 20 })).toMatchObject({
      parsed: [2],
      quarantined: 1,
    });
    expect(await openIssueCodes(session)).toEqual(['baseline_uncertified', 'id_not_an_integer']);

    rewrite = (body) => body.replace(texts[1] ?? '', texts[0] ?? '');
    for (const minute of [30, 40, 50])
      expect(await pullWatched(service, session, { minute })).toMatchObject({ state: 'complete', rows: 259 });
    rewrite = (body) => body;
    for (const minute of [60, 70]) await pullOne(service, session, { kind, minute });
    expect(await pullWatched(service, session, { minute: 80 })).toMatchObject({ parsed: [], rows: 260 });
  });
});

describe('what goes on while pages are not parsed', () => {
  test('issues stay open until their page changes', async () => {
    const { service, session } = await pulled();
    const id = service.world.ids(kind)[150] ?? 0;
    service.world.update(kind, id, { credit: '1,50' });
    await pullOne(service, session, { kind, minute: 10 });
    expect(await openIssueCodes(session)).toEqual(['not_a_decimal']);
    expect((await pullWatched(service, session, { minute: 20 })).parsed).toEqual([]);
    expect(await openIssueCodes(session)).toEqual(['not_a_decimal']);

    service.world.update(kind, id, { credit: '1.50' });
    await pullOne(service, session, { kind, minute: 30 });
    expect(await openIssueCodes(session)).toEqual([]);
  });

  test('a field that vanishes is noticed once no page shows it any more', async () => {
    const service = await sandbox({ size: 260 });
    const session = await mirror();
    const ids = service.world.ids(kind);
    const first = ids[0] ?? 0;
    const last = ids[259] ?? 0;
    for (const id of [first, last]) service.world.update(kind, id, { mood: 'sunny' });
    await pullOne(service, session, { kind });
    await pullOne(service, session, { kind, minute: 10 });
    const bare = (id: number): void => {
      const fields = Object.entries(service.world.get(kind, id) ?? {});
      const record = Object.fromEntries(fields.filter(([name]) => name !== 'mood'));
      service.world.remove(kind, id);
      service.world.insert(kind, record);
    };
    const drift = (): Promise<unknown> => session.query(sql`select code, field from drift order by id`);

    bare(first);
    expect((await pullWatched(service, session, { minute: 20 })).parsed).toEqual([1]);
    expect(await drift()).toEqual([]); // Page 3 still shows it, unparsed.
    bare(last);
    await pullOne(service, session, { kind, minute: 30 });
    expect(await drift()).toEqual([{ code: 'vanished_field', field: 'mood' }]);
  });

  test('pages beyond a list that has become shorter are forgotten', async () => {
    const { service, session } = await pulled();
    const rules = { deletions: { graceSeconds: 0, holdAbove: { rows: 1000, share: 1 } } };
    for (const id of service.world.ids(kind).slice(90)) service.world.remove(kind, id);
    await pullOne(service, session, { kind, minute: 10, rules });
    await decideHeld(session, kind, 'approved');
    await pullOne(service, session, { kind, minute: 20, rules });
    expect(await session.query(sql`select page from pages where kind = ${kind}`)).toEqual([{ page: 1 }]);
    await expectTruth(service, session);
  });

  test('what is remembered of writes does not grow', async () => {
    const { service, session } = await pulled();
    const ids = service.world.ids(kind);
    for (let round = 1; round <= 12; round++) {
      for (const id of ids.slice(0, 50)) service.world.update(kind, id, { website: `${round}` });
      await pullOne(service, session, { kind, minute: round * 10 });
    }
    const [touched] = await session.query(sql`select count(*) as n from touched`);
    const [sightings] = await session.query(
      sql`select count(*) as n, count(distinct sweep) as sweeps from sightings`,
    );
    expect(Number(touched?.['n'])).toBeLessThanOrEqual(100);
    expect(sightings).toMatchObject({ sweeps: 3 });
  });
});
