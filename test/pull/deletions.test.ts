import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { saveUnlisted } from '../../src/store/sightings/sighting-store.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { liveIds, mirror, pullFrom, rowsOf, sandbox } from './support.ts';
import {
  absencesOf,
  clockAt,
  eventsOf,
  instantAt,
  newRequests,
  pullOne,
  shortEvents,
  pulledOnce,
} from './steps.ts';

const NO_GRACE = { deletions: { graceSeconds: 0, holdAbove: { rows: 5, share: 0.02 } } };

/** Takes some records away, by their places in the list. */
function remove({ world }: Sandbox, kind: string, ...places: readonly number[]): string[] {
  const ids = world.ids(kind);
  const gone = places.map((place) => ids.at(place) ?? 0);
  for (const id of gone) world.remove(kind, id);
  return gone.map(String);
}

const truthIds = ({ world }: Sandbox, kind: string): string[] =>
  [...world.ids(kind)].sort((a, b) => a - b).map(String);

const NOTED = sql`
  select kind, record_id, state, case when concluded_at is null then null else proof end as proof from deletions`;

const askable = (kind: string): boolean => !['punches', 'purchase_products'].includes(kind);

test('a deletion in a quiet list of any kind is certain at the next sweep, and concluded a grace later', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  const gone: Record<string, string> = {};
  /** Pulls every kind, and shows of each its report, its absences, events and live rows. */
  const pull = async (minute: number) => {
    const { kinds } = await pullFrom(service, session, { parts: { clock: clockAt(minute) } });
    expect(kinds.map(({ kind }) => kind)).toEqual(LISTED_KINDS.map(({ name }) => name));
    return kinds;
  };
  const noted = (sign: (kind: string) => string) =>
    LISTED_KINDS.map(({ name }) => [name, gone[name], sign(name)].join(' ')).sort();
  const absences = async () =>
    (await session.query(NOTED)).map((row) => Object.values(row).filter(Boolean).join(' ')).sort();
  await pull(0);
  for (const { name } of LISTED_KINDS) [gone[name] = ''] = remove(service, name, 1);

  for (const minute of [20, 34]) {
    for (const report of await pull(minute))
      expect(report).toMatchObject({ state: 'complete', reason: 'absences_unproven', deleted: 0 });
    expect(await absences()).toEqual(noted(() => 'suspected'));
    for (const { name } of LISTED_KINDS) expect(await liveIds(session, name)).toContain(gone[name]);
    expect(await eventsOf(session)).toEqual([]);
  }

  for (const report of await pull(35))
    expect(report).toMatchObject({ state: 'certified', deleted: 1, rows: service.world.count(report.kind) });
  expect(await absences()).toEqual(noted((kind) => `deleted ${askable(kind) ? 'retrieve' : 'list'}`));
  const deleted = (await eventsOf(session)).map((event) => [
    event['kind'],
    event['record_id'],
    event['change'],
  ]);
  expect(deleted.map((event) => event.join(' ')).sort()).toEqual(noted(() => 'deleted'));
  for (const { name } of LISTED_KINDS) expect(await liveIds(session, name)).toEqual(truthIds(service, name));

  for (const report of await pull(60)) expect(report).toMatchObject({ deleted: 0, updated: 0 });
  expect(await eventsOf(session)).toHaveLength(LISTED_KINDS.length);
});

test('a deletion keeps the content and says when it can have happened; a return is an event too', async () => {
  const service = await sandbox({ size: 130 });
  const session = await mirror();
  const kind = 'clients';
  await pullOne(service, session, { kind });
  await pullOne(service, session, { kind, minute: 10 });
  const id = service.world.ids(kind)[3] ?? 0;
  const record = service.world.get(kind, id) ?? {};
  service.world.remove(kind, id); // Between 12:10 and 12:20.
  await pullOne(service, session, { kind, minute: 20 });
  const { runId } = await pullOne(service, session, { kind, minute: 40 });

  const text = JSON.stringify(record);
  const deleted = {
    kind,
    record_id: String(id),
    change: 'deleted',
    before: text,
    after: null,
    fields: '{}',
    observed_from: instantAt(10),
    observed_at: instantAt(40),
    origin: 'service',
    run_id: runId,
  };
  expect(await eventsOf(session)).toMatchObject([deleted]);
  const [row] = (await rowsOf(session, kind)).filter((one) => one['id'] === String(id));
  expect(row).toMatchObject({ _raw: text, _deleted_at: instantAt(40), _first_seen_at: instantAt(0) });

  service.world.insert(kind, { ...record, city: 'Rimouski' });
  const back = await pullOne(service, session, { kind, minute: 60 });

  expect(back).toMatchObject({ restored: 1, created: 0, updated: 0, deleted: 0 });
  expect((await eventsOf(session)).slice(1)).toMatchObject([
    { change: 'restored', before: null, after: JSON.stringify(service.world.get(kind, id)), fields: '{}' },
  ]);
  expect(await absencesOf(session)).toEqual([]);
  expect(await liveIds(session, kind)).toEqual(truthIds(service, kind));
});

test('without a grace both looks follow each other at once, and never one alone', async () => {
  const service = await sandbox();
  const session = await mirror();
  await pullOne(service, session, { kind: 'clients', rules: NO_GRACE });
  const [gone = ''] = remove(service, 'clients', 0);
  const asked = newRequests(service);

  const report = await pullOne(service, session, { kind: 'clients', rules: NO_GRACE });

  expect(report).toMatchObject({ deleted: 1 });
  const looks = asked().filter((path) => path.startsWith('/api/clients/'));
  expect(looks.filter((path) => path.endsWith(gone))).toHaveLength(2);
  expect(looks).toHaveLength(6); // Each between two looks at the control.
});

test('where only a later list proves it, no grace still means a later sweep', async () => {
  const service = await sandbox();
  const session = await mirror();
  await pullOne(service, session, { kind: 'punches', rules: NO_GRACE });
  remove(service, 'punches', 0);
  const asked = newRequests(service);

  expect(await pullOne(service, session, { kind: 'punches', rules: NO_GRACE })).toMatchObject({
    deleted: 0,
  });
  expect(await pullOne(service, session, { kind: 'punches', rules: NO_GRACE })).toMatchObject({
    deleted: 1,
  });

  expect(asked().filter((path) => path.startsWith('/api/punch/'))).toEqual([]);
});

test('what is back before the proof is forgotten, as if nothing had been', async () => {
  const { service, session } = await pulledOnce('clients');
  const id = service.world.ids('clients')[0] ?? 0;
  const record = service.world.get('clients', id) ?? {};
  service.world.remove('clients', id);
  await pullOne(service, session, { kind: 'clients', minute: 20 });
  expect(await absencesOf(session)).toEqual([`${id} suspected`]);

  service.world.insert('clients', record);
  await pullOne(service, session, { kind: 'clients', minute: 40 });
  expect(await absencesOf(session)).toEqual([]);
  service.world.remove('clients', id);
  await pullOne(service, session, { kind: 'clients', minute: 60 });

  expect(await eventsOf(session)).toEqual([]);
  expect(await absencesOf(session)).toEqual([`${id} suspected`]);
});

test.each([
  [{ status: 503 }, 'invalid'],
  [{ successFalse: true }, 'invalid'],
] as const)('a sweep that %j breaks off concludes nothing', async (action, state) => {
  const { service, session } = await pulledOnce('clients', { size: 260 });
  remove(service, 'clients', 0, -1);
  service.setFaults([{ on: { kind: 'clients', page: 2 }, do: action }]);

  for (const minute of [20, 40, 60])
    expect(await pullOne(service, session, { kind: 'clients', minute })).toMatchObject({ state, deleted: 0 });

  expect(await absencesOf(session)).toEqual([]);
  expect(await eventsOf(session)).toEqual([]);
});

test('a write of ours that is not settled protects its record, whatever the list says', async () => {
  const { service, session } = await pulledOnce('clients');
  const [ours = '', theirs = ''] = remove(service, 'clients', 0, 1);
  await session.atomically((tx) =>
    tx.query(sql`insert into outbox (idempotency_key, kind, operation, record_id, payload, state)
      values ('k', 'clients', 'create', ${ours}, '{}', 'unsettled')`),
  );

  for (const minute of [20, 40, 60]) await pullOne(service, session, { kind: 'clients', minute });
  expect(await shortEvents(session)).toEqual([`${theirs} deleted`]);

  await session.atomically((tx) =>
    tx.query(sql`update outbox set state = 'done', updated_at = '2026-03-01 12:00:00.000'`),
  );
  for (const minute of [80, 100]) await pullOne(service, session, { kind: 'clients', minute });
  expect(await shortEvents(session)).toEqual([`${theirs} deleted`, `${ours} deleted`]);
});

test('a row that no sweep has shown for long is found missing all the same', async () => {
  const { service, session } = await pulledOnce('clients', { size: 130 });
  const [gone = ''] = remove(service, 'clients', 5);
  // What the first sweep saw is forgotten before any sweep gets as far as a certificate.
  await session.atomically(async (tx) => {
    await saveUnlisted(tx, 'clients', [gone]);
    await tx.query(sql`delete from sightings`);
  });

  await pullOne(service, session, { kind: 'clients', minute: 20 });
  await pullOne(service, session, { kind: 'clients', minute: 40 });
  await pullOne(service, session, { kind: 'clients', minute: 60 });

  expect(await shortEvents(session)).toEqual([`${gone} deleted`]);
});
