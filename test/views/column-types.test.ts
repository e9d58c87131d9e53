import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Json } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/db/session/session.ts';
import { identifier, isViewName } from '../../src/db/session/sql-text.ts';
import { nestedTables } from '../../src/store/tables/kind-table.ts';
import { readTexts } from '../../src/db/rows/rows.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import { pullFrom, sandbox } from '../pull/support.ts';

const VIEWS = {
  sqlite: sql`select name from sqlite_schema where type = 'view' and name not in ('price_changes_now', 'statuses_now') order by 1`,
  postgres: sql`select table_name from information_schema.views where table_schema = 'public' order by 1`,
};

const untyped = (session: Session, view: string): Promise<string[]> =>
  readTexts(
    session,
    session.dialect === 'sqlite'
      ? sql`select name from pragma_table_xinfo(${view}) where type = ''`
      : sql`
        select column_name from information_schema.columns where table_schema = 'public' and table_name = ${view}
        and (data_type in ('numeric', 'unknown') and coalesce(numeric_scale, 0) = 0 or data_type = 'USER-DEFINED')`,
  );

/** Values that have broken casts: in PostgreSQL only the ones that a numeric column can hold. */
const NUMBERS = [
  '0',
  '-0.0001',
  '99999999999999.9999',
  '100000000000000',
  '0.00001',
  '1.50000000000000000000',
  `${'9'.repeat(28)}.0000000001`,
  `1${'0'.repeat(28)}`,
  '0.00000000001',
  '9'.repeat(300),
  'NaN',
  'Infinity',
  '-Infinity',
];
const TEXTS = ['', '-', '1.2.3', '1e999', '0x10', '{', '[1,', '"', '[{}]', 'null', ...NUMBERS];

async function putAdversarial(session: Session): Promise<void> {
  const tables = [...KINDS, ...KINDS.flatMap(nestedTables)].map(({ name }) => name);
  await session.atomically(async (tx) => {
    for (const table of tables) {
      const types = await typesOf(session, table);
      const columns = [...types.keys()];
      const rows = TEXTS.map((text, at) => columns.map((name) => valueFor(name, { at, text, types })));
      await tx.insertRows({ table, columns, rows });
    }
  });
}

/** In SQLite every column takes a text. */
async function typesOf(session: Session, table: string): Promise<Map<string, string>> {
  const types =
    session.dialect === 'sqlite'
      ? sql`select name, 'text' as type from pragma_table_xinfo(${table})`
      : sql`select attname as name, format_type(atttypid, null) as type from pg_attribute
            where attrelid = to_regclass(${`bms_sync.${identifier(table)}`}) and attnum > 0`;
  const rows = await session.query(types);
  return new Map(rows.map((row) => [String(row['name']), String(row['type'])]));
}

interface Place {
  readonly at: number;
  readonly text: string;
  readonly types: ReadonlyMap<string, string>;
}

function valueFor(column: string, { at, text, types }: Place): string | number | null {
  if (['id', 'parent_id', 'position', '_response'].includes(column)) return at + 1;
  if (column.endsWith('_real')) return at; // Landing leaves out what would not fit.
  if (column === '_deleted_at') return null;
  if (column.startsWith('_') && column.endsWith('_at')) return '2026-03-01 12:00:00.000';
  if (column === '_raw') return '{}';
  const type = types.get(column);
  if (type === 'text') return text;
  return type === 'numeric' ? (NUMBERS[at] ?? null) : null;
}

describe.each(DATABASES)('%s', (database) => {
  test('every column of every view has a type, and a decimal has a scale', async () => {
    const { session } = await mirrorIn(database);
    const views = await readTexts(session, VIEWS[session.dialect]);
    expect(views.length).toBeGreaterThan(30);
    for (const view of views) expect([view, await untyped(session, view)]).toEqual([view, []]);
  });

  test('so has every column that a pull discovers, in views of arrays and of misfits too', async () => {
    const { session } = await mirrorIn(database);
    const service = await sandbox({ size: 12 });
    const discover = (value: Record<string, Json>): void => {
      const [id = 0] = service.world.ids('vehicle_brands');
      service.world.update('vehicle_brands', id, value);
    };
    discover({
      seen: '2026-01-02',
      cost: '1.50',
      n: 3,
      odd: { a: 1 },
      notes: [{ cost: '1.50' }, 'x'],
      none: null,
    });
    await pullFrom(service, session);
    discover({ n: 'three', seen: 'never' });
    await pullFrom(service, session);

    const views = await readTexts(session, VIEWS[session.dialect]);
    expect(views).toContain('bi_vehicle_brands_notes');
    for (const view of views) expect([view, await untyped(session, view)]).toEqual([view, []]);
    const [row = {}] = await session.query(sql`select * from bi_vehicle_brands order by id limit 1`);
    expect(row).toMatchObject({
      cost_exact: '1.5',
      cost_e4: 15_000,
      n_text: 'three',
      seen_text: 'never',
      none: null,
    });
  });

  test('no column of any view raises on any stored value', async () => {
    const { session } = await mirrorIn(database);
    await putAdversarial(session);
    for (const view of await readTexts(session, VIEWS[session.dialect])) {
      const rows = await session.query(sql`select * from ${sql.identifier(view)}`);
      for (const column of Object.keys(rows[0] ?? {})) {
        const name = sql.identifier(column);
        await session.query(sql`select ${name} from ${sql.identifier(view)} order by ${name}`);
      }
    }
  });

  test('an amount that a view cannot show exactly is null there, and exact beside it', async () => {
    const { session } = await mirrorIn(database);
    const shown = session.dialect === 'sqlite' ? sql`` : sql` and credit is null`;
    await session.atomically(async (tx) => {
      for (const [id, amount] of ['0.00000000001', `1${'0'.repeat(28)}.00`].entries())
        await tx.query(sql`
          insert into clients (id, credit, _raw, _first_seen_at, _changed_at, _response)
          values (${id + 1}, ${amount}, '{}', '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1)`);
    });
    const rows = await session.query(
      sql`select credit_exact from bi_clients where credit_e4 is null${shown} order by id`,
    );
    expect(rows).toEqual([{ credit_exact: '0.00000000001' }, { credit_exact: `1${'0'.repeat(28)}.00` }]);
  });
});

test('SQLite itself declares the type of every column, as clients with an older SQLite need', async () => {
  const { session } = await mirrorIn('SQLite');
  const file = new Sqlite(session.location, { readonly: true });
  const views = (await readTexts(session, VIEWS.sqlite)).filter(isViewName);
  const undeclared = views.filter((view) =>
    file
      .prepare(`select * from ${identifier(view)}`)
      .columns()
      .some(({ type }) => type === null),
  );
  file.close();
  expect(undeclared).toEqual([]);
});
