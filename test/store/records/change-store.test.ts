import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { ChangeEvent } from '../../../src/diff/compare-page.ts';
import { appendChanges, pruneChanges, type NewChanges } from '../../../src/store/records/change-store.ts';
import type { Row, Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const DAY = 86_400_000;
const LARGEST = '9223372036854775807';

const updated = (recordId: string, fields = '{"name":["a","b"]}'): ChangeEvent => ({
  recordId,
  change: 'updated',
  fields,
  observedFrom: '2026-03-01 11:00:00.000',
  before: '{"name":"a"}',
  after: '{"name":"b"}',
});
const created = (recordId: string): ChangeEvent => ({
  recordId,
  change: 'created',
  fields: '{}',
  observedFrom: null,
  before: null,
  after: `{"id":${recordId},"price":10.00}`,
});

const append = (
  session: Session,
  events: readonly ChangeEvent[],
  changes: Partial<NewChanges> = {},
): Promise<void> =>
  session.atomically((tx) =>
    appendChanges(tx, { kind: 'clients', events, origin: 'service', runId: 1, now: NOON, ...changes }),
  );

const all = (session: Session): Promise<Row[]> => session.query(sql`select * from changes order by seq`);
const column = async (session: Session, name: string) => (await all(session)).map((row) => row[name]);

describe.each(DATABASES)('change events in %s', (_name, open) => {
  test('are kept as they were, in the order of their numbers', async () => {
    const session = await open();
    await append(session, [created(LARGEST), updated('7')]);
    await append(session, [created('8')], { kind: 'products', origin: 'outbox:3', runId: null });
    const rows = await all(session);
    expect(rows.map((row) => Number(row['seq']))).toEqual([1, 2, 3]);
    const [first, second, third] = rows.map(({ seq, run_id: run, ...row }) => ({
      ...row,
      seq: Number(seq),
      run_id: run === null ? null : Number(run),
    }));
    expect(first).toEqual({
      seq: 1,
      kind: 'clients',
      record_id: LARGEST,
      record_number: LARGEST,
      change: 'created',
      observed_from: null,
      observed_at: NOON_TEXT,
      before: null,
      after: `{"id":${LARGEST},"price":10.00}`,
      fields: '{}',
      origin: 'service',
      run_id: 1,
    });
    expect(second).toMatchObject({
      record_id: '7',
      change: 'updated',
      observed_from: '2026-03-01 11:00:00.000',
      before: '{"name":"a"}',
      after: '{"name":"b"}',
      fields: '{"name":["a","b"]}',
    });
    expect(third).toMatchObject({ kind: 'products', origin: 'outbox:3', run_id: null });
  });

  test('never go back in time, even where the clock does; across kinds and across restarts', async () => {
    const session = await open();
    await append(session, [created('1')], { now: later(5000) });
    await append(session, [created('2')], { now: later(-DAY) });
    await append(session, [created('3')], { now: later(4999), kind: 'products' });
    await append(session, [created('4')], { now: later(5001) });
    const times = ['2026-03-01 12:00:05.000', '2026-03-01 12:00:05.001'];
    expect(await column(session, 'observed_at')).toEqual([times[0], times[0], times[0], times[1]]);
  });

  test('old ones are forgotten, but never the latest: it says where numbers and instants stand', async () => {
    const session = await open();
    for (const [index, days] of [-3, -2, -1].entries())
      await append(session, [created(String(index + 1))], { now: later(days * DAY) });
    await session.atomically((tx) => pruneChanges(tx, later(-2 * DAY)));
    expect(await column(session, 'record_id')).toEqual(['2', '3']);
    await session.atomically((tx) => pruneChanges(tx, later(DAY)));
    expect(await column(session, 'record_id')).toEqual(['3']);

    await append(session, [created('4')], { now: later(-9 * DAY) }); // The clock was set back meanwhile.
    expect(await column(session, 'record_id')).toEqual(['3', '4']);
    const [third, fourth] = await all(session);
    expect(Number(fourth?.['seq'])).toBe(Number(third?.['seq']) + 1);
    expect(fourth?.['observed_at']).toBe(third?.['observed_at']);
  });

  test('a number is never given twice, although the events before it were forgotten', async () => {
    const session = await open();
    await append(session, [created('1'), created('2')], { now: later(-DAY) });
    await session.atomically((tx) => pruneChanges(tx, NOON));
    await append(session, [created('3')]);
    expect((await column(session, 'seq')).map(Number)).toEqual([2, 3]);
  });
});
