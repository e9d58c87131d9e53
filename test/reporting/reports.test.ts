import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { SHOP_KINDS, liveThrough, read, type DayOfWork } from '../../scripts/reports/business.ts';
import { documentsOf } from '../../scripts/reports/documents.ts';
import { REPORT_FOLDER, REPORTS } from '../../src/features/reports/read-reports.ts';
import { DBT_MODELS, dbtFiles } from '../../scripts/reports/dbt.ts';
import { REPORTING, metricsTable, pageWith } from '../../scripts/reports/page.ts';
import { describeMissing, neededKinds, type Report } from '../../src/features/reports/report.ts';
import { STARTER, starterFiles } from '../../scripts/reports/superset.ts';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { World } from '../../sandbox/world.ts';
import { migrate } from '../../src/views/migrate.ts';
import { postgresMirror } from '../both/support.ts';
import { DOCUMENTED_MIRRORS } from '../pull/steps.ts';
import { mirror, pullFrom, sandbox } from '../pull/support.ts';
import { send, serve } from '../support/serve.ts';
import { COUNTED, currencyOf, isBought, isSold, lateChanges, statusOf } from './shop-truth.ts';
import { TRUTHS } from './truth.ts';
import { recordsOf, type Rows } from './values.ts';

const DAYS = 3;

/** Records whose sums, days or references are easily wrong. */
function insertHardRecords(world: World): void {
  const [client = 0, other = 0] = world.ids('clients');
  world.update('clients', client, { system_id: OTHER_COMPANY });
  world.update('clients', other, { system_id: String(OTHER_COMPANY) });
  const [project = 0] = world.ids('projects');
  world.update('projects', project, { system_id: 9, active: 1 });
  const [product = 0] = world.ids('products');
  world.update('products', product, { system_id: OTHER_COMPANY });
  const bookings = [
    { client_id: client, price: '99999999999999.99', fact_number: 'F1', pickup_date: '2024-02-29' },
    { client_id: client, price: '99999999999999.98', fact_number: 'F2', pickup_date: '0000-00-00' },
    { client_id: other, price: '-0.01', fact_number: '', pickup_date: '2024-02-01', system_id: 9 },
    { client_id: other, price: '-1250.99', fact_number: 'F3', pickup_date: '' },
    { client_id: 999_999_999, price: '0.1234', fact_number: null, pickup_date: '2023-12-31' },
    { client_id: 0, price: '', distance: '', pickup_date: '2023-12-31' },
  ];
  for (const [at, booking] of bookings.entries())
    world.insert('bookings', { code: `H${at}`, distance: '1.50', items: [], ...booking });
  for (const [at, date] of EDGES.entries())
    world.insert('punches', {
      user_id: 31 + (at % 2),
      date,
      start_time: '08:00:00',
      ptotal: at % 3 === 0 ? '-0.25' : '7.75',
      end_time: at % 4 === 0 ? null : at % 5 === 0 ? 'at noon' : '16:00:00', // One that cannot be read is not missing.
      system_id: at % 5 === 0 ? OTHER_COMPANY : 7,
    });
  insertHardPurchases(world);
}

function insertHardPurchases(world: World): void {
  const [product = 0, priceless = 0, dear = 0] = world.ids('products');
  world.update('products', product, { price: '-0.1299', provider_id: 0 });
  world.update('products', priceless, { price: null });
  world.update('products', dear, { price: '99999999999999.9999' });
  const lines = [
    { product_id: String(product), produit_total: '-12.34', produit_quantite_onhold: '-1.00' },
    { product_id: '0', produit_total: '99999999999999.99', produit_quantite_onhold: '0.00' },
    { product_id: '999999999', produit_total: '0.01', produit_quantite_onhold: '0.50' },
    { product_id: '', produit_total: '3.10', system_id: OTHER_COMPANY },
    { product_id: String(product), produit_total: '5.00', system_id: OTHER_COMPANY },
    { product_id: String(priceless), produit_total: '1000000.00' },
    { product_id: String(dear), produit_total: '0.00', product_quantity: '99999999.25' },
  ];
  for (const [at, line] of lines.entries())
    world.insert('purchase_products', { purchase_id: 9000 + at, product_quantity: '2.50', ...line });
}

/** Sales, payments and purchases whose sums, days or references are easily wrong. */
function insertHardSales(world: World): void {
  const [client = 0, other = 0] = world.ids('clients');
  const [product = 0, second = 0] = world.ids('products');
  world.update('products', second, { unit: 'h', cost: '12.3456' });
  const sales = [
    { client_id: client, date: '2025-08-29', total: '', branch_id: 4 },
    { client_id: client, date: '2025-08-28', total: '100.00', system_id: OTHER_COMPANY, branch_id: '5' },
    { client_id: 0, date: '0000-00-00', total: '-0.01', status: 'quote' },
    { client_id: other, date: '2025-07-30', total: '99999999999999.99', status: null, branch_id: null },
    { client_id: other, date: '2025-06-29', total: '10.00', system_id: OTHER_COMPANY },
    { client_id: other, date: '1999-12-31', total: '1.00' },
    { client_id: 999_999_999, date: '2025-12-01', total: '7.00' },
    { client_id: client, date: '2025-09-28', total: null },
  ].map((sale) => Number(world.insert('sales', sale)['id']));
  const [first = 0, third = 0, , , fourth = 0] = sales;
  const lines = [
    { sale_id: first, product_id: String(product), product_quantity: '2.00', produit_total: '40.05' },
    { sale_id: first, product_id: String(second), product_quantity: '1.50', produit_total: '-3.25' },
    {
      sale_id: third,
      product_id: '0',
      product_quantity: '',
      produit_total: '9.99',
      system_id: OTHER_COMPANY,
    },
    { sale_id: 999_999_999, product_id: String(second), product_quantity: '0.25', system_id: null },
    { sale_id: fourth, product_id: '', product_quantity: '3.00', produit_total: '' },
  ];
  for (const line of lines) world.insert('sales_products', line);
  const payments = [
    { invoice_id: first, amount: '36.80', date_payment: '2025-09-01' },
    { invoice_id: third, amount: '150.00', date_payment: '0000-00-00' },
    { invoice_id: fourth, amount: '4.00', date_payment: '2025-09-29' },
    { invoice_id: fourth, amount: '', date_payment: '2025-09-01' },
    { invoice_id: 0, amount: '5.00', date_payment: '2025-09-01' },
  ];
  for (const payment of payments) world.insert('sales_payments', payment);
  const purchases = [
    { provider_id: 0, date: '', subtotal: '10.00', total: '11.50' },
    { provider_id: 0, date: '', subtotal: '1.00', total: '1.15', branch_id: 3 },
    { provider_id: 0, date: '', subtotal: '2.00', total: '2.30', currency: 'USD', branch_id: 3 },
    { provider_id: 0, date: '', subtotal: '4.00', total: '4.60', currency: 'CAD', branch_id: 3 },
    { provider_id: 0, date: '', subtotal: '8.00', total: '9.20', currency: '', branch_id: 3 },
    { provider_id: 999_999_999, date: '2025-01-31', subtotal: '', total: '-0.01', system_id: OTHER_COMPANY },
  ];
  for (const purchase of purchases) world.insert('purchases', purchase);
}

/** Of the same service: its records are not added to those of company 7. */
const OTHER_COMPANY = 8;

/** The days at the ends of years and months, in leap years and others. */
const EDGES = ['1999', '2000', '2023', '2024', '2026', '2100']
  .flatMap((year) => Array.from({ length: 12 }, (_, at) => `${year}-${String(at + 1).padStart(2, '0')}`))
  .flatMap((month) => ['01', '06', '07', '28'].map((day) => `${month}-${day}`))
  .concat('2000-02-29', '2024-02-29', '2023-12-31', '2024-12-31', '2099-12-31', '0000-00-00');

/** The rows of a report's whole file, as a person would paste it; `seq` follows no rule that a truth could know. */
async function answerOf(session: Session, { name }: Report): Promise<Rows> {
  const text = readFileSync(join(REPORT_FOLDER, `${name}.sql`), 'utf8');
  const rows = await session.query(sql.raw(text));
  return rows.map((row) =>
    Object.entries(row).flatMap(([name, value]) =>
      name === 'seq' ? [] : [value === null ? null : String(value)],
    ),
  );
}

test('every report gives the same on SQLite, on PostgreSQL, and by the data of the sandbox', async () => {
  const service = await sandbox({ size: 30 });
  insertHardRecords(service.world);
  insertHardSales(service.world);
  const sqlite = await mirror();
  const postgres = (await postgresMirror()).session;
  for (const session of [sqlite, postgres]) await migrate(session, SHOP_KINDS, { reports: COUNTED });
  const worked = await liveThrough(service, [sqlite, postgres], DAYS, SHOP_KINDS);
  expect(worked.map(({ restored }) => restored)).toContain(1);
  for (const report of REPORTS) {
    const truth = TRUTHS[report.name]?.({ world: service.world, worked, hasPurchases: true });
    expect.soft(await answerOf(sqlite, report), `${report.name} on SQLite`).toEqual(truth);
    expect.soft(await answerOf(postgres, report), `${report.name} on PostgreSQL`).toEqual(truth);
    if (!report.name.startsWith('changes-after')) expect(truth?.length, report.name).toBeGreaterThan(0);
  }
  await changeClosedMonths(service, [sqlite, postgres]);
});

function changeRecords(world: Sandbox['world']): void {
  for (const [kind, money, date] of [
    ['bookings', 'price', 'pickup_date'],
    ['punches', 'ptotal', 'date'],
    ['sales', 'total', 'date'],
    ['purchases', 'total', 'date'],
  ] as const) {
    const [first = 0, second = 0, third = 0, fourth = 0] = world.ids(kind);
    world.update(kind, first, { [money]: '123.45', ...(kind === 'bookings' && { contact: '\0 \ud800' }) });
    world.update(kind, second, { [date]: '2025-03-31' });
    world.update(kind, fourth, { [date]: '2025-02-28', [money]: null });
    world.insert(kind, {
      [date]: '2025-04-30',
      [money]: '0.01',
      ...(kind !== 'bookings' && { system_id: 8 }),
    });
    world.insert(kind, { [date]: '2025-11-15', [money]: '50.00' }); // Its month is open.
    world.remove(kind, third);
    if (kind !== 'sales') continue;
    const quote = world.ids(kind).find((id) => world.get(kind, id)?.['status'] === 'quote') ?? 0;
    world.update(kind, quote, { status: 'invoice', date: '2025-01-15' }); // It counts since then, not before.
  }
}

/** Changes records of closed months: the reports show each month as it ended and as it is. */
async function changeClosedMonths(service: Sandbox, mirrors: readonly Session[]): Promise<void> {
  const { world } = service;
  const kinds = ['bookings', 'punches', 'sales', 'purchases'];
  const before = new Map(kinds.map((kind) => [kind, recordsOf(world, kind)]));
  changeRecords(world);
  for (const instant of ['2025-11-01T04:30:00Z', '2025-11-01T05:30:00Z', '2025-11-01T06:30:00Z'])
    await read(service, mirrors, { instant, kinds, known: SHOP_KINDS });
  const late = (kind: string, fields: Parameters<typeof lateChanges>[1]): Rows => {
    const counts = fields.counts ?? (() => true);
    const [then = [], now = []] = [before.get(kind) ?? [], recordsOf(world, kind)].map((all) =>
      all.filter(counts),
    );
    return lateChanges(kind, fields, then, now).filter(([, month]) => (month ?? '') < '2025-11');
  };
  const byMonth = (rows: Rows): Rows =>
    rows.toSorted((one, other) => ((one[1] ?? '') < (other[1] ?? '') ? -1 : one[1] === other[1] ? 0 : 1));
  const truths: Readonly<Record<string, Rows>> = {
    'changes-after-closing': byMonth([
      ...late('bookings', { date: 'pickup_date', money: 'price' }),
      ...late('punches', { date: 'date', money: 'ptotal' }),
    ]),
    'changes-after-closing-of-sales': byMonth([
      ...late('purchases', {
        date: 'date',
        money: 'total',
        as: 'bought',
        counts: isBought,
        currency: currencyOf,
      }),
      ...late('sales', {
        date: 'date',
        money: 'total',
        as: 'sold',
        counts: (sale) => isSold(statusOf(sale)),
        currency: () => 'none',
      }),
    ]),
  };
  for (const report of REPORTS.filter(({ name }) => name in truths))
    for (const session of mirrors)
      expect(await answerOf(session, report), `${report.name} on ${session.dialect}`).toEqual(
        truths[report.name],
      );
}

test('a report whose kinds are off says what is missing', () => {
  const views = LISTED_KINDS.map(({ name }) => `bi_${name}`);
  const missing = REPORTS.map((report) => [report.name, describeMissing(report, views)] as const);
  const named = missing.filter(([, text]) => text !== null).map(([name]) => name);
  expect(named).toEqual([
    'changes-after-closing-of-sales',
    'days-to-pay',
    'hours-worked-and-billed',
    'margin-by-sale-line',
    'purchases-by-month',
    'receivables-by-age',
    'repeat-customers',
    'sales-by-month',
    'taxes-by-quarter',
    'year-on-year',
  ]);
  expect(Object.fromEntries(missing)['purchases-by-month']).toBe(
    'Purchases by provider and month needs purchases, which this mirror does not read: set includeKinds: [shop], then run bms-sync migrate and bms-sync pull.',
  );
  const shop = SHOP_KINDS.map(({ name }) => `bi_${name}`);
  expect(REPORTS.map((report) => describeMissing(report, shop)).filter((text) => text !== null)).toEqual([]);
});

/** The reports that every mirror can run. */
const WITHOUT_SHOP = REPORTS.filter((report) => neededKinds(report).length === 0);

/** The same work on the days of Toronto, where the readings of half an hour after midnight of UTC are those of the evening before. */
const inToronto = (worked: readonly DayOfWork[]): readonly DayOfWork[] =>
  worked.map((work) => ({ ...work, day: dayBefore(work.day) }));

const dayBefore = (day: string): string => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

test('every report counts the days of the company, at the end of a month too', async () => {
  const service = await sandbox({ size: 30 });
  insertHardRecords(service.world);
  const mirrors = [await mirror(), (await postgresMirror()).session];
  for (const session of mirrors) await migrate(session, KINDS, { timezone: 'America/Toronto' });
  const worked = inToronto(await liveThrough(service, mirrors, DAYS));
  expect(worked.map(({ day }) => day)).toEqual(['2025-09-28', '2025-09-29', '2025-09-30']);
  for (const report of WITHOUT_SHOP) {
    const truth = TRUTHS[report.name]?.({ world: service.world, worked, hasPurchases: false });
    for (const session of mirrors)
      expect(await answerOf(session, report), `${report.name} on ${session.dialect}`).toEqual(truth);
  }
});

/** A service that sends of each record only what the documentation shows. */
async function sendingDocumentedFields(url: string): Promise<string> {
  const names = new Map(
    LISTED_KINDS.map(({ list, fields }) => [list.path, new Set(fields.map(({ name }) => name))]),
  );
  return serve((request, response) => {
    const path = request.url ?? '';
    const known = names.get(path.split('?')[0] ?? '');
    const headers = Object.entries(request.headers).filter(([name]) => /^auth/.test(name)) as [
      string,
      string,
    ][];
    void fetch(`${url}${path}`, { headers })
      .then((answer) => answer.json() as Promise<{ data: Record<string, unknown>[] }>)
      .then((body) => {
        const strip = (record: Record<string, unknown>) =>
          Object.fromEntries(Object.entries(record).filter(([name]) => known?.has(name)));
        send(response, { ...body, data: body.data.map(strip) });
      });
  });
}

test.each(Object.entries(DOCUMENTED_MIRRORS))(
  'every report runs where fields have other types than expected on %s',
  async (_, open) => {
    const { world, url, token } = await sandbox({ size: 20 });
    for (const id of world.ids('bookings'))
      world.update('bookings', id, { fact_number: id, pickup_date: 'soon', price: 'x' });
    const session = await open();
    await pullFrom({ url, token }, session);
    const answers = await Promise.all(WITHOUT_SHOP.map(({ sql: text }) => session.query(sql.raw(text))));
    const byMonth = answers[WITHOUT_SHOP.findIndex(({ name }) => name === 'bookings-by-month')];
    expect(byMonth).toMatchObject([{ month: 'soon', price_exact: null, invoiced_exact: null }]);
  },
);

const both = (amount: string): readonly string[] => [`${amount}_e4`, `${amount}_exact`];

test.each(Object.entries(DOCUMENTED_MIRRORS))(
  'a figure of fields that the service never sent is unknown on %s',
  async (_, open) => {
    const service = await sandbox({ size: 20 });
    const session = await open();
    await pullFrom({ url: await sendingDocumentedFields(service.url), token: service.token }, session);
    for (const report of WITHOUT_SHOP) {
      const rows = await session.query(sql.raw(report.sql));
      const unknown = Object.keys(rows[0] ?? {}).filter((name) => rows.every((row) => row[name] === null));
      expect(unknown, report.name).toEqual(UNKNOWN[report.name] ?? []);
    }
  },
);

const UNKNOWN: Readonly<Record<string, readonly string[]>> = {
  'receivables-by-client': ['last_pickup', ...['invoiced', 'to_invoice'].flatMap(both)],
  'bookings-by-month': ['clients', 'distance_e4', ...['price', 'invoiced'].flatMap(both)],
  'purchases-by-provider': ['code', 'name'],
  'margin-by-product': ['list_value_e4', ...both('margin')],
};

test('docs/reporting and the starter for Superset have what `npm run docs -- reports` writes, and nothing else', async () => {
  const { sections, files } = await documentsOf();
  const page = readFileSync(join(REPORTING, 'reports.md'), 'utf8');
  expect(page).toBe(pageWith(page, { reports: sections, metrics: metricsTable() }));
  for (const [folder, written] of [
    [join(REPORTING, 'reports'), files],
    [DBT_MODELS, dbtFiles()],
    [STARTER, starterFiles()],
  ] as const) {
    for (const [name, text] of written) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
    const present = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const names = present.filter((name) => statSync(join(folder, name)).isFile());
    expect(names.sort()).toEqual([...written.keys()].sort());
  }
});
