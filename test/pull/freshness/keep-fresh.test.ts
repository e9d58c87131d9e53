import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { MIRRORS, clockAt, eventsOf, kindsNamed, newRequests, shortEvents } from '../steps.ts';
import { Crash, pullFrom, sandbox } from '../support.ts';
import { saveDirtyRows } from '../../../src/store/sightings/page-store.ts';
import { maxTokens } from '../../../src/pull/freshness/token-bucket.ts';
import { passTime, readerOf } from './reading.ts';

const SECOND = 1000;
const MINUTE = 60_000;

const budgetOf = async (session: Session) =>
  (await session.query(sql`select thousandths from request_budgets`))[0];

test('three processes make the requests of one budget, and all of them', { timeout: 60_000 }, async () => {
  const service = await sandbox();
  const session = await MIRRORS.PostgreSQL();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: LISTED_KINDS } });
  const requests = newRequests(service);
  const readers = ['one', 'two', 'three'].map((each) => readerOf({ service, session, clock, name: each }));

  await passTime(clock, 5 * MINUTE, readers);

  const made = requests();
  expect(made.length).toBeGreaterThanOrEqual(45);
  expect(made.length).toBeLessThanOrEqual(55);
  expect(new Set(made.map((path) => path.split('?')[0])).size).toBe(LISTED_KINDS.length);
  expect(made.filter((path) => /[?&]page=[^1]/.test(path))).toEqual([]); // Some lists show themselves whole on any page.
  expect(await shortEvents(session)).toEqual([]);
});

test('new and changed records are seen without a sweep', { timeout: 60_000 }, async () => {
  const service = await sandbox({ size: 180 });
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  const kinds = kindsNamed('clients', 'punches');
  await pullFrom(service, session, { parts: { clock }, request: { kinds } });
  const read = readerOf({ service, session, clock, rules: { kinds } });
  await passTime(clock, MINUTE, [read]);
  const [changed = 0] = service.world.slice('clients', 150, 151);
  const [removed = 0] = service.world.slice('clients', 30, 31);
  const id = Number(service.world.insert('clients', { name: 'New' })['id']);
  service.world.update('clients', changed, { name: 'Renamed' });

  await passTime(clock, 3 * MINUTE, [read]);

  const seen = await shortEvents(session);
  expect(seen).toEqual(expect.arrayContaining([`${id} created`, `${changed} updated`]));
  expect(seen).toHaveLength(2);
  service.world.remove('clients', removed); // What is gone is for sweeps to find.
  await passTime(clock, 2 * MINUTE, [read]);
  expect(await shortEvents(session)).toHaveLength(2);
});

test('after a restart it goes on where it was, without a request more', { timeout: 60_000 }, async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: LISTED_KINDS } });
  const requests = newRequests(service);
  for (let start = 0; start < 10; start++)
    await passTime(clock, 30 * SECOND, [readerOf({ service, session, clock })]);
  expect(requests().length).toBeLessThanOrEqual(55);
});

test('a kind without a baseline is never asked for', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed('departments') } });
  const requests = newRequests(service);
  await passTime(clock, 2 * MINUTE, [readerOf({ service, session, clock })]);
  expect(new Set(requests().map((path) => path.split('?')[0]))).toEqual(new Set(['/api/departments']));
});

test('a list that a run is about to read is left to it', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  const kinds = kindsNamed('departments');
  await pullFrom(service, session, { parts: { clock }, request: { kinds } });
  await session.atomically((tx) =>
    tx.query(sql`
      insert into runs (command, kinds, state, requested_at, epoch)
      values ('pull', '["departments"]', 'requested', '2026-03-01 12:00:00.000', 0)`),
  );
  const requests = newRequests(service);
  await passTime(clock, MINUTE, [readerOf({ service, session, clock, rules: { kinds } })]);
  expect(requests()).toEqual([]);
});

test('a refusal lets all processes wait', { timeout: 60_000 }, async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: LISTED_KINDS } });
  const readers = ['one', 'two'].map((each) => readerOf({ service, session, clock, name: each }));
  await passTime(clock, MINUTE, readers);
  service.setFaults([{ times: 1, do: { status: 429, retryAfter: '60' } }]);
  const requests = newRequests(service);
  await passTime(clock, MINUTE, readers);
  expect(requests().length).toBeLessThanOrEqual(2);
  await passTime(clock, 9 * MINUTE, readers);
  expect(requests().length).toBeGreaterThan(70);
});

test('a list with a create of ours that is not settled is looked at first', { timeout: 60_000 }, async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: LISTED_KINDS } });
  await session.atomically((tx) =>
    tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload, state)
      values ('key', 'vehicle_brands', 'create', '{}', 'unsettled')`),
  );
  const requests = newRequests(service);
  await passTime(clock, MINUTE, [readerOf({ service, session, clock })]);
  expect(requests()[0]).toMatch(/^\/api\/vehicles_brands/);
  expect(await eventsOf(session)).toEqual([]);
});

test('an end that is asked for while a page is under way ends at once, and nothing lands', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  await pullFrom(service, session, { parts: { clock }, request: { kinds: LISTED_KINDS } });
  service.setFaults([{ do: { holdMs: 60_000 } }]);
  const stop = new AbortController();
  const read = readerOf({ service, session, clock, parts: { signal: stop.signal } });
  await passTime(clock, 5 * SECOND, [read]);
  await clock.sleep(10 * SECOND);
  const reading = read();
  const before = service.requests.length;
  while (service.requests.length === before) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await reading;
  expect(await session.query(sql`select 1 from sightings where sweep is null`)).toEqual([]);
  expect(await session.query(sql`select kind from kind_state where owner is not null`)).toEqual([]);
});

test('a list that is too long to follow is left to its schedules', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  const kinds = kindsNamed('departments', 'clients');
  await pullFrom(service, session, { parts: { clock }, request: { kinds } });
  await session.atomically((tx) =>
    tx.query(sql`update sightings set rows = 100001 where kind = 'clients' and page = 1`),
  );
  const requests = newRequests(service);
  await passTime(clock, MINUTE, [readerOf({ service, session, clock, rules: { kinds } })]);
  expect(new Set(requests().map((path) => path.split('?')[0]))).toEqual(new Set(['/api/departments']));
});

test(
  'a page that cannot be read keeps no other page of its list from being read',
  { timeout: 60_000 },
  async () => {
    const service = await sandbox({ size: 300 });
    const session = await MIRRORS.SQLite();
    const clock = clockAt(0);
    const kinds = kindsNamed('clients');
    await pullFrom(service, session, { parts: { clock }, request: { kinds } });
    service.setFaults([{ on: { kind: 'clients', page: 2 }, do: { status: 500 } }]);
    const requests = newRequests(service);
    await passTime(clock, 10 * MINUTE, [readerOf({ service, session, clock, rules: { kinds } })]);
    const pages = new Set(requests().map((path) => /[?&]page=(\d+)/.exec(path)?.[1] ?? '1'));
    expect(pages).toEqual(new Set(['1', '2', '3']));
  },
);

/** A session whose one read or transaction fails, the nth from now. */
function failingAt(session: Session, n: number): Session {
  let operations = 0;
  const step = <T>(work: () => Promise<T>): Promise<T> =>
    ++operations === n ? Promise.reject(new Crash()) : work();
  return {
    ...session,
    query: (statement) => step(() => session.query(statement)),
    atomically: (work) => step(() => session.atomically(work)),
  };
}

test('a fault of the database before a request leaves costs none of the budget', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  const kinds = kindsNamed('departments', 'clients');
  await pullFrom(service, session, { parts: { clock }, request: { kinds } });
  await readerOf({ service, session, clock, rules: { kinds } })(); // The budget begins empty.
  const requests = newRequests(service);
  let faults = 0;
  for (let n = 2; n < 30; n++) {
    await clock.sleep(MINUTE);
    const before = requests().length;
    const filled = maxTokens(10);
    const failing = failingAt(session, n);
    await readerOf({ service, session: failing, clock, rules: { kinds } })().catch(() => faults++);
    const left = Number((await budgetOf(session))?.['thousandths']) / 1000;
    expect(left).toBeCloseTo(filled - (requests().length - before), 2);
  }
  expect(faults).toBeGreaterThan(15);
});

test('rows that are written again and again without a sweep are noted once', async () => {
  const service = await sandbox();
  const session = await MIRRORS.SQLite();
  const clock = clockAt(0);
  const kinds = kindsNamed('departments');
  await pullFrom(service, session, { parts: { clock }, request: { kinds } });
  await session.atomically(async (tx) => {
    for (let response = 1; response <= 50; response++)
      await saveDirtyRows(tx, 'departments', new Map([['95', response]]));
  });
  await passTime(clock, 10 * SECOND, [readerOf({ service, session, clock, rules: { kinds } })]);
  expect(await session.query(sql`select response from touched`)).toEqual([{ response: 50 }]);
});
