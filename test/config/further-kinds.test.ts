import { getTableName } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { ENGINE_TABLE_NAMES } from '../../src/catalog/reserved-names.ts';
import { fromDeclared } from '../../src/catalog/declared-kinds.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import * as engineTables from '../../src/store/tables/engine-tables.ts';
import { complaint, refusal, tempFile } from './support.ts';

const kindsOf = (kinds: unknown) =>
  fromDeclared(loadConfig({ env: { BMS__KINDS: JSON.stringify(kinds) } }).kinds);
const named = (name: string, more: object = {}): string =>
  complaint({ env: { BMS__KINDS: JSON.stringify({ [name]: { list: '/a', ...more } }) } });
const withFields = (fields: object): string => named('purchases', { fields });

describe('a declared kind', () => {
  test('is a kind like those of the catalogue, from YAML', () => {
    const file = tempFile(
      'settings.yaml',
      `kinds:
  purchases:
    list: /api/purchases
    retrieve: /api/purchases/:id
    header: Authentification
    paging: documented
    order: created, newest first
    naturalKey: [code, date]
    fields: { code: text, total: decimal(2), paid: flag, lines: json }
`,
    );
    expect(fromDeclared(loadConfig({ env: {}, file }).kinds)).toEqual([
      {
        name: 'purchases',
        list: {
          path: '/api/purchases',
          header: 'Authentification',
          paging: 'documented',
          order: 'created, newest first',
        },
        retrieve: { path: '/api/purchases/:id', header: 'Authentification' },
        create: null,
        update: null,
        naturalKey: ['code', 'date'],
        fields: [
          { name: 'id', type: 'integer' },
          { name: 'code', type: 'text' },
          { name: 'total', type: 'decimal', scale: 2 },
          { name: 'paid', type: 'flag' },
          { name: 'lines', type: 'json' },
        ],
        hints: [],
      },
    ]);
  });

  test('needs no more than its list', () => {
    expect(kindsOf({ sales: { list: '/api/sales' } })).toEqual([
      {
        name: 'sales',
        list: { path: '/api/sales', header: 'Authorization', paging: 'by answer', order: 'unknown' },
        retrieve: null,
        create: null,
        update: null,
        naturalKey: 'all sent fields',
        fields: [{ name: 'id', type: 'integer' }],
        hints: [],
      },
    ]);
  });

  test('may say to which kind a field refers, of the catalogue or of the settings', () => {
    const fields = { client_id: 'reference(clients)', parent_id: 'reference(sales)' };
    expect(kindsOf({ sales: { list: '/api/sales', fields } })[0]?.fields.slice(1)).toEqual([
      { name: 'client_id', type: 'text', refersTo: 'clients' },
      { name: 'parent_id', type: 'text', refersTo: 'sales' },
    ]);
    expect(withFields({ user_id: 'reference(users)' })).toContain(
      'kinds.purchases.fields.user_id (from BMS__KINDS): refers to "users"; expected the name of a record kind',
    );
    expect(withFields({ user_id: 'reference' })).toContain('reference(KIND)');
  });

  test('may say that it has an id', () => {
    const fields = { code: 'text', id: 'integer' };
    expect(kindsOf({ sales: { list: '/api/sales', fields } })[0]?.fields.map(({ name }) => name)).toEqual([
      'id',
      'code',
    ]);
  });

  test('can have a schedule', () => {
    const env = { BMS__KINDS: '{"sales":{"list":"/s"}}', BMS__SCHEDULES: '{"sales":"0 4 * * *"}' };
    expect(loadConfig({ env }).schedules).toMatchObject({ sales: '0 4 * * *' });
  });
});

describe('a kind cannot be called', () => {
  const CATALOGUE = 'the catalogue does not use';
  const OURS = 'bms-sync does not use for a table or view';

  test.each(KINDS)('$name', ({ name }) => {
    expect(named(name)).toContain(
      `kinds.${name} (from BMS__KINDS): expected the key to be a name that ${CATALOGUE}`,
    );
  });

  test.each(ENGINE_TABLE_NAMES)('%s, a table of the engine', (name) => {
    expect(named(name)).toContain(OURS);
  });

  test.each([
    ['sync_status', OURS],
    ['sync_status_now', OURS],
    ['calendar_days', OURS],
    ['dictionary', OURS],
    ['constructor', OURS],
    ['client_contacts', OURS],
    ['clients_contacts', OURS],
    ['projects_tasks', OURS],
    ['bookings_items', OURS],
    ['products_medias', OURS],
    ['issues_by_kind', OURS],
    ['timezone', OURS],
    ['bi_sales', 'does not begin with bi_'],
    ['sqlite_master', 'does not begin with'],
    ['pg_class', 'does not begin with'],
    ['clients_deleted', 'does not end in _deleted'],
    ['clients_history', 'does not end in'],
    ['clients_pkey', 'does not end in'],
    ['Sales', 'small letters'],
    ['1st', 'small letters'],
    ['_sales', 'small letters'],
    ['sales-orders', 'small letters'],
    ['', 'small letters'],
    ['a'.repeat(41), 'at most 40 characters'],
  ])('%j', (name, expected) => {
    expect(named(name)).toContain(expected);
  });

  test('like the view of another further kind’s array', () => {
    const kinds = { sales: { list: '/s', fields: { lines: 'json' } }, sales_lines: { list: '/l' } };
    expect(refusal({ env: { BMS__KINDS: JSON.stringify(kinds) } })).toContain(`kinds.sales_lines`);
    expect(named('sales_lines')).toBe('');
  });

  test.each([
    ['sales', 'products'],
    ['sync', 'status'],
    ['sales', 'history'],
  ])('%s where it has an array %s, whose view another has', (name, array) => {
    const text = named(name, { fields: { [array]: 'json' } });
    expect(text).toContain(`kinds.${name} (from BMS__KINDS)`);
    expect(text).toContain(`leaves the view bi_${name}_${array} to its owner`);
    expect(named(name, { fields: { [array]: 'text' } })).toBe('');
  });

  test('like any table that the engine has', () => {
    const names = Object.values(engineTables).map(getTableName);
    expect(names.length).toBeGreaterThan(5);
    expect(ENGINE_TABLE_NAMES).toEqual(expect.arrayContaining(names));
  });
});

describe('the fields of a kind cannot be', () => {
  test.each<[Record<string, string>, string, string]>([
    [{ total: 'text', Total: 'text' }, 'Total', 'total is a column already'],
    [{ total: 'decimal(2)', total_real: 'text' }, 'total_real', 'a column already, beside its decimal'],
    [{ Total_E4: 'text', total: 'decimal(2)' }, 'Total_E4', 'total_e4 is a column already'],
    [{ total: 'decimal(2)', total_exact: 'decimal(2)' }, 'total_exact', 'beside its decimal'],
    [{ _raw: 'text' }, '_raw', 'does not begin with _'],
    [{ id: 'text' }, 'id', 'no id: every record has one'],
    [{ ID: 'integer' }, 'ID', 'no id: every record has one'],
    [{ xmin: 'integer' }, 'xmin', 'PostgreSQL'],
    [{ 'a b': 'text' }, 'a b', 'letters, digits and _'],
    [{ ['f'.repeat(58)]: 'text' }, 'f'.repeat(58), 'at most 57 characters'],
    [{ total: 'money' }, 'total', 'integer, flag, date, time, timestamp, text, json or decimal(PLACES)'],
    [{ total: 'decimal' }, 'total', 'or decimal(PLACES), PLACES from 0 to 18'],
    [{ total: 'decimal(19)' }, 'total', 'PLACES from 0 to 18'],
    [{ total: 'decimal(-1)' }, 'total', 'PLACES from 0 to 18'],
    [{ total: 'decimal(1e1)' }, 'total', 'PLACES from 0 to 18'],
  ])('%j', (fields, name, expected) => {
    const text = withFields(fields);
    expect(text).toContain(`One setting is wrong:\n  kinds.purchases.fields.${name} (from BMS__KINDS)`);
    expect(text).toContain(expected);
  });

  test('but twins of fields that are no decimals can', () => {
    expect(withFields({ total: 'text', total_real: 'text', e4: 'decimal(0)' })).toBe('');
  });
});

test.each<[object, string]>([
  [
    { list: 'api/sales' },
    'kinds.sales.list (from BMS__KINDS): got "api/sales"; expected a path that begins with /',
  ],
  [{ list: '/api/sales/:id' }, 'expected a path that begins with /, without :id'],
  [{ list: '/api/sales?page=1' }, 'kinds.sales.list'],
  [{ list: '/s', retrieve: 'api/:id' }, 'kinds.sales.retrieve'],
  [{ list: '/s', retrieve: '/api' }, 'expected a path that begins with / and contains :id'],
  [{}, 'kinds.sales.list (from BMS__KINDS): got nothing'],
  [{ list: '/s', header: 'X-Token' }, 'kinds.sales.header'],
  [{ list: '/s', paging: 'cursor' }, 'expected documented or by answer'],
  [{ list: '/s', order: 'name' }, 'kinds.sales.order'],
  [{ list: '/s', naturalKey: [] }, 'expected a list of field names, or all sent fields'],
  [{ list: '/s', create: '/s' }, 'kinds.sales.create (from BMS__KINDS): unknown setting'],
])('%j is refused', (kind, expected) => {
  expect(refusal({ env: { BMS__KINDS: JSON.stringify({ sales: kind }) } })).toContain(expected);
});

test('all faults are reported at once, those of a wrongly named kind included, each with its origin', () => {
  const file = tempFile(
    'settings.yaml',
    `kinds:
  clients: { list: api/clients, fields: { _a: money } }
  Sales: { list: /api/sales }
  bi_x: { list: /x, fields: { a: decimal(2), a_e4: integer } }
`,
  );
  const text = refusal({ env: { BMS__KINDS: '{"runs":{"list":"/r"}}' }, file });
  expect(text.split('\n')).toEqual([
    '8 settings are wrong:',
    expect.stringContaining(`kinds.clients.list (from ${file})`),
    expect.stringContaining(`kinds.clients.fields._a (from ${file}): got "money"`),
    ...[
      ['clients', file],
      ['clients.fields._a', file],
      ['Sales', file],
      ['bi_x', file],
      ['bi_x.fields.a_e4', file],
      ['runs', 'BMS__KINDS'],
    ].map(
      ([key, origin]) =>
        expect.stringContaining(`kinds.${String(key)} (from ${String(origin)}): expected the key`) as string,
    ),
  ]);
});
