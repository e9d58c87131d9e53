import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { liveThrough } from '../../scripts/reports/business.ts';
import { documentsOf } from '../../scripts/reports/documents.ts';
import { REPORTING, REPORTS } from '../../scripts/reports/catalogue.ts';
import { DBT_MODELS, dbtFiles } from '../../scripts/reports/dbt.ts';
import { metricsTable, pageWith } from '../../scripts/reports/page.ts';
import type { Report } from '../../scripts/reports/report.ts';
import { STARTER, starterFiles } from '../../scripts/reports/superset.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { World } from '../../sandbox/world.ts';
import { postgresMirror } from '../both/support.ts';
import { DOCUMENTED_MIRRORS } from '../pull/steps.ts';
import { mirror, pullFrom, sandbox } from '../pull/support.ts';
import { send, serve } from '../support/serve.ts';
import { TRUTHS, type Rows } from './truth.ts';

const DAYS = 3;

/** Records whose sums, days or references are easily wrong. */
function insertHardRecords(world: World): void {
  const [client = 0, other = 0] = world.ids('clients');
  const bookings = [
    { client_id: client, price: '99999999999999.99', fact_number: 'F1', pickup_date: '2024-02-29' },
    { client_id: client, price: '99999999999999.98', fact_number: 'F2', pickup_date: '0000-00-00' },
    { client_id: other, price: '-0.01', fact_number: '', pickup_date: '2024-02-01' },
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
      end_time: at % 4 === 0 ? null : '16:00:00',
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
    { product_id: '', produit_total: '3.10' },
    { product_id: String(priceless), produit_total: '1000000.00' },
    { product_id: String(dear), produit_total: '0.00', product_quantity: '99999999.25' },
  ];
  for (const [at, line] of lines.entries())
    world.insert('purchase_products', { purchase_id: 9000 + at, product_quantity: '2.50', ...line });
}

/** The days at the ends of years and months, in leap years and others. */
const EDGES = ['1999', '2000', '2023', '2024', '2026', '2100']
  .flatMap((year) => Array.from({ length: 12 }, (_, at) => `${year}-${String(at + 1).padStart(2, '0')}`))
  .flatMap((month) => ['01', '06', '07', '28'].map((day) => `${month}-${day}`))
  .concat('2000-02-29', '2024-02-29', '2023-12-31', '2024-12-31', '2099-12-31', '0000-00-00');

/** The rows of a report; `seq` follows no rule that a truth could know. */
async function answerOf(session: Session, { sql: text }: Report): Promise<Rows> {
  const rows = await session.query(sql.raw(text));
  return rows.map((row) =>
    Object.entries(row).flatMap(([name, value]) =>
      name === 'seq' ? [] : [value === null ? null : String(value)],
    ),
  );
}

test(
  'every report gives the same on SQLite, on PostgreSQL, and by the data of the sandbox',
  { timeout: 60_000 },
  async () => {
    const service = await sandbox();
    insertHardRecords(service.world);
    const sqlite = await mirror();
    const postgres = (await postgresMirror()).session;
    const worked = await liveThrough(service, [sqlite, postgres], DAYS);
    expect(worked.map(({ restored }) => restored)).toContain(1);
    for (const report of REPORTS) {
      const truth = TRUTHS[report.name]?.({ world: service.world, worked });
      expect(await answerOf(sqlite, report), `${report.name} on SQLite`).toEqual(truth);
      expect(await answerOf(postgres, report), `${report.name} on PostgreSQL`).toEqual(truth);
      expect(truth?.length, report.name).toBeGreaterThan(0);
    }
  },
);

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
    const answers = await Promise.all(REPORTS.map(({ sql: text }) => session.query(sql.raw(text))));
    const byMonth = answers[REPORTS.findIndex(({ name }) => name === 'bookings-by-month')];
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
    for (const report of REPORTS) {
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

test(
  'docs/reporting and the starter for Superset have what `npm run docs -- reports` writes, and nothing else',
  { timeout: 60_000 },
  async () => {
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
  },
);
