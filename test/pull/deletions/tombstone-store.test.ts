import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session } from '../../../src/db/session/session.ts';
import { saveAbsences } from '../../../src/store/records/deletion-store.ts';
import { saveFieldIssues } from '../../../src/store/records/issue-store.ts';
import {
  writeTombstones,
  liveRows,
  liveRowsOf,
  type TombstoneBatch,
  type LiveRow,
} from '../../../src/pull/deletions/tombstone-store.ts';
import { readDirtyRows } from '../../../src/store/sightings/page-store.ts';
import { DATABASES } from '../../store/databases.ts';
import { NOON, NOON_TEXT, later, putRecords, type StoredRecord } from '../../store/temp-mirror.ts';

const LARGEST = '9223372036854775807';
const SEEN = '2026-03-01 11:00:00.000';
const AT = '2026-03-01 12:01:00.000';

const put = (session: Session, ...records: readonly StoredRecord[]): Promise<void> =>
  session.atomically((tx) => putRecords(tx, 'clients', records));

const bury = (
  session: Session,
  ids: readonly string[],
  burial: Partial<TombstoneBatch> = {},
): Promise<string[]> =>
  session.atomically((tx) =>
    writeTombstones(tx, {
      kind: 'clients',
      ids,
      proof: 'list',
      response: 50,
      runId: 3,
      now: later(60_000),
      ...burial,
    }),
  );

/** Notes an absence for each id, by when the record was seen last. */
const note = (session: Session, lastSeen: Readonly<Record<string, string | null>>): Promise<void> =>
  session.atomically((tx) => {
    const absence = {
      state: 'suspected',
      sweep: 9,
      absentSince: NOON,
      firstGoneAt: null,
      isCertified: true,
    } as const;
    const absences = Object.entries(lastSeen).map(([id, lastSeenAt]) => ({ ...absence, id, lastSeenAt }));
    return saveAbsences(tx, 'clients', absences);
  });

const misfits = (session: Session, kind: string, recordIds: readonly string[]): Promise<void> =>
  session.atomically((tx) => {
    const issue = { field: 'credit', code: 'not_a_decimal', detail: '"1,5"' };
    const found = recordIds.map((recordId) => ({ recordId, ...issue }));
    return saveFieldIssues(tx, { kind, recordIds, found, now: NOON });
  });

const events = (session: Session): Promise<Row[]> =>
  session.query(sql`
    select record_id, change, observed_from, observed_at, before, after, fields, origin from changes order by seq`);

const deletedAt = async (session: Session): Promise<unknown[]> =>
  (await session.query(sql`select _deleted_at from clients order by id`)).map((row) => row['_deleted_at']);

async function listed(session: Session): Promise<LiveRow[]> {
  const rows: LiveRow[] = [];
  for await (const some of liveRows(session, 'clients')) rows.push(...some);
  return rows;
}

describe.each(DATABASES)('burying rows in %s', (_name, open) => {
  test('marks them, keeps their content, and leaves an event each', async () => {
    const session = await open();
    await put(session, { id: '1', _raw: '{"id":1,"credit":10.00}', code: 'A' }, { id: LARGEST }, { id: '3' });
    expect(await bury(session, ['1', LARGEST])).toEqual(['1', LARGEST]);
    const [first] = await session.query(sql`select * from clients where id = 1`);
    expect(first).toMatchObject({
      code: 'A',
      _raw: '{"id":1,"credit":10.00}',
      _deleted_at: AT,
      _changed_at: AT,
      _first_seen_at: NOON_TEXT,
    });
    expect(Number(first?.['_response'])).toBe(50);
    expect(await deletedAt(session)).toEqual([AT, null, AT]);
    const deleted = { change: 'deleted', observed_from: null, observed_at: AT, origin: 'service' };
    expect(await events(session)).toEqual([
      { ...deleted, record_id: '1', before: '{"id":1,"credit":10.00}', after: null, fields: '{}' },
      { ...deleted, record_id: LARGEST, before: '{}', after: null, fields: '{}' },
    ]);
  });

  test('says in each event since when at the earliest, and closes the absences', async () => {
    const session = await open();
    await put(session, { id: '1' }, { id: '2' }, { id: '3' }, { id: '4', _response: 50 });
    await note(session, { 1: SEEN, 2: null, 4: SEEN });
    expect(await bury(session, ['4', '3', '2', '1'], { proof: 'retrieve' })).toHaveLength(3);
    const deletionEvents = (await events(session)).map(({ record_id: id, observed_from: from }) => [
      id,
      from,
    ]);
    expect(new Map(deletionEvents as [string, unknown][])).toEqual(
      new Map([
        ['1', SEEN],
        ['2', null],
        ['3', null],
      ]),
    );
    const concluded = { state: 'deleted', proof: 'retrieve', concluded_at: AT };
    expect(
      await session.query(
        sql`select record_id, state, proof, concluded_at from deletions order by record_id`,
      ),
    ).toEqual([
      { record_id: '1', ...concluded },
      { record_id: '2', ...concluded },
      { record_id: '4', state: 'suspected', proof: null, concluded_at: null },
    ]);
  });

  test('closes what is open about their fields, and nothing of a row that is left alone', async () => {
    const session = await open();
    await put(session, { id: '1' }, { id: '2', _response: 60 }, { id: '3' });
    await misfits(session, 'clients', ['1', '2', '3']);
    await misfits(session, 'products', ['1']);
    await bury(session, ['1', '2']);
    expect(
      await session.query(sql`select kind, record_id, closed_at from issues order by kind, record_id`),
    ).toEqual([
      { kind: 'clients', record_id: '1', closed_at: AT },
      { kind: 'clients', record_id: '2', closed_at: null },
      { kind: 'clients', record_id: '3', closed_at: null },
      { kind: 'products', record_id: '1', closed_at: null },
    ]);
  });

  test('as many as go into one statement are marked once, with one event each; none is no work', async () => {
    const session = await open();
    const ids = Array.from({ length: 500 }, (_, index) => String(index + 1));
    await put(session, ...ids.map((id): StoredRecord => ({ id })));
    expect(await bury(session, [])).toEqual([]);
    expect(new Set(await bury(session, ids))).toEqual(new Set(ids));
    expect(await bury(session, ids, { response: 70 })).toEqual([]);
    expect((await events(session)).map(({ record_id: id }) => Number(id)).sort((a, b) => a - b)).toEqual(
      ids.map(Number),
    );
  });

  test('leaves a row alone that was written since, is gone already, or never was', async () => {
    const session = await open();
    await put(
      session,
      { id: '1', _response: 50 },
      { id: '2', _response: 51 },
      { id: '3', _deleted_at: NOON_TEXT },
    );
    expect(await bury(session, ['1', '2', '3', '404'])).toEqual([]);
    expect(await deletedAt(session)).toEqual([null, null, NOON_TEXT]);
    expect(await events(session)).toEqual([]);
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(new Map());
  });

  test('is a write: a page that lists them is parsed, whatever its digest says', async () => {
    const session = await open();
    await put(session, { id: '1' }, { id: '2', _response: 60 });
    await bury(session, ['1', '2']);
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(new Map([['1', 50]]));
  });
});

describe.each(DATABASES)('live rows in %s', (_name, open) => {
  test('are told by their ids, with the response and the instant that wrote them last', async () => {
    const session = await open();
    await put(session, { id: '2', _response: 7 }, { id: LARGEST }, { id: '1', _deleted_at: NOON_TEXT });
    const rows = await listed(session);
    expect(rows.map(({ id, response, changedAt }) => [id, response, changedAt])).toEqual([
      ['2', 7, NOON_TEXT],
      [LARGEST, 1, NOON_TEXT],
    ]);
    const some = await liveRowsOf(session, 'clients', [LARGEST, '1', '404']);
    expect(some.map(({ id }) => id)).toEqual([LARGEST]);
  });

  test('are all of them, once each, however many portions they come in', async () => {
    const session = await open();
    const ids = Array.from({ length: 10_000 }, (_, index) => String(3 * index + 1));
    await put(session, ...ids.map((id): StoredRecord => ({ id })));
    expect((await listed(session)).map(({ id }) => id)).toEqual(ids);
  });
});
