import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Absence } from '../../../src/diff/absence.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import {
  awaitsSweep,
  forgetAbsences,
  readAbsences,
  readHeldRecords,
  readHolds,
  readProtected,
  saveAbsences,
  saveProofs,
} from '../../../src/store/records/deletion-store.ts';
import { decideHold, readCheck } from '../../../src/store/records/hold-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const SEEN = '2026-03-01 11:00:00.000';

const missing = (id: string, changes: Partial<Absence> = {}): Absence => ({
  id,
  state: 'suspected',
  sweep: 20,
  absentSince: NOON,
  firstGoneAt: null,
  isCertified: true,
  ...changes,
});

const save =
  (
    session: Session,
    { kind = 'clients', lastSeenAt = SEEN }: { kind?: string; lastSeenAt?: string | null } = {},
  ) =>
  (...absences: readonly Absence[]): Promise<void> =>
    session.atomically((tx) =>
      saveAbsences(
        tx,
        kind,
        absences.map((absence) => ({ ...absence, lastSeenAt })),
      ),
    );

const conclude = (
  session: Session,
  ids: readonly string[],
  now = NOON,
): Promise<Map<string, string | null>> =>
  session.atomically((tx) => saveProofs(tx, 'clients', { ids, proof: 'retrieve', now }));

const decide = async (
  session: Session,
  decision: 'approved' | 'rejected',
  kind = 'clients',
): Promise<number> => (await session.atomically((tx) => decideHold(tx, kind, decision))).records;

const rowOf = async (session: Session, id: string) =>
  (await session.query(sql`select * from deletions where kind = 'clients' and record_id = ${id}`))[0];

const statesOf = async (session: Session) =>
  (await session.query(sql`select state from deletions order by record_id`)).map(({ state }) => state);

/** An outbox row as an application inserts it, in this state. */
const enqueue = (
  session: Session,
  state: string,
  recordId: string | null,
  { kind = 'clients', operation = 'update' }: { kind?: string; operation?: string } = {},
): Promise<unknown> =>
  session.atomically((tx) =>
    tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, record_id, payload, state, updated_at)
      values (${`${kind} ${operation} ${state} ${recordId ?? ''}`}, ${kind}, ${operation}, ${recordId}, '{}', ${state},
        ${NOON_TEXT})`),
  );

describe.each(DATABASES)('absences in %s', (_name, open) => {
  test('are read as they were noted, those looked at longest ago first', async () => {
    const session = await open();
    const absences = [
      missing('9223372036854775807', { firstGoneAt: later(5000) }),
      missing('2', { state: 'unlisted', firstGoneAt: later(1000) }),
      missing('3'),
    ];
    await save(session)(...absences);
    await save(session, { kind: 'products' })(missing('4'));
    const read = await readAbsences(session, 'clients');
    expect([...read.keys()]).toEqual(['3', '2', '9223372036854775807']);
    for (const absence of absences) expect(read.get(absence.id)).toEqual(absence);
  });

  test('noted anew take the new state, and keep since when the record has not been seen', async () => {
    const session = await open();
    await save(session)(missing('1'));
    const struck = missing('1', { state: 'held', firstGoneAt: later(1000) });
    await save(session, { lastSeenAt: null })(struck);
    expect(await readAbsences(session, 'clients')).toEqual(new Map([['1', struck]]));
    expect(await rowOf(session, '1')).toMatchObject({ last_seen_at: SEEN });
  });

  test('say of each record when it was seen last, however many are noted at once', async () => {
    const session = await open();
    const ids = Array.from({ length: 500 }, (_, index) => String(index + 1));
    const seenAt = (id: string): string | null => (id === '7' ? null : formatInstant(later(-Number(id))));
    const absences = ids.map((id) => ({ ...missing(id), lastSeenAt: seenAt(id) }));
    await session.atomically((tx) => saveAbsences(tx, 'clients', absences));
    expect(await conclude(session, ids)).toEqual(new Map(ids.map((id) => [id, seenAt(id)])));
  });

  test('of no record are noted and forgotten without a word', async () => {
    const session = await open();
    await save(session)(missing('1'));
    await save(session)();
    await session.atomically((tx) => forgetAbsences(tx, 'clients', []));
    expect(await readAbsences(session, 'clients')).toEqual(new Map([['1', missing('1')]]));
  });

  test('of records that are there again are forgotten', async () => {
    const session = await open();
    await save(session)(missing('1'), missing('2'));
    await session.atomically((tx) => forgetAbsences(tx, 'clients', ['1', '404']));
    await session.atomically((tx) => forgetAbsences(tx, 'products', ['2']));
    expect([...(await readAbsences(session, 'clients')).keys()]).toEqual(['2']);
  });

  test('that were proven are over, tell since when at the earliest, and stay as the proof', async () => {
    const session = await open();
    await save(session)(missing('1'), missing('2'), missing('3'));
    await save(session, { kind: 'products' })(missing('1'));
    const concluded = await conclude(session, ['1', '3'], later(60_000));
    expect(concluded).toEqual(new Map(['1', '3'].map((id) => [id, SEEN])));
    expect([...(await readAbsences(session, 'clients')).keys()]).toEqual(['2']);
    expect([...(await readAbsences(session, 'products')).keys()]).toEqual(['1']);
    expect(await rowOf(session, '1')).toMatchObject({
      state: 'deleted',
      proof: 'retrieve',
      concluded_at: '2026-03-01 12:01:00.000',
      absent_since: NOON_TEXT,
      last_seen_at: SEEN,
    });
  });

  test('that were never noted, or whose record nobody had seen, tell no instant', async () => {
    const session = await open();
    await save(session, { lastSeenAt: null })(missing('1'));
    expect(await conclude(session, ['1', '404'])).toEqual(new Map([['1', null]]));
  });

  test('of a record that was gone, came back and is gone again begin anew', async () => {
    const session = await open();
    await save(session)(missing('1', { firstGoneAt: NOON }));
    await conclude(session, ['1']);
    const again = missing('1', { sweep: 90, absentSince: later(9000) });
    await save(session, { lastSeenAt: '2026-03-01 12:00:08.000' })(again);
    expect(await readAbsences(session, 'clients')).toEqual(new Map([['1', again]]));
    expect(await rowOf(session, '1')).toMatchObject({
      proof: null,
      concluded_at: null,
      last_seen_at: '2026-03-01 12:00:08.000',
    });
  });
});

describe.each(DATABASES)('holds in %s', (_name, open) => {
  test('count the records by kind and state, and tell since when', async () => {
    const session = await open();
    const held = { state: 'held' } as const;
    await save(session)(missing('1', held), missing('2', { ...held, absentSince: later(-1000) }));
    await save(session)(
      missing('3', { state: 'rejected' }),
      missing('4'),
      missing('5', { state: 'unlisted' }),
    );
    await save(session, { kind: 'products' })(missing('1', { state: 'approved' }));
    expect(await readHolds(session)).toEqual([
      { kind: 'clients', state: 'held', records: 2, since: '2026-03-01 11:59:59.000' },
      { kind: 'clients', state: 'rejected', records: 1, since: NOON_TEXT },
      { kind: 'products', state: 'approved', records: 1, since: NOON_TEXT },
    ]);
  });

  test('show some of their records, in the order of ids', async () => {
    const session = await open();
    await save(session)(...['10', '9', '100', '2'].map((id) => missing(id, { state: 'held' })));
    await save(session)(missing('1'));
    const held = { kind: 'clients', state: 'held' } as const;
    const some = await readHeldRecords(session, held, { limit: 3 });
    expect(some.map(({ id }) => id)).toEqual(['2', '9', '10']);
    expect(await readHeldRecords(session, { ...held, kind: 'products' }, { limit: 3 })).toEqual([]);
  });

  test('are decided for one kind, whole; a decision may be taken back', async () => {
    const session = await open();
    await save(session)(missing('1', { state: 'held' }), missing('2', { state: 'held' }), missing('3'));
    await save(session, { kind: 'products' })(missing('1', { state: 'held' }));
    expect(await decide(session, 'rejected')).toBe(2);
    expect(await decide(session, 'approved')).toBe(2);
    expect(await readHolds(session)).toMatchObject([
      { kind: 'clients', state: 'approved', records: 2 },
      { kind: 'products', state: 'held', records: 1 },
    ]);
    expect((await readAbsences(session, 'clients')).get('3')).toEqual(missing('3'));
  });

  test('are decided alone while others stand decided: only where none is held, all decisions are taken back', async () => {
    const session = await open();
    await save(session)(missing('1', { state: 'rejected' }), missing('2', { state: 'approved' }));
    await save(session)(missing('3', { state: 'held' }), missing('4'));
    expect(await decide(session, 'approved')).toBe(1);
    expect(await statesOf(session)).toEqual(['rejected', 'approved', 'approved', 'suspected']);
    expect(await decide(session, 'rejected')).toBe(2);
    expect(await statesOf(session)).toEqual(['rejected', 'rejected', 'rejected', 'suspected']);
  });

  test('that were approved and are approved again stay the ones: rows that a person has kept are not among them', async () => {
    const session = await open();
    await save(session)(missing('1', { state: 'rejected' }), missing('2', { state: 'held' }));
    const check = await readCheck(session, 'clients', 'held');
    const approve = (only?: string) =>
      session.atomically((tx) => decideHold(tx, 'clients', 'approved', only));
    for (const only of [undefined, undefined, check, undefined]) {
      expect(await approve(only)).toMatchObject({ records: 1 });
      expect(await statesOf(session)).toEqual(['rejected', 'approved']);
    }
    await save(session)(missing('3', { state: 'held' }));
    expect(await approve(check)).toMatchObject({ records: 1 });
    expect(await statesOf(session)).toEqual(['rejected', 'approved', 'held']);
    await expect(approve('1-0123456789')).rejects.toMatchObject({ code: 'deletions.changed' });
    expect(await approve(await readCheck(session, 'clients', 'rejected'))).toMatchObject({ records: 1 });
    expect(await statesOf(session)).toEqual(['approved', 'approved', 'held']);
  });

  test('that are none cannot be decided; what was buried meanwhile is no longer in question', async () => {
    const session = await open();
    await expect(decide(session, 'approved')).rejects.toMatchObject({ code: 'deletions.none' });
    await save(session)(missing('1', { state: 'approved' }));
    await conclude(session, ['1']);
    await expect(decide(session, 'rejected')).rejects.toMatchObject({ code: 'deletions.none' });
    expect(await rowOf(session, '1')).toMatchObject({ state: 'deleted' });
  });
});

describe.each(DATABASES)('unsettled writes of ours in %s', (_name, open) => {
  test('protect the records that they are about', async () => {
    const session = await open();
    for (const state of ['ready', 'sending', 'unsettled', 'done', 'parked', 'rejected', 'abandoned'])
      await enqueue(session, state, state);
    await enqueue(session, 'unsettled', null);
    await enqueue(session, 'unsettled', 'other', { kind: 'products' });
    await enqueue(session, 'done', 'made', { operation: 'create' });
    const unsettled = ['sending', 'unsettled'];
    expect(await readProtected(session, 'clients', later(900_000))).toEqual(new Set([...unsettled, 'made']));
    expect(await readProtected(session, 'clients', later(900_001))).toEqual(new Set(unsettled));
  });

  test('wait for a sweep of their kind', async () => {
    const session = await open();
    for (const state of ['ready', 'sending', 'done']) await enqueue(session, state, '1');
    expect(await awaitsSweep(session, 'clients')).toBe(false);
    await enqueue(session, 'unsettled', null);
    expect(await awaitsSweep(session, 'clients')).toBe(true);
    expect(await awaitsSweep(session, 'products')).toBe(false);
  });
});
