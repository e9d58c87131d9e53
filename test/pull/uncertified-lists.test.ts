import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { KindReport } from '../../src/mirror/runs/run-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { movingService, oneByOne } from './moving-service.ts';
import {
  DATABASES,
  MIRRORS,
  absencesOf,
  clockAt,
  kindState,
  kindsNamed,
  newRequests,
  shortEvents,
} from './steps.ts';
import { mirror, pullFrom, rowsOf } from './support.ts';

const kind = 'clients';
const ANY_NUMBER = {
  deletions: { graceSeconds: 900, holdAbove: { rows: 1000, share: 1 } },
  repeatBelowPages: 0, // One reading a sweep: it does not certify in any case.
};

interface Pulled {
  readonly minute: number;
  readonly rules?: typeof ANY_NUMBER;
  readonly kinds?: readonly ListedKind[];
}

async function pullMoving(
  service: Sandbox,
  session: Session,
  { minute, rules = ANY_NUMBER, kinds = kindsNamed(kind) }: Pulled,
): Promise<KindReport> {
  await using source = oneByOne(service, minute);
  const pulling = { parts: { clock: clockAt(minute), source }, request: { kinds, ...rules } };
  const [report] = (await pullFrom(service, session, pulling)).kinds;
  if (report === undefined) throw new Error(`${kind} was pulled`);
  return report;
}

/** A mirror that knew the list exactly, before it began to move. */
async function moving(open: () => Promise<Session> = mirror) {
  const { service, honest, move } = await movingService(kind);
  const session = await open();
  const pull = (minute: number, more: Omit<Pulled, 'minute'> = {}) =>
    pullMoving(service, session, { minute, ...more });
  await pull(0);
  move(true);
  const remove = (place: number): string => {
    const id = honest.world.ids(kind)[place] ?? 0;
    honest.world.remove(kind, id);
    return String(id);
  };
  return { honest, session, pull, remove, move };
}

const askedFor = (paths: readonly string[], id: string): number =>
  paths.filter((path) => path === `/api/clients/${id}`).length;

describe.each(DATABASES)('%s', (database) => {
  test('a record that two complete sweeps did not show is asked for, and deleted once it is gone twice, a grace apart', async () => {
    const { honest, session, pull, remove } = await moving(MIRRORS[database]);
    const gone = remove(3);
    const asked = newRequests(honest);

    expect(await pull(20)).toMatchObject({ state: 'complete', deleted: 0 });
    expect(askedFor(asked(), gone)).toBe(0); // The sweep before it has shown the record.
    await pull(40);
    expect(askedFor(asked(), gone)).toBe(1);
    expect(await absencesOf(session)).toContain(`${gone} suspected`);
    await pull(50);
    expect(askedFor(asked(), gone)).toBe(0);
    await pull(56);

    expect(await absencesOf(session)).toContain(`${gone} deleted retrieve`);
    expect(await shortEvents(session)).toContain(`${gone} deleted`);
    expect((await kindState(session, kind))['state']).toBe('complete');
  });

  test('whatever moves, all that is deleted is gone, and nothing that is gone waits for a certificate', async () => {
    const { honest, session, pull, move } = await moving(MIRRORS[database]);
    for (let minute = 20; minute <= 140; minute += 20)
      expect(await pull(minute)).toMatchObject({ state: 'complete' });
    const isThere = (id: unknown): boolean => honest.world.get(kind, Number(id)) !== undefined;
    const rows = await rowsOf(session, kind);
    const deleted = rows.filter((row) => row['_deleted_at'] !== null);
    expect(deleted.filter((row) => isThere(row['id']))).toEqual([]);
    expect(deleted.length).toBeGreaterThan(5);

    move(false);
    for (const minute of [160, 180, 200]) await pull(minute);
    const live = (await rowsOf(session, kind)).filter((row) => row['_deleted_at'] === null);
    expect(live.map((row) => Number(row['id'])).sort((a, b) => a - b)).toEqual(
      honest.world.ids(kind).toSorted((a, b) => a - b),
    );
  });

  test('a mass disappearance is one hold, asked for by nobody', async () => {
    const { honest, session, pull, remove } = await moving(MIRRORS[database]);
    const gone = Array.from({ length: 12 }, () => remove(3));
    const few = { ...ANY_NUMBER, deletions: { graceSeconds: 900, holdAbove: { rows: 11, share: 0 } } };
    const asked = newRequests(honest);
    for (const minute of [20, 40, 60]) await pull(minute, { rules: few });

    const absences = await absencesOf(session);
    expect(gone.filter((id) => !absences.includes(`${id} held`))).toEqual([]);
    expect(asked().filter((path) => /clients\/\d+$/.test(path))).toEqual([]);
    expect(await shortEvents(session)).not.toContain(`${gone[0] ?? ''} deleted`);
  });
});

test('where no record can be asked for, a list that is not certified concludes nothing', async () => {
  const { session, pull, remove } = await moving();
  const kinds = kindsNamed(kind).map((one) => ({ ...one, retrieve: null }));
  remove(3);
  for (const minute of [20, 40, 60, 80]) expect(await pull(minute, { kinds })).toMatchObject({ deleted: 0 });

  const uncertified = await session.query(sql`select count(*) as some from deletions where certified = 0`);
  expect(Number(uncertified[0]?.['some'])).toBe(0);
  expect((await shortEvents(session)).filter((event) => event.endsWith('deleted'))).toEqual([]);
});

describe('does not count as a second complete sweep:', () => {
  test.each([
    [{ status: 503 }, 'aborted'],
    [{ successFalse: true }, 'invalid'],
  ] as const)('one that %j breaks off', async (deed, state) => {
    const { honest, session, pull, remove } = await moving();
    const gone = remove(3);
    await pull(20);
    honest.setFaults([{ on: { kind, page: 2 }, do: deed }]);
    for (const minute of [40, 60, 80]) expect(await pull(minute)).toMatchObject({ state, deleted: 0 });

    expect(await absencesOf(session)).toEqual([]);
    honest.setFaults([]);
    await pull(100);
    expect(await absencesOf(session)).toContain(`${gone} suspected`);
  });

  test('one after a response of a broken sweep has shown the record', async () => {
    const { honest, session, pull } = await moving();
    const id = honest.world.ids(kind)[3] ?? 0;
    const record = honest.world.get(kind, id) ?? {};
    honest.world.remove(kind, id);
    await pull(20);
    honest.world.insert(kind, record);
    honest.setFaults([{ on: { kind, page: 2 }, do: { status: 503 } }]);
    expect(await pull(30)).toMatchObject({ state: 'aborted' });
    honest.setFaults([]);
    honest.world.remove(kind, id);

    await pull(40);
    expect(await absencesOf(session)).not.toContain(`${id} suspected`);
    await pull(60);
    expect(await absencesOf(session)).toContain(`${id} suspected`);
  });

  test('one whose row was written since the first of the two began', async () => {
    const { session, pull, remove } = await moving();
    const gone = remove(3);
    const written = remove(3);
    await pull(20);
    await session.atomically((tx) =>
      tx.query(sql`
        update clients set _response = (select tick from kind_state where kind = 'clients') where id = ${written}`),
    );
    await pull(40);
    const absences = await absencesOf(session);
    expect(absences).toContain(`${gone} suspected`);
    expect(absences).not.toContain(`${written} suspected`);
  });
});

test('a write of ours that is not settled protects its record', async () => {
  const { session, pull, remove } = await moving();
  const gone = remove(3);
  await session.atomically((tx) =>
    tx.query(sql`insert into outbox (idempotency_key, kind, operation, record_id, payload, state)
      values ('k', 'clients', 'create', ${gone}, '{}', 'unsettled')`),
  );
  for (const minute of [20, 40, 60, 80]) await pull(minute);

  expect((await absencesOf(session)).filter((absence) => absence.startsWith(`${gone} `))).toEqual([]);
});

test('a list that then certifies begins its own proof: no look at it counts before', async () => {
  const { session, pull, remove, move } = await moving();
  const gone = remove(3);
  for (const minute of [20, 40]) await pull(minute);
  move(false);
  const [before] = await session.query(sql`select certified from deletions where record_id = ${gone}`);
  expect(Number(before?.['certified'])).toBe(0);
  expect(await pull(45)).toMatchObject({ state: 'complete', reason: 'absences_unproven' });

  const [row] = await session.query(
    sql`select certified, absent_since from deletions where record_id = ${gone}`,
  );
  expect(row).toMatchObject({ absent_since: '2026-03-01 12:45:00.000' });
  expect(Number(row?.['certified'])).toBe(1);
});
