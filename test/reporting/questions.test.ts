import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Big } from 'big.js';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { SHOP_KINDS, read } from '../../scripts/reports/business.ts';
import { migrate } from '../../src/views/migrate.ts';
import { REPORT_FOLDER } from '../../src/features/reports/read-reports.ts';
import type { World } from '../../sandbox/world.ts';
import { DATABASES, askableMirror } from '../features/mcp/stage.ts';
import { sandbox } from '../pull/support.ts';
import { COUNTED, NAMED, QUESTIONS, type Question } from './questions.ts';

const ZONE = 'America/Toronto';

/** Quotes, credit notes, cancelled sales, partial payments, two companies, three branches, and days on which clocks change. */
function insertShop(world: World): void {
  const { client, provider, product } = NAMED;
  world.insert('clients', {
    id: client,
    code: 'ADA',
    name: 'Ada',
    system_id: 7,
    creation_date: '2025-03-31',
  });
  world.insert('providers', { id: provider, code: 'P', name: 'Parts', system_id: 7 });
  world.insert('products', {
    id: product,
    code: 'H',
    name_fr: 'Heure',
    unit: 'h',
    price: '95.00',
    system_id: 7,
  });
  const dates = [
    '2024-03-01',
    '2024-03-31',
    '2025-01-01',
    '2025-03-01',
    '2025-03-09',
    '2025-03-31',
    '2025-04-01',
    '2025-11-02',
  ];
  for (const [at, date] of dates.entries())
    for (const [n, status] of ['invoice', 'credit', 'quote', 'cancelled'].entries()) {
      const taxes = `${at}.${10 + n}`;
      const sale = world.insert('sales', {
        client_id: n === 1 ? 0 : client,
        date,
        status,
        taxes: status === 'credit' ? `-${taxes}` : taxes,
        total: status === 'credit' ? `-${10 + at}.05` : `${100 * (at + 1)}.0${n}`,
        branch_id: 3 + (at % 3),
        system_id: 7 + Number(at % 4 === 3),
      });
      const line = {
        sale_id: sale['id'] ?? 0,
        product_id: String(product),
        product_quantity: `${at}.25`,
        produit_total: `${at * 10}.10`,
      };
      world.insert('sales_products', { ...line, system_id: sale['system_id'] ?? 7 });
      const parts = at % 3 === 0 ? ['40.00'] : [`${50 * (at + 1)}.00`, `${50 * (at + 1)}.00`];
      for (const [part, amount] of status === 'invoice' ? parts.entries() : [])
        world.insert('sales_payments', {
          invoice_id: sale['id'] ?? 0,
          amount,
          date_payment: `2025-0${4 + part}-30`,
        });
    }
  insertPurchasesAndWork(world);
}

function insertPurchasesAndWork(world: World): void {
  const { client, provider, product, technician } = NAMED;
  for (const [at, status] of ['received', 'ordered', 'invoiced'].entries()) {
    const bill = {
      provider_id: provider,
      date: `2025-0${at + 1}-31`.replace('02-31', '02-28'),
      status,
      currency: at === 2 ? 'USD' : 'CAD',
      system_id: 7,
    };
    const purchase = world.insert('purchases', {
      ...bill,
      subtotal: `${at + 1}00.10`,
      taxes: '0.15',
      total: `${at + 1}00.25`,
    });
    const line = {
      purchase_id: purchase['id'] ?? 0,
      product_id: String(product),
      product_quantity: '2.00',
      system_id: 7,
    };
    world.insert('purchase_products', {
      ...line,
      produit_total: `${at + 1}00.10`,
      produit_quantite_onhold: at === 2 ? '0.50' : '0.00',
    });
  }
  for (const [at, date] of ['2025-02-28', '2025-03-01', '2025-03-09', '2025-03-31', '2025-04-01'].entries())
    world.insert('punches', {
      user_id: technician,
      date,
      ptotal: `${at}.75`,
      start_time: '23:30:00',
      end_time: at === 2 ? null : '01:00:00',
      system_id: 7,
    });
  for (const date of ['2025-02-28', '2025-03-01', '2025-03-31', '2025-04-01'])
    world.insert('bookings', { code: date, pickup_date: date, price: '10.01', client_id: client, items: [] });
}

/** What the rows of a report have in a column, added up. */
function totalOf(
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  { column, where = {} }: Question['report'],
): string {
  expect(columns).toEqual(expect.arrayContaining([column, ...Object.keys(where)]));
  const found = rows.filter((row) =>
    Object.entries(where).every(([name, value]) => row[columns.indexOf(name)] === value),
  );
  return found.reduce((total, row) => total.plus(row[columns.indexOf(column)] ?? 0), new Big(0)).toFixed();
}

test.each(DATABASES)(
  'thirty questions of an owner have one answer, by view, by file and by tool, on %s',
  async (database) => {
    const service = await sandbox({ size: 20 });
    insertShop(service.world);
    const { session, ask, role } = await askableMirror(database, { kinds: SHOP_KINDS, timezone: ZONE });
    await migrate(session, SHOP_KINDS, { timezone: ZONE, reports: COUNTED, readerRole: role });
    const reading = { known: SHOP_KINDS, kinds: [] };
    await read(service, [session], { ...reading, instant: '2025-11-01T12:00:00Z' });
    await read(service, [session], { ...reading, instant: '2025-11-01T13:00:00Z' });
    const [first = 0, second = 0, third = 0] = service.world.ids('products');
    // Half an hour after midnight of the day that has 25 hours, half an hour before its end, and an hour later.
    for (const [product, instant] of [
      [first, '2025-11-02T04:30:00Z'],
      [second, '2025-11-03T04:30:00Z'],
      [third, '2025-11-03T05:30:00Z'],
    ] as const) {
      service.world.update('products', product, { price: '98765.43' });
      await read(service, [session], { known: SHOP_KINDS, kinds: ['products'], instant });
    }
    for (const { question, view, report, truth } of QUESTIONS) {
      const expected = new Big(truth(service.world) ?? 0).toFixed();
      const [row = {}] = await session.query(sql.raw(view));
      expect
        .soft(new Big(String(Object.values(row)[0] ?? 0)).toFixed(), `${question} by view`)
        .toBe(expected);
      const { name, from, to } = report;
      const days = [
        ['first', from],
        ['last', to],
      ].flatMap(([end, day]) => (day === undefined ? [] : [[end, day] as const]));
      const file = days.reduce(
        (text, [end, day]) => text.replace(`cast(null as text) as ${end ?? ''}`, `'${day}' as ${end ?? ''}`),
        readFileSync(join(REPORT_FOLDER, `${name}.sql`), 'utf8'),
      );
      const rows = await session.query(sql.raw(file));
      const cells = rows.map((each) =>
        Object.values(each).map((value) => (value === null ? null : String(value))),
      );
      expect.soft(totalOf(Object.keys(rows[0] ?? {}), cells, report), `${question} by file`).toBe(expected);
      const answer = await ask('report', {
        name,
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      });
      expect.soft(totalOf(answer.columns, answer.rows, report), `${question} by tool`).toBe(expected);
      expect.soft(answer, question).toMatchObject({ truncated: false, wanted: [] });
    }
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(30);
  },
);
