import { sql, type SQL } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session } from '../../src/db/session/session.ts';
import { DATABASES, at, mirrorIn, putChanges } from '../events/support.ts';
import { NOON_TEXT, putRecords } from '../store/temp-mirror.ts';

/** The record as it was in its version `v`. */
const raw = (id: number, v: number): string => `{"id":${id},"nom":"v${v}","credit":${v}.10}`;

const FIRST_READ = at('08:00');

/**
 * A day of six clients, first read at 08:00: 1 never changed; 2 was updated at 10 and 12; 3 was deleted at 10, restored at
 * 12 and updated at 14; 4 was created at 10 and deleted at 12; 5 was created at 14; 6 was deleted at 10.
 */
async function putDay(session: Session): Promise<void> {
  const rows = [
    { id: '1', _raw: raw(1, 1) },
    { id: '2', _raw: raw(2, 3) },
    { id: '3', _raw: raw(3, 3) },
    { id: '4', _raw: raw(4, 1), _first_seen_at: at('10:00'), _deleted_at: at('12:00') },
    { id: '5', _raw: raw(5, 1), _first_seen_at: at('14:00') },
    { id: '6', _raw: raw(6, 1), _deleted_at: at('10:00') },
  ];
  await session.atomically((tx) =>
    putRecords(
      tx,
      'clients',
      rows.map((row) => ({ _first_seen_at: FIRST_READ, _deleted_at: null, ...row })),
    ),
  );
  // A record of the same number in another kind must not get into the way.
  await putChanges(session, { ...event(2, 'deleted', '09:00', [2, null]), kind: 'products' });
  await putChanges(
    session,
    event(2, 'updated', '10:00', [1, 2]),
    event(3, 'deleted', '10:00', [1, null]),
    event(4, 'created', '10:00', [null, 1]),
    event(6, 'deleted', '10:00', [1, null]),
    event(2, 'updated', '12:00', [2, 3]),
    event(3, 'restored', '12:00', [null, 2]),
    event(4, 'deleted', '12:00', [1, null]),
    event(3, 'updated', '14:00', [2, 3]),
    event(5, 'created', '14:00', [null, 1]),
  );
}

function event(id: number, change: string, time: string, [before, after]: readonly (number | null)[]) {
  const text = (v: number | null = null): string | null => (v === null ? null : raw(id, v));
  return {
    record_id: String(id),
    change,
    observed_at: at(time),
    before: text(before),
    after: text(after),
  };
}

/** The question "as of an instant", as docs/analysts.md asks it. */
const asOf = (instant: string): SQL => sql`
  select k.id, case when c.seq is null then case when k._deleted_at is null then k._raw end else c.before end as record
  from clients k left join changes c on c.seq = (
    select min(seq) from changes
    where kind = 'clients' and record_id = cast(k.id as text) and observed_at > ${instant})
  where k._first_seen_at <= ${instant}`;

async function recordsAsOf(session: Session, instant: string): Promise<Record<string, string>> {
  const rows = await session.query(
    sql`select * from (${asOf(instant)}) then_ where record is not null order by id`,
  );
  return Object.fromEntries(rows.map((row) => [String(row['id']), String(row['record'])]));
}

async function recordsInHistory(session: Session, instant: string): Promise<Record<string, string>> {
  const rows = await session.query(sql`
    select h.id, h.record from bi_clients_history h join clients k on k.id = h.id
    where (h.valid_from <= ${instant} or h.valid_from is null) and (h.valid_to > ${instant} or h.valid_to is null)
    and k._first_seen_at <= ${instant}`);
  return Object.fromEntries(rows.map((row) => [String(row['id']), String(row['record'])]));
}

const DAY: readonly [instant: string, versions: Readonly<Record<string, number>>][] = [
  [at('07:59'), {}],
  [FIRST_READ, { 1: 1, 2: 1, 3: 1, 6: 1 }],
  ['2026-03-01 09:59:59.999', { 1: 1, 2: 1, 3: 1, 6: 1 }],
  [at('10:00'), { 1: 1, 2: 2, 4: 1 }],
  [at('11:00'), { 1: 1, 2: 2, 4: 1 }],
  [at('12:00'), { 1: 1, 2: 3, 3: 2 }],
  [at('14:00'), { 1: 1, 2: 3, 3: 3, 5: 1 }],
  [at('23:00'), { 1: 1, 2: 3, 3: 3, 5: 1 }],
];

describe.each(DATABASES)('%s', (database) => {
  test('the state as of any instant can be asked for', async () => {
    const { session } = await mirrorIn(database);
    await putDay(session);
    for (const [instant, versions] of DAY) {
      const expected = Object.fromEntries(
        Object.entries(versions).map(([id, v]) => [id, raw(Number(id), v)]),
      );
      expect(await recordsAsOf(session, instant), instant).toEqual(expected);
      expect(await recordsInHistory(session, instant), instant).toEqual(expected);
    }
  });

  test('bi_<kind>_history has each version of each record, and none for the time of a deletion', async () => {
    const { session } = await mirrorIn(database);
    await putDay(session);
    const rows = await session.query(sql`
      select id, valid_from, valid_to, change, record, seq from bi_clients_history order by id, coalesce(seq, 0)`);
    const version = (...[id, from, to, change, v, seq]: readonly (number | string | null)[]): Row => ({
      id: Number(id),
      valid_from: from === null ? null : at(String(from)),
      valid_to: to === null ? null : at(String(to)),
      change: change ?? null,
      record: raw(Number(id), Number(v)),
      seq: seq ?? null,
    });
    expect(rows).toEqual([
      version(1, null, null, null, 1, null),
      version(2, null, '10:00', null, 1, null),
      version(2, '10:00', '12:00', 'updated', 2, 2),
      version(2, '12:00', null, 'updated', 3, 6),
      version(3, null, '10:00', null, 1, null),
      version(3, '12:00', '14:00', 'restored', 2, 7),
      version(3, '14:00', null, 'updated', 3, 9),
      version(4, '10:00', '12:00', 'created', 1, 4),
      version(5, '14:00', null, 'created', 1, 10),
      version(6, null, '10:00', null, 1, null),
    ]);
  });

  test('a deleted record whose events are forgotten has no history', async () => {
    const { session } = await mirrorIn(database);
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1', _deleted_at: NOON_TEXT }]));
    expect(await session.query(sql`select * from bi_clients_history`)).toEqual([]);
  });

  test('versions of one instant are kept in their order', async () => {
    const { session } = await mirrorIn(database);
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1', _raw: raw(1, 3) }]));
    const noon = [event(1, 'updated', '12:00', [1, 2]), event(1, 'updated', '12:00', [2, 3])];
    await putChanges(session, ...noon);
    const rows = await session.query(sql`
      select valid_from, valid_to, record from bi_clients_history order by coalesce(seq, 0)`);
    expect(rows).toEqual([
      { valid_from: null, valid_to: NOON_TEXT, record: raw(1, 1) },
      { valid_from: NOON_TEXT, valid_to: NOON_TEXT, record: raw(1, 2) },
      { valid_from: NOON_TEXT, valid_to: null, record: raw(1, 3) },
    ]);
  });
});

describe('the index of changes by record is used', () => {
  const RECORDS = 20_000;
  const KINDS_STORED = ['clients', 'products', 'punches'];
  const INDEX = 'changes_by_kind_record_id_observed_at_seq';
  const OF_ONE = sql`select * from bi_clients_history where id = 77`;

  /** Most records have one event or none, one has a thousand. */
  async function putMany(session: Session): Promise<void> {
    await session.atomically((tx) =>
      putRecords(
        tx,
        'clients',
        Array.from({ length: RECORDS }, (_, index) => ({ id: String(index + 1) })),
      ),
    );
    const ids = Array.from({ length: RECORDS }, (_, index) => (index % 20 === 0 ? 77 : index + 1));
    for (const kind of KINDS_STORED)
      await putChanges(
        session,
        ...ids.map((id, index) => ({
          kind,
          record_id: String(id),
          change: 'updated',
          before: '{}',
          after: '{}',
          observed_at: at(`${String(8 + Math.floor((index * 8) / RECORDS)).padStart(2, '0')}:00`),
        })),
      );
  }

  const QUESTIONS: readonly [string, SQL][] = [
    ['as of early', asOf(at('07:00'))],
    ['as of late', asOf(at('15:30'))],
    ['as of one record', sql`select * from (${asOf(at('12:00'))}) t where record is not null and id = 77`],
    ['the history of one record', OF_ONE],
    ['all histories', sql`select count(*), sum(length(record)) from bi_clients_history`],
  ];

  test('by SQLite', async () => {
    const { session } = await mirrorIn('SQLite');
    await putMany(session);
    for (const [name, question] of QUESTIONS) {
      const plan = await session.query(sql`explain query plan ${question}`);
      const steps = plan.map(({ detail }) => String(detail)).join('\n');
      expect(steps, name).toContain(INDEX);
      expect(steps, name).not.toMatch(
        name.includes('one record') ? /SCAN (k|c|n|x|changes)\b/ : /SCAN (c|n|x|changes)\b/,
      );
    }
    expect((await session.query(OF_ONE)).length).toBe(1_002);
  });

  test('by PostgreSQL', async () => {
    const { session } = await mirrorIn('PostgreSQL');
    await putMany(session);
    await session.atomically((tx) => tx.execute('analyze'));
    for (const [name, question] of QUESTIONS) {
      const plan = await session.query(sql`explain ${question}`);
      const steps = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
      expect(steps, name).toContain(INDEX);
      if (name.includes('one record')) expect(steps).toContain('clients_pkey');
    }
    expect((await session.query(OF_ONE)).length).toBe(1_002);
  });
});
