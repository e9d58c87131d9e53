import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import {
  countIssues,
  hasMoreLiveRows,
  readFailing,
  readStatus,
} from '../../../src/store/kinds/status-store.ts';
import { DATABASES } from '../databases.ts';
import { NOON_TEXT, putRecords, tempMirror } from '../temp-mirror.ts';

test('the status of every listed kind, with nulls where nothing happened yet', async () => {
  const session = await tempMirror();
  const swept = formatInstant(new Date());
  await session.atomically(async (tx) => {
    await putRecords(tx, 'products', [{ id: '1' }, { id: '2', _deleted_at: NOON_TEXT }]);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, reason, complete_sweeps, last_sweep_at, certified_at, last_change_at, epoch)
      values ('products', 9, 'certified', null, 1, ${swept}, ${swept}, ${NOON_TEXT}, 1)`);
  });
  const status = await readStatus(session);
  expect(status.map(({ kind }) => kind)).toEqual(LISTED_KINDS.map(({ name }) => name));
  expect(status[0]).toEqual({
    kind: 'projects',
    state: 'never',
    reason: null,
    rows: 0,
    lastSweepAt: null,
    certifiedAt: null,
    lagSeconds: null,
    lastChangeAt: null,
    openIssues: 0,
    heldDeletions: 0,
  });
  expect(status.find(({ kind }) => kind === 'products')).toEqual({
    kind: 'products',
    state: 'certified',
    reason: null,
    rows: 1,
    lastSweepAt: swept,
    certifiedAt: swept,
    lagSeconds: expect.any(Number) as unknown,
    lastChangeAt: NOON_TEXT,
    openIssues: 0,
    heldDeletions: 0,
  });
});

test('open issues are counted by kind, field and code, the most frequent first', async () => {
  const session = await tempMirror();
  const issues: (readonly [string, string | null, string, string | null])[] = [
    ['clients', 'credit', 'not_a_decimal', null],
    ['products', null, 'no_id', null],
    ['products', null, 'no_id', null],
    ['clients', 'credit', 'not_a_decimal', NOON_TEXT],
    ['clients', null, 'no_id', null],
  ];
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'issues',
      columns: ['kind', 'field', 'code', 'closed_at', 'first_seen_at'],
      rows: issues.map((issue) => [...issue, NOON_TEXT]),
    }),
  );
  expect(await countIssues(session)).toEqual([
    { kind: 'products', field: null, code: 'no_id', count: 2 },
    { kind: 'clients', field: null, code: 'no_id', count: 1 },
    { kind: 'clients', field: 'credit', code: 'not_a_decimal', count: 1 },
  ]);
});

describe('hasMoreLive', () => {
  test.each([
    [0, true],
    [1, true],
    [2, false],
    [3, false],
  ])('two live rows are more than %i: %s', async (few, expected) => {
    const session = await tempMirror();
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '1' }, { id: '2' }, { id: '3', _deleted_at: NOON_TEXT }]),
    );
    expect(await hasMoreLiveRows(session, 'clients', few)).toBe(expected);
  });
});

describe.each(DATABASES)('since when a kind fails, in %s', (_name, open) => {
  /** The readings of pulls, one a minute from noon: a kind, and the reason for which it failed or null. */
  const failingAfter = async (readings: readonly (readonly [string, string | null])[]) => {
    const session = await open();
    const minute = (index: number) => `2026-03-01 12:0${index}:00.000`;
    await session.atomically(async (tx) => {
      for (const [index, [kind, reason]] of readings.entries()) {
        await tx.query(sql`
          insert into runs (id, command, kinds, state, requested_at)
          values (${index + 1}, 'pull', '[]', 'done', ${minute(index)})`);
        await tx.query(sql`
          insert into run_kinds (run_id, kind, state, reason, started_at, pages, ${sql.identifier('rows')}, created, updated, deleted,
            restored, unchanged, quarantined, requests, retries, duration_ms)
          values (${index + 1}, ${kind}, ${reason === null ? 'certified' : 'aborted'}, ${reason}, ${minute(index)},
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`);
      }
    });
    return (await readFailing(session)).map(({ kind, since }) => [kind, Number(since.slice(14, 16))]);
  };

  test('is its own first failed reading, whatever other kinds were read since', async () => {
    const down = ['products', 'unavailable'] as const;
    const [good, other] = [['products', null] as const, ['clients', null] as const];
    expect(await failingAfter([down, good, down, other, down])).toEqual([['products', 2]]);
  });

  test('is earlier where the service failed as a whole before', async () => {
    const readings = [
      ['clients', 'unreachable'],
      ['products', 'unreachable'],
    ] as const;
    expect(await failingAfter(readings)).toEqual([
      ['clients', 0],
      ['products', 0],
    ]);
  });

  test('is no reading that a person stopped, unless none failed', async () => {
    const stopped = ['products', 'interrupted'] as const;
    expect(await failingAfter([stopped, ['products', 'html'], stopped])).toEqual([['products', 1]]);
    expect(await failingAfter([['clients', null], stopped])).toEqual([['products', 1]]);
  });
});
