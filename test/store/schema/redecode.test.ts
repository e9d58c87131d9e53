import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { dateField, decimalField, integerField, jsonField, textField } from '../../../src/catalog/field.ts';
import type { Field, Kind } from '../../../src/catalog/kind.ts';
import { claimKind } from '../../../src/store/kinds/kind-lease.ts';
import { changeKindTables } from '../../../src/store/schema/change-kind-tables.ts';
import { redecode } from '../../../src/store/schema/redecode.ts';
import type { Row, Session, Transaction } from '../../../src/db/session/session.ts';
import { NOON, NOON_TEXT, later, madeUpKind, putRecords, tempMirror } from '../temp-mirror.ts';

const kindOf = (...fields: readonly Field[]): Kind => madeUpKind('things', fields);

/** A mirror of these records, swept once, with only `_raw` filled. */
async function mirrored(kind: Kind, raws: readonly string[]): Promise<Session> {
  const session = await tempMirror([kind]);
  await claimKind(session, kind.name, 'us');
  await session.atomically((tx) =>
    putRecords(
      tx,
      kind.name,
      raws.map((_raw, index) => ({ id: String(index + 1), _raw, _response: index + 7, _listed: 3 })),
    ),
  );
  return session;
}

const rowsOf = (session: Session): Promise<Row[]> => session.query(sql`select * from things order by id`);
const issuesOf = (session: Session): Promise<Row[]> =>
  session.query(sql`select record_id, field, code, detail, first_seen_at, closed_at from issues order by id`);

/** The same session, which counts the rows that are written through it. */
function counting(session: Session): { session: Session; written: () => number } {
  let rows = 0;
  const watched = (tx: Transaction): Transaction => ({
    ...tx,
    upsertRows: async (put) => {
      rows += put.rows.length;
      await tx.upsertRows(put);
    },
  });
  return {
    session: { ...session, atomically: (work) => session.atomically((tx) => work(watched(tx))) },
    written: () => rows,
  };
}

test('fills the columns from _raw and leaves what the rows say of themselves', async () => {
  const kind = kindOf(integerField('rank'), decimalField('price', 2));
  const session = await mirrored(kind, ['{"id":1,"rank":"7","price":1.5}', '{"id":2}']);
  await session.atomically((tx) => tx.query(sql`update things set _deleted_at = ${NOON_TEXT} where id = 2`));
  const [first, second] = await rowsOf(session);

  await redecode(session, kind, { now: later(60_000) });

  expect(await rowsOf(session)).toEqual([
    { ...first, rank: 7, price: '1.50', price_real: 1.5, price_e4: 15_000 },
    { ...second, rank: null, price: null },
  ]);
});

test('leaves a row alone of which a hand has made a copy under another id', async () => {
  const kind = kindOf(integerField('rank'));
  const session = await mirrored(kind, ['{"id":1,"rank":7}', '{"id":1,"rank":7}']);
  await session.atomically((tx) => tx.query(sql`update things set _deleted_at = ${NOON_TEXT} where id = 2`));
  const [first, copy] = await rowsOf(session);

  await redecode(session, kind, { now: later(60_000) });

  expect(await rowsOf(session)).toEqual([
    { ...first, rank: 7 },
    { ...copy, rank: 7 },
  ]);
});

test('after a change of a type, opens issues for what no longer fits and closes those of what now does', async () => {
  const kind = kindOf(textField('day'));
  const session = await mirrored(kind, [
    '{"id":1,"day":"7"}',
    '{"id":2,"day":"2026-01-01"}',
    '{"id":3,"day":[1]}',
  ]);
  const days = async () => (await rowsOf(session)).map((row) => row['day']);
  await redecode(session, kind, { now: NOON });
  expect(await days()).toEqual(['7', '2026-01-01', null]);
  const nested = { record_id: '3', field: 'day', detail: '[1]', first_seen_at: NOON_TEXT };
  expect(await issuesOf(session)).toEqual([{ ...nested, code: 'not_text', closed_at: null }]);

  await redecode(session, kindOf(dateField('day')), { now: later(1000) });
  const second = '2026-03-01 12:00:01.000';
  expect(await days()).toEqual([null, '2026-01-01', null]);
  const open = { field: 'day', code: 'not_a_date', first_seen_at: second, closed_at: null };
  expect(await issuesOf(session)).toEqual([
    { ...nested, code: 'not_text', closed_at: second },
    { ...open, record_id: '1', detail: '"7"' },
    { ...open, record_id: '3', detail: '[1]' },
  ]);

  const nestedDay = kindOf({ name: 'day', type: 'json' });
  await session.atomically((tx) => changeKindTables(tx, nestedDay, 'sqlite'));
  await redecode(session, nestedDay, { now: later(2000) });
  expect(await days()).toEqual(['"7"', '"2026-01-01"', '[1]']);
  expect((await issuesOf(session)).filter((issue) => issue['closed_at'] === null)).toEqual([]);
});

test('does nothing where nothing has changed, and nothing to a kind that was never swept', async () => {
  const kind = kindOf(decimalField('price', 2));
  const { session, written } = counting(await mirrored(kind, ['{"id":1,"price":1}']));
  await redecode(session, kind, { now: NOON });
  expect(written()).toBe(1);
  await redecode(session, kind, { now: NOON });
  expect(written()).toBe(1);
  await redecode(session, kindOf(decimalField('price', 4)), { now: NOON });
  expect(written()).toBe(2);

  await session.atomically((tx) => tx.query(sql`delete from kind_state`));
  await redecode(session, kind, { now: NOON });
  expect(written()).toBe(2);
});

test('reads every row of thousands once, in short transactions, and starts over where it was interrupted', async () => {
  const others = Array.from({ length: 40 }, (_, index) => textField(`other_${index}`));
  const kind = kindOf(integerField('rank'), ...others);
  const raws = Array.from({ length: 2_000 }, (_, index) => `{"id":${index + 1},"rank":${index}}`);
  const whole = await mirrored(kind, raws);
  let transactions = 0;
  const dying: Session = {
    ...whole,
    atomically: (work) => (++transactions < 3 ? whole.atomically(work) : Promise.reject(new Error('killed'))),
  };
  await expect(redecode(dying, kind, { now: NOON })).rejects.toThrow('killed');
  const { session, written } = counting(whole);
  await redecode(session, kind, { now: NOON });
  expect(written()).toBe(2_000);
  expect((await rowsOf(session)).map((row) => row['rank'])).toEqual(raws.map((_, index) => index));
});

test('refills nested tables alone where only their fields have changed, and tells how far it is', async () => {
  const kind = kindOf(jsonField('parts', [textField('name')]));
  const whole = await mirrored(kind, [
    '{"id":1,"parts":[{"name":"a","cost":"1.50"}]}',
    '{"id":2,"parts":[]}',
  ]);
  await redecode(whole, kind, { now: NOON });
  const longer = kindOf(jsonField('parts', [textField('name'), decimalField('cost', 2)]));
  await whole.atomically((tx) => changeKindTables(tx, longer, 'sqlite'));
  const { session, written } = counting(whole);
  const reports: unknown[] = [];
  await redecode(session, longer, { now: NOON, onProgress: (progress) => reports.push(progress) });
  expect(written()).toBe(0);
  expect(await session.query(sql`select parent_id, name, cost, cost_e4 from things_parts`)).toEqual([
    { parent_id: 1, name: 'a', cost: '1.50', cost_e4: 15_000 },
  ]);
  expect(reports).toEqual([{ kind: 'things', rows: 2 }]);
});
