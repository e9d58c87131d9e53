import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { liveThrough } from '../../scripts/reports/business.ts';
import { documentsOf } from '../../scripts/reports/documents.ts';
import { REPORTING, REPORTS, sqlOf } from '../../scripts/reports/reports.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { World } from '../../src/sandbox/world.ts';
import { postgresMirror } from '../both/support.ts';
import { mirror, sandbox } from '../pull/support.ts';
import { TRUTHS } from './truth.ts';
import type { Rows } from './truth.ts';

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

async function answerOf(session: Session, name: string): Promise<Rows> {
  const rows = await session.query(sql.raw(sqlOf({ name })));
  return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value))));
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
    for (const { name } of REPORTS) {
      const truth = TRUTHS[name]?.({ world: service.world, worked });
      expect(await answerOf(sqlite, name), `${name} on SQLite`).toEqual(truth);
      expect(await answerOf(postgres, name), `${name} on PostgreSQL`).toEqual(truth);
      expect(truth?.length, name).toBeGreaterThan(2);
    }
  },
);

test(
  'docs/reporting has the SQL of every report, its output and its plot: `npm run docs:reports` writes them',
  { timeout: 60_000 },
  async () => {
    const files = (end: string): string[] =>
      readdirSync(join(REPORTING, 'reports'))
        .filter((name) => name.endsWith(end))
        .sort();
    const { sections, plots } = await documentsOf();
    const page = readFileSync(join(REPORTING, 'reports.md'), 'utf8');
    expect(/<!-- reports -->\n\n(.*)\n\n<!-- \/reports -->/s.exec(page)?.[1]).toBe(sections);
    for (const [name, svg] of plots) expect(readFileSync(join(REPORTING, 'reports', name), 'utf8')).toBe(svg);
    expect(files('.svg')).toEqual([...plots.keys()].sort());
    expect(files('.sql')).toEqual(REPORTS.map(({ name }) => `${name}.sql`).sort());
  },
);
