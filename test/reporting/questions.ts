import type { JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import { DAY_MS, dayOf, idOf, recordsOf, sum, textOf, unitsOf, type Amount } from './values.ts';

/** A question of an owner, asked by a select over the views, by the file of a report, and by the tool. */
export interface Question {
  readonly question: string;
  /** One value; amounts in units of 0.0001. */
  readonly view: string;
  readonly report: {
    readonly name: string;
    /** The column that is added up over the rows that have these values. */
    readonly column: string;
    readonly where?: Readonly<Record<string, string>>;
    readonly from?: string;
    readonly to?: string;
  };
  /** By the sandbox's own answers, without SQL. */
  readonly truth: (world: World) => Amount | number;
}

/** Invoices and credit notes count; quotes, cancelled sales and orders do not. */
export const COUNTED = {
  sold: ['invoice', 'credit'],
  owed: ['invoice', 'credit'],
  bought: ['received', 'invoiced'],
};

/** The client, the provider, the product and the technician that some questions name. */
export const NAMED = { client: 900_001, provider: 900_002, product: 900_003, technician: 77 };

/** The day on which all is read, by the clocks of the company. */
export const TODAY = '2025-11-02';

const SOLD = `status in ('invoice', 'credit')`;
const BOUGHT = `status in ('received', 'invoiced')`;
const in7 = { company: '7' };
const inCad = { ...in7, currency: 'CAD' };
const inUsd = { ...in7, currency: 'USD' };

type Test = (record: JsonObject) => boolean;
const has =
  (field: string, ...values: readonly (string | number)[]): Test =>
  (record) =>
    values.map(String).includes(textOf(record[field]));
const isSold = has('status', ...COUNTED.sold);
const isBought = has('status', ...COUNTED.bought);
const of7 = has('system_id', 7);
const [CAD, USD] = [has('currency', 'CAD'), has('currency', 'USD')];
const between =
  (from: string, to: string, field = 'date'): Test =>
  (record) => {
    const day = dayOf(record[field]);
    return day !== null && day >= from && day <= to;
  };
const all = (world: World, kind: string, ...tests: readonly Test[]): readonly JsonObject[] =>
  recordsOf(world, kind).filter((record) => tests.every((test) => test(record)));
const units = (records: readonly JsonObject[], field: string): Amount =>
  sum(records.map((record) => unitsOf(record[field])));

const days = (from: string, to: string, field = 'date'): string =>
  `${field} >= '${from}' and ${field} <= '${to}'`;
const MARCH = { from: '2025-03-01', to: '2025-03-31' };
const YEAR = { from: '2025-01-01', to: '2025-12-31' };
const QUARTER = { from: '2025-01-01', to: '2025-03-31' };

/** What each sale of company 7 still owes at the end of a day, with its age. */
function owedAt(world: World, day: string, ...tests: readonly Test[]) {
  return all(world, 'sales', isSold, of7, between('2000-01-01', day), ...tests).map((sale) => {
    const paid = all(
      world,
      'sales_payments',
      has('invoice_id', textOf(sale['id'])),
      between('2000-01-01', day, 'date_payment'),
    );
    const owed = sum([unitsOf(sale['total']), units(paid, 'amount')?.times(-1) ?? null]);
    return { owed, age: (Date.parse(day) - Date.parse(textOf(sale['date']))) / DAY_MS };
  });
}

const owedSql = (day: string, more = ''): string => `
  select sum(s.total_e4 - coalesce((select sum(p.amount_e4) from bi_sales_payments p where p.invoice_id = s.id and p.date_payment <= '${day}'), 0))
  from bi_sales s where s.${SOLD} and s.system_id = 7 and s.date <= '${day}' ${more}`;

/** The day on which the payments of a sale reach its total; null where they do not. */
function paidOn(world: World, sale: JsonObject): string | null {
  const payments = all(world, 'sales_payments', has('invoice_id', textOf(sale['id'])));
  const paidBy = (day: string): Amount =>
    units(
      payments.filter((payment) => (dayOf(payment['date_payment']) ?? '') <= day),
      'amount',
    );
  const reached = payments
    .map((payment) => dayOf(payment['date_payment']) ?? '')
    .filter((day) => paidBy(day)?.gte(unitsOf(sale['total']) ?? 0) === true);
  return reached.toSorted()[0] ?? null;
}

const inFull = (world: World, ...tests: readonly Test[]) =>
  all(world, 'sales', isSold, of7, ...tests).filter(
    (sale) => unitsOf(sale['total'])?.gt(0) === true && paidOn(world, sale) !== null,
  );

const linesOf = (world: World, ...tests: readonly Test[]) =>
  all(world, 'sales_products').filter((line) => {
    const sale = world.get('sales', Number(idOf(line['sale_id'])));
    return sale !== undefined && tests.every((test) => test(sale));
  });

const purchaseLines = (world: World, ...tests: readonly Test[]) =>
  all(world, 'purchase_products', of7).filter((line) => {
    const purchase = world.get('purchases', Number(idOf(line['purchase_id']))) ?? {};
    return (
      isBought(purchase) && tests.every((test) => test({ ...line, currency: purchase['currency'] ?? '' }))
    );
  });

const PURCHASED = `from bi_purchase_products l join bi_purchases p on p.id = l.purchase_id where l.system_id = 7 and p.${BOUGHT}`;

/** Whether an earlier sale of the same client and company counts. */
const isRepeat =
  (world: World): Test =>
  (sale) =>
    all(
      world,
      'sales',
      isSold,
      has('client_id', idOf(sale['client_id'])),
      has('system_id', textOf(sale['system_id'])),
    ).some(
      (other) =>
        `${dayOf(other['date']) ?? ''} ${textOf(other['id']).padStart(12)}` <
        `${dayOf(sale['date']) ?? ''} ${textOf(sale['id']).padStart(12)}`,
    );

const sales = (
  question: string,
  column: string,
  by: Partial<Question['report']>,
  view: string,
  truth: Question['truth'],
): Question => ({
  question,
  view,
  report: { name: 'sales-by-month', column, ...by },
  truth,
});

const question = (
  text: string,
  name: string,
  by: Omit<Question['report'], 'name'>,
  view: string,
  truth: Question['truth'],
): Question => ({
  question: text,
  view,
  report: { name, ...by },
  truth,
});

// prettier-ignore
export const QUESTIONS: readonly Question[] = [
  sales('How much did we sell in March, with taxes?', 'total_e4', { where: in7, ...MARCH },
    `select sum(total_e4) from bi_sales where ${SOLD} and system_id = 7 and ${days(MARCH.from, MARCH.to)}`,
    (world) => units(all(world, 'sales', isSold, of7, between(MARCH.from, MARCH.to)), 'total')),
  sales('How many sales were there in March?', 'sales', { where: in7, ...MARCH },
    `select count(*) from bi_sales where ${SOLD} and system_id = 7 and ${days(MARCH.from, MARCH.to)}`,
    (world) => all(world, 'sales', isSold, of7, between(MARCH.from, MARCH.to)).length),
  sales('How much did branch 5 sell this year?', 'total_e4', { where: { company: '7', branch: '5' }, ...YEAR },
    `select sum(total_e4) from bi_sales where ${SOLD} and system_id = 7 and branch_id = 5 and ${days(YEAR.from, YEAR.to)}`,
    (world) => units(all(world, 'sales', isSold, of7, has('branch_id', 5), between(YEAR.from, YEAR.to)), 'total')),
  sales('How much did the other company sell this year?', 'total_e4', { where: { company: '8' }, ...YEAR },
    `select sum(total_e4) from bi_sales where ${SOLD} and system_id = 8 and ${days(YEAR.from, YEAR.to)}`,
    (world) => units(all(world, 'sales', isSold, has('system_id', 8), between(YEAR.from, YEAR.to)), 'total')),
  sales('How much did we sell in the first half of March?', 'total_e4', { where: in7, from: '2025-03-01', to: '2025-03-15' },
    `select sum(total_e4) from bi_sales where ${SOLD} and system_id = 7 and ${days('2025-03-01', '2025-03-15')}`,
    (world) => units(all(world, 'sales', isSold, of7, between('2025-03-01', '2025-03-15')), 'total')),
  sales('How much did we ever sell, before taxes?', 'lines_e4', { where: in7 },
    `select sum(l.produit_total_e4) from bi_sales_products l join bi_sales s on s.id = l.sale_id where s.${SOLD} and s.system_id = 7`,
    (world) => units(linesOf(world, isSold, of7), 'produit_total')),
  question('How much tax did we charge in the first quarter?', 'taxes-by-quarter', { column: 'charged_e4', where: in7, ...QUARTER },
    `select sum(taxes_e4) from bi_sales where ${SOLD} and system_id = 7 and ${days(QUARTER.from, QUARTER.to)}`,
    (world) => units(all(world, 'sales', isSold, of7, between(QUARTER.from, QUARTER.to)), 'taxes')),
  question('How much tax did we pay in Canadian dollars in the first quarter?', 'taxes-by-quarter', { column: 'paid_e4', where: inCad, ...QUARTER },
    `select sum(taxes_e4) from bi_purchases where ${BOUGHT} and currency = 'CAD' and system_id = 7 and ${days(QUARTER.from, QUARTER.to)}`,
    (world) => units(all(world, 'purchases', isBought, of7, CAD, between(QUARTER.from, QUARTER.to)), 'taxes')),
  question('How much tax did we charge from mid February to mid April?', 'taxes-by-quarter', { column: 'charged_e4', where: in7, from: '2025-02-15', to: '2025-04-15' },
    `select sum(taxes_e4) from bi_sales where ${SOLD} and system_id = 7 and ${days('2025-02-15', '2025-04-15')}`,
    (world) => units(all(world, 'sales', isSold, of7, between('2025-02-15', '2025-04-15')), 'taxes')),
  question('How much are we owed today?', 'receivables-by-age', { column: 'owed_e4', where: in7, to: TODAY },
    owedSql(TODAY), (world) => sum(owedAt(world, TODAY).map(({ owed }) => owed))),
  question('How much were we owed at the end of March?', 'receivables-by-age', { column: 'owed_e4', where: in7, to: MARCH.to },
    owedSql(MARCH.to), (world) => sum(owedAt(world, MARCH.to).map(({ owed }) => owed))),
  question('How much does Ada owe?', 'receivables-by-age', { column: 'owed_e4', where: { company: '7', client_id: `${NAMED.client}` }, to: TODAY },
    owedSql(TODAY, `and s.client_id = ${NAMED.client}`),
    (world) => sum(owedAt(world, TODAY, has('client_id', NAMED.client)).map(({ owed }) => owed))),
  question('How much is owed for more than 90 days?', 'receivables-by-age', { column: 'over_90_e4', where: in7, to: TODAY },
    owedSql(TODAY, `and s.date < '2025-08-04'`),
    (world) => sum(owedAt(world, TODAY).filter(({ age }) => age > 90).map(({ owed }) => owed))),
  question('How many sales are paid in full?', 'days-to-pay', { column: 'sales', where: in7 },
    `select count(*) from bi_sales s where s.${SOLD} and s.system_id = 7 and s.total_e4 > 0
      and s.total_e4 <= (select sum(p.amount_e4) from bi_sales_payments p where p.invoice_id = s.id)`,
    (world) => inFull(world).length),
  question('How many days did Ada take to pay all of them?', 'days-to-pay', { column: 'days', where: { company: '7', client_id: `${NAMED.client}` } },
    `select sum(t.day_number - d.day_number) from (
      select s.date as sold, min(p.date_payment) as paid from bi_sales s join bi_sales_payments p on p.invoice_id = s.id
      where s.${SOLD} and s.system_id = 7 and s.client_id = ${NAMED.client} and s.total_e4 > 0 and s.total_e4 <= (
        select sum(e.amount_e4) from bi_sales_payments e where e.invoice_id = s.id and e.date_payment <= p.date_payment)
      group by s.id, s.date) x join bi_calendar d on d.date = x.sold join bi_calendar t on t.date = x.paid`,
    (world) => inFull(world, has('client_id', NAMED.client)).reduce((total, sale) =>
      total + (Date.parse(paidOn(world, sale) ?? '') - Date.parse(textOf(sale['date']))) / DAY_MS, 0)),
  question('How many sales of this year are of clients who came back?', 'repeat-customers', { column: 'repeat_sales', where: in7, ...YEAR },
    `select count(*) from bi_sales s where s.${SOLD} and s.system_id = 7 and s.client_id <> 0 and ${days(YEAR.from, YEAR.to, 's.date')} and exists (
      select 1 from bi_sales o where o.${SOLD} and o.system_id = 7 and o.client_id = s.client_id and (o.date < s.date or o.date = s.date and o.id < s.id))`,
    (world) => all(world, 'sales', isSold, of7, between(YEAR.from, YEAR.to)).filter((sale) => idOf(sale['client_id']) !== '0' && isRepeat(world)(sale)).length),
  question('How much did we sell in March of last year?', 'year-on-year', { column: 'before_e4', where: in7, ...MARCH },
    `select sum(total_e4) from bi_sales where ${SOLD} and system_id = 7 and ${days('2024-03-01', '2024-03-31')}`,
    (world) => units(all(world, 'sales', isSold, of7, between('2024-03-01', '2024-03-31')), 'total')),
  question('How much did we buy this year in Canadian dollars, with taxes?', 'purchases-by-month', { column: 'total_e4', where: inCad, ...YEAR },
    `select sum(total_e4) from bi_purchases where ${BOUGHT} and currency = 'CAD' and system_id = 7 and ${days(YEAR.from, YEAR.to)}`,
    (world) => units(all(world, 'purchases', isBought, of7, CAD, between(YEAR.from, YEAR.to)), 'total')),
  question('How much did we buy this year in American dollars, with taxes?', 'purchases-by-month', { column: 'total_e4', where: inUsd, ...YEAR },
    `select sum(total_e4) from bi_purchases where ${BOUGHT} and currency = 'USD' and system_id = 7 and ${days(YEAR.from, YEAR.to)}`,
    (world) => units(all(world, 'purchases', isBought, of7, USD, between(YEAR.from, YEAR.to)), 'total')),
  question('How much did we ever buy from this provider in American dollars, before taxes?', 'purchases-by-month', { column: 'subtotal_e4', where: { ...inUsd, provider_id: `${NAMED.provider}` } },
    `select sum(subtotal_e4) from bi_purchases where ${BOUGHT} and currency = 'USD' and system_id = 7 and provider_id = ${NAMED.provider}`,
    (world) => units(all(world, 'purchases', isBought, of7, USD, has('provider_id', NAMED.provider)), 'subtotal')),
  question('How many purchase lines are on hold?', 'purchases-by-provider', { column: 'lines_on_hold', where: in7 },
    `select count(*) ${PURCHASED} and l.produit_quantite_onhold_e4 <> 0`,
    (world) => purchaseLines(world).filter((line) => unitsOf(line['produit_quantite_onhold'])?.eq(0) === false).length),
  question('What do the lines on hold cost in American dollars?', 'purchases-by-provider', { column: 'total_on_hold_e4', where: inUsd },
    `select sum(l.produit_total_e4) ${PURCHASED} and p.currency = 'USD' and l.produit_quantite_onhold_e4 <> 0`,
    (world) => units(purchaseLines(world, USD).filter((line) => unitsOf(line['produit_quantite_onhold'])?.eq(0) === false), 'produit_total')),
  question('What did we pay for this product in Canadian dollars?', 'margin-by-product', { column: 'cost_e4', where: { ...inCad, product_id: `${NAMED.product}` } },
    `select sum(l.produit_total_e4) ${PURCHASED} and p.currency = 'CAD' and l.product_id = ${NAMED.product}`,
    (world) => units(purchaseLines(world, CAD, has('product_id', NAMED.product)), 'produit_total')),
  question('How much was this product sold for this year?', 'margin-by-sale-line', { column: 'sold_e4', where: { product_id: `${NAMED.product}` }, ...YEAR },
    `select sum(l.produit_total_e4) from bi_sales_products l join bi_sales s on s.id = l.sale_id where s.${SOLD} and l.product_id = ${NAMED.product} and ${days(YEAR.from, YEAR.to, 's.date')}`,
    (world) => units(linesOf(world, isSold, between(YEAR.from, YEAR.to)).filter(has('product_id', NAMED.product)), 'produit_total')),
  question('How long did this technician work in March?', 'hours-by-technician-and-week', { column: 'hours_e4', where: { user_id: `${NAMED.technician}` }, ...MARCH },
    `select sum(ptotal_e4) from bi_punches where user_id = ${NAMED.technician} and ${days(MARCH.from, MARCH.to)}`,
    (world) => units(all(world, 'punches', has('user_id', NAMED.technician), between(MARCH.from, MARCH.to)), 'ptotal')),
  question('How many hours were worked this year?', 'hours-worked-and-billed', { column: 'worked_e4', where: in7, ...YEAR },
    `select sum(ptotal_e4) from bi_punches where system_id = 7 and ${days(YEAR.from, YEAR.to)}`,
    (world) => units(all(world, 'punches', of7, between(YEAR.from, YEAR.to)), 'ptotal')),
  question('How many hours were billed this year?', 'hours-worked-and-billed', { column: 'billed_e4', ...YEAR },
    `select sum(l.product_quantity_e4) from bi_sales_products l join bi_sales s on s.id = l.sale_id join bi_products p on p.id = l.product_id
      where s.${SOLD} and p.unit = 'h' and ${days(YEAR.from, YEAR.to, 's.date')}`,
    (world) => units(linesOf(world, isSold, between(YEAR.from, YEAR.to)).filter((line) => world.get('products', Number(idOf(line['product_id'])))?.['unit'] === 'h'), 'product_quantity')),
  question('Since when did this technician not punch out?', 'open-punches', { column: 'open_punches', where: { user_id: `${NAMED.technician}`, day: '2025-03-09' } },
    `select count(*) from bi_punches where user_id = ${NAMED.technician} and end_time is null and date = '2025-03-09'`,
    (world) => all(world, 'punches', has('user_id', NAMED.technician), has('date', '2025-03-09')).filter((punch) => textOf(punch['end_time']) === '').length),
  question('How many bookings are picked up in March?', 'bookings-by-month', { column: 'bookings', ...MARCH },
    `select count(*) from bi_bookings where ${days(MARCH.from, MARCH.to, 'pickup_date')}`,
    (world) => all(world, 'bookings', between(MARCH.from, MARCH.to, 'pickup_date')).length),
  question('At what price?', 'bookings-by-month', { column: 'price_e4', ...MARCH },
    `select sum(price_e4) from bi_bookings where ${days(MARCH.from, MARCH.to, 'pickup_date')}`,
    (world) => units(all(world, 'bookings', between(MARCH.from, MARCH.to, 'pickup_date')), 'price')),
  question('How many clients came in March?', 'new-and-lost-clients', { column: 'new_clients', ...MARCH },
    `select count(*) from bi_clients where ${days(MARCH.from, MARCH.to, 'creation_date')}`,
    (world) => all(world, 'clients', between(MARCH.from, MARCH.to, 'creation_date')).length),
  question('How many prices rose on the day that has 25 hours?', 'price-changes', { column: 'risen', from: TODAY, to: TODAY },
    `select count(*) from bi_price_changes where field = 'price' and new_price_e4 > old_price_e4 and day = '${TODAY}'`, () => 2),
  question('How many records changed on that day?', 'changes-by-day', { column: 'updated', from: TODAY, to: TODAY },
    `select count(*) from bi_changes where change = 'updated' and day = '${TODAY}'`, () => 2),
];
