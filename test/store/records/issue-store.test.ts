import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  closeQuarantined,
  issueKey,
  readQuarantined,
  saveFieldIssues,
  saveListIssue,
  openIssues,
  type Issue,
  type ListIssue,
} from '../../../src/store/records/issue-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { NOON, NOON_TEXT, later, tempMirror } from '../temp-mirror.ts';

const misfit = (recordId: string, changes: Partial<Issue> = {}): Issue => ({
  recordId,
  field: 'credit',
  code: 'not_a_decimal',
  detail: '"1,234.50"',
  ...changes,
});

/** Lands the judgement on these records, `minute` minutes after noon. */
const judge =
  (session: Session, minute = 0) =>
  (recordIds: readonly string[], found: readonly Issue[]): Promise<void> =>
    session.atomically((tx) =>
      saveFieldIssues(tx, { kind: 'clients', recordIds, found, now: later(60_000 * minute) }),
    );

const listed = async (session: Session) =>
  (
    await session.query(sql`
      select kind, record_id, field, code, detail, first_seen_at, closed_at from issues order by id`)
  ).map(({ record_id: id, field, closed_at: closed }) => [id, field, closed === null ? 'open' : closed]);

describe('issues about fields', () => {
  test('open once, however often they are found', async () => {
    const session = await tempMirror();
    for (const minute of [0, 1, 2]) await judge(session, minute)(['1'], [misfit('1')]);
    expect(await listed(session)).toEqual([['1', 'credit', 'open']]);
    const [row] = await session.query(sql`select first_seen_at from issues`);
    expect(row).toEqual({ first_seen_at: NOON_TEXT });
  });

  test('close once the record was decoded without them, and open anew when they are back', async () => {
    const session = await tempMirror();
    await judge(session)(['1'], [misfit('1')]);
    await judge(session, 1)(['1'], []);
    expect(await listed(session)).toEqual([['1', 'credit', '2026-03-01 12:01:00.000']]);
    await judge(session, 2)(['1'], [misfit('1')]);
    expect(await listed(session)).toEqual([
      ['1', 'credit', '2026-03-01 12:01:00.000'],
      ['1', 'credit', 'open'],
    ]);
  });

  test('another field, code or value is another issue, and the record’s old one is over', async () => {
    const session = await tempMirror();
    await judge(session)(['1'], [misfit('1')]);
    await judge(session, 1)(['1'], [misfit('1', { detail: '"x"' }), misfit('1', { field: 'term' })]);
    expect(await listed(session)).toEqual([
      ['1', 'credit', '2026-03-01 12:01:00.000'],
      ['1', 'credit', 'open'],
      ['1', 'term', 'open'],
    ]);
  });

  test('of records that were not decoded, and of other kinds, stay as they are', async () => {
    const session = await tempMirror();
    await judge(session)(['1', '2'], [misfit('1'), misfit('2')]);
    await session.atomically((tx) =>
      saveFieldIssues(tx, { kind: 'products', recordIds: ['2'], found: [misfit('2')], now: NOON }),
    );
    await judge(session)(['2', '3'], []);
    const open = await session.query(
      sql`select kind, record_id from issues where closed_at is null order by id`,
    );
    expect(open).toEqual([
      { kind: 'clients', record_id: '1' },
      { kind: 'products', record_id: '2' },
    ]);
  });
});

describe('issues about whole records', () => {
  const quarantined = (recordId: string | null, detail = '{}'): Issue => ({
    recordId,
    field: null,
    code: 'no_id',
    detail,
  });
  const save = (session: Session, issues: readonly Issue[]): Promise<void> =>
    session.atomically((tx) => openIssues(tx, 'clients', issues, NOON));
  const close = (session: Session, seen: readonly Issue[], now = NOON): Promise<void> =>
    session.atomically((tx) => closeQuarantined(tx, 'clients', new Set(seen.map(issueKey)), now));

  test('are known again by their key, with or without an id', async () => {
    const session = await tempMirror();
    const issues = [quarantined(null, '{"a":1}'), quarantined('07', '{"id":"07"}')];
    await save(session, issues);
    expect(await readQuarantined(session, 'clients')).toEqual(new Set(issues.map(issueKey)));
    expect(await readQuarantined(session, 'products')).toEqual(new Set());
  });

  test('close once a complete sweep no longer shows them', async () => {
    const session = await tempMirror();
    const gone = quarantined(null, '{"a":1}');
    const there = quarantined(null, '{"a":2}');
    await save(session, [gone, there]);
    await close(session, [there], later(60_000));
    expect(await readQuarantined(session, 'clients')).toEqual(new Set([issueKey(there)]));
    expect(await listed(session)).toEqual([
      [null, null, '2026-03-01 12:01:00.000'],
      [null, null, 'open'],
    ]);
  });
});

describe('issues about a whole list', () => {
  const save = (
    session: Session,
    { code = 'baseline_uncertified', detail = 'why', minute = 0 }: Partial<ListFinding> = {},
  ): Promise<void> =>
    session.atomically((tx) => saveListIssue(tx, 'clients', { code, detail, now: later(60_000 * minute) }));
  interface ListFinding {
    readonly code: ListIssue;
    readonly detail: string | null;
    readonly minute: number;
  }

  const codes = async (session: Session) =>
    (await session.query(sql`select code, closed_at from issues order by id`)).map(
      ({ code, closed_at: closed }) => [code, closed === null ? 'open' : closed],
    );

  test('open once, however often they are found and whatever is said of them', async () => {
    const session = await tempMirror();
    for (const minute of [0, 1, 2]) await save(session, { minute, detail: `${minute} rows too many` });
    expect(await session.query(sql`select * from issues`)).toEqual([
      {
        id: 1,
        kind: 'clients',
        record_id: null,
        record_number: null,
        field: null,
        code: 'baseline_uncertified',
        detail: '0 rows too many',
        first_seen_at: NOON_TEXT,
        closed_at: null,
      },
    ]);
  });

  test('close when it is over, each its own, and open anew', async () => {
    const session = await tempMirror();
    await save(session);
    await save(session, { code: 'retrieve_unusable' });
    await save(session, { detail: null, minute: 1 });
    await save(session, { code: 'too_many_rows', detail: null, minute: 1 });
    const closed = ['baseline_uncertified', '2026-03-01 12:01:00.000'];
    expect(await codes(session)).toEqual([closed, ['retrieve_unusable', 'open']]);
    await save(session, { minute: 2 });
    expect(await codes(session)).toEqual([
      closed,
      ['retrieve_unusable', 'open'],
      ['baseline_uncertified', 'open'],
    ]);
  });

  test('outlast a complete sweep that showed no quarantined record, and are none of those', async () => {
    const session = await tempMirror();
    for (const code of ['baseline_uncertified', 'too_many_rows', 'retrieve_unusable'] as const)
      await save(session, { code });
    expect(await readQuarantined(session, 'clients')).toEqual(new Set());
    await session.atomically((tx) => closeQuarantined(tx, 'clients', new Set(), later(1)));
    await judge(session)(['1'], []);
    expect((await codes(session)).map(([, state]) => state)).toEqual(['open', 'open', 'open']);
  });
});
