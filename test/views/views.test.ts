import { sql } from 'drizzle-orm';
import { isSearchField } from '../../src/store/tables/search-text.ts';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { textField } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import { NOON_TEXT, columnsOf, madeUpKind, putRecords, tempMirror } from '../store/temp-mirror.ts';

/** The contract, written a second time: the columns and types that a view shows of a field. */
const SHOWN = {
  integer: 'BIGINT',
  flag: 'INTEGER',
  date: 'DATE',
  time: 'TEXT',
  timestamp: 'TIMESTAMP',
  text: 'TEXT',
  json: 'TEXT',
};

const shownAs = ({ fields, minutes }: Kind): [string, string][] => [
  ...fields.flatMap(({ name, type, refersTo, recordOf }): [string, string][] => {
    if (type === 'decimal')
      return [
        [name, 'REAL'],
        [`${name}_exact`, 'TEXT'],
        [`${name}_e4`, 'BIGINT'],
      ];
    const id: [string, string][] = recordOf === undefined ? [] : [[`${name}_id`, SHOWN.integer]];
    return [[name, refersTo === undefined ? SHOWN[type] : SHOWN.integer], ...id];
  }),
  ['_first_seen_at', 'TIMESTAMP'],
  ['_changed_at', 'TIMESTAMP'],
  ...(fields.some(isSearchField) ? [['_search', 'TEXT'] satisfies [string, string]] : []),
  ...(minutes === undefined ? [] : [['minutes', SHOWN.integer] satisfies [string, string]]),
];

describe('bi_<kind>', () => {
  test.each(LISTED_KINDS.map((kind) => [kind.name, kind] as const))(
    'bi_%s shows the documented fields in their order, with their declared types',
    async (name, kind) => {
      expect(await columnsOf(await tempMirror(), `bi_${name}`)).toEqual(shownAs(kind));
    },
  );

  test('a decimal shows as number, exact text and whole units', async () => {
    const session = await tempMirror();
    await session.atomically((tx) =>
      putRecords(tx, 'punches', [
        { id: '1', ptotal: '-7.50', ptotal_real: -7.5, ptotal_e4: -75_000 },
        { id: '2', ptotal: '0.123456789', ptotal_real: 0.123456789 },
        { id: '3', ptotal: null },
      ]),
    );
    expect(
      await session.query(sql`select ptotal, ptotal_exact, ptotal_e4 from bi_punches order by id`),
    ).toEqual([
      { ptotal: -7.5, ptotal_exact: '-7.50', ptotal_e4: -75_000 },
      { ptotal: 0.123456789, ptotal_exact: '0.123456789', ptotal_e4: null },
      { ptotal: null, ptotal_exact: null, ptotal_e4: null },
    ]);
  });

  test('only live rows are shown, and a restored one again', async () => {
    const session = await tempMirror();
    const shown = async () =>
      (await session.query(sql`select id from bi_clients order by id`)).map(({ id }) => id);
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [
        { id: '1', _deleted_at: null },
        { id: '2', _deleted_at: NOON_TEXT },
      ]),
    );
    expect(await shown()).toEqual([1]);
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '2', _deleted_at: null }]));
    expect(await shown()).toEqual([1, 2]);
  });

  test('G17: names with quotes in them', async () => {
    const kind = madeUpKind(`odd "kind's"`, [textField(`it's "so"`), textField('order')]);
    const session = await tempMirror([kind]);
    await session.atomically((tx) =>
      putRecords(tx, kind.name, [{ id: '1', [`it's "so"`]: 'x', order: 'y' }]),
    );
    expect(await session.query(sql`select * from ${sql.identifier(`bi_${kind.name}`)}`)).toEqual([
      { id: 1, [`it's "so"`]: 'x', order: 'y', _first_seen_at: NOON_TEXT, _changed_at: NOON_TEXT },
    ]);
    expect((await session.query(sql`select kind, rows from bi_sync_status`))[0]).toEqual({
      kind: kind.name,
      rows: 1,
    });
  });
});

describe('bi_sync_status', () => {
  // prettier-ignore
  const COLUMNS = [
    'kind', 'state', 'reason', 'rows', 'last_sweep_at', 'certified_at', 'lag_seconds', 'last_change_at',
    'open_issues', 'held_deletions',
  ];

  test('has the documented columns, and one row for each listed kind in the order of the catalogue', async () => {
    const session = await tempMirror();
    expect((await columnsOf(session, 'bi_sync_status')).map(([name]) => name)).toEqual(COLUMNS);
    const kinds = (await session.query(sql`select kind from bi_sync_status`)).map(({ kind }) => kind);
    expect(kinds).toEqual(LISTED_KINDS.map(({ name }) => name));
  });

  test('in SQLite, counts rows only for a query that reads them', async () => {
    const session = await tempMirror();
    const planOf = async (columns: string): Promise<string> =>
      JSON.stringify(
        await session.query(sql.raw(`explain query plan select ${columns} from bi_sync_status`)),
      );
    expect(await planOf('rows')).toContain('clients');
    expect(await planOf('kind, state, reason, lag_seconds, open_issues')).not.toContain('clients');
  });

  test('a kind that was never swept', async () => {
    const session = await tempMirror();
    expect(await session.query(sql`select * from bi_sync_status where kind = 'clients'`)).toEqual([
      {
        kind: 'clients',
        state: 'never',
        reason: null,
        rows: 0,
        last_sweep_at: null,
        certified_at: null,
        lag_seconds: null,
        last_change_at: null,
        open_issues: 0,
        held_deletions: 0,
      },
    ]);
  });

  test('counts live rows and open issues, and the seconds since the last sweep', async () => {
    const session = await tempMirror();
    const anHourAgo = formatInstant(new Date(Date.now() - 3_600_000));
    await session.atomically(async (tx) => {
      await putRecords(tx, 'clients', [{ id: '1' }, { id: '2' }, { id: '3', _deleted_at: NOON_TEXT }]);
      await putRecords(tx, 'products', [{ id: '1' }]);
      await tx.query(sql`
        insert into kind_state (kind, tick, state, reason, complete_sweeps, last_sweep_at, last_change_at, epoch)
        values ('clients', 9, 'aborted', 'http_500', 1, ${anHourAgo}, ${NOON_TEXT}, 1)`);
      for (const [kind, closed] of [
        ['clients', null],
        ['clients', NOON_TEXT],
        ['products', null],
      ]) {
        await tx.query(sql`
          insert into issues (kind, code, first_seen_at, closed_at) values (${kind}, 'no_id', ${NOON_TEXT}, ${closed})`);
      }
    });
    const [row] = await session.query(sql`select * from bi_sync_status where kind = 'clients'`);
    const { lag_seconds: lag, ...rest } = row ?? {};
    expect(rest).toEqual({
      kind: 'clients',
      state: 'aborted',
      reason: 'http_500',
      rows: 2,
      last_sweep_at: anHourAgo,
      certified_at: null,
      last_change_at: NOON_TEXT,
      open_issues: 1,
      held_deletions: 0,
    });
    expect(Number(lag)).toBeGreaterThanOrEqual(3600);
    expect(Number(lag)).toBeLessThan(3660);
  });
});
