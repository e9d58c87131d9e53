import { unitsOf } from '../../views/price-changes-view.ts';
import type { WrittenReport } from './report.ts';
import { amount, companyOf, localDayOf, monthOf, parsedJson, rowsOf, timesPrice } from './sql.ts';

/** Purchases, margins and prices. */
export const PRODUCT_REPORTS: readonly WrittenReport[] = [
  {
    name: 'purchases-by-provider',
    title: 'Purchases received and on hold by provider',
    question: 'Which provider has delivered what, and how much is still awaited from each?',
    notes: [
      'A purchase line counts for the provider of its product, because it names none itself.',
      'A line counts as on hold while any part of it is; the quantities show the parts. A line without a quantity on hold counts ' +
        'as neither.',
      'Quantities of different units are added up: compare them within one provider.',
    ],
    sql: `-- Purchase lines of each provider: arrived ones, and those on hold. The provider is that of the line's product;
-- provider 0 stands for lines whose product is unknown or has no provider.
with
${rowsOf('bi_products', 'products', { provider_id: 'bigint' })},
lines as (
  select ${companyOf('l')} as company, coalesce(product_id, 0) as product_id, produit_total_e4 as total, produit_quantite_receive_e4 as received,
    produit_quantite_onhold_e4 as on_hold,
    case when produit_quantite_onhold_e4 <> 0 then 1 when produit_quantite_onhold_e4 = 0 then 0 end as is_on_hold
  from bi_purchase_products l
),
bought as (
  select company, product_id, count(*) as lines, sum(is_on_hold) as lines_on_hold, sum(received) as received,
    sum(on_hold) as on_hold, sum(total * (1 - is_on_hold)) as total_received, sum(total * is_on_hold) as total_on_hold
  from lines group by company, product_id
),
sums as (
  select b.company, coalesce(p.provider_id, 0) as provider_id, cast(sum(b.lines) as bigint) as lines,
    cast(sum(b.lines_on_hold) as bigint) as lines_on_hold, cast(sum(b.received) as bigint) as received,
    cast(sum(b.on_hold) as bigint) as on_hold, cast(sum(b.total_received) as bigint) as total_received,
    cast(sum(b.total_on_hold) as bigint) as total_on_hold
  from bought b left join products p on p.id = b.product_id group by b.company, coalesce(p.provider_id, 0)
)
select s.company, s.provider_id, v.code, v.name, s.lines, s.lines_on_hold,
  s.received as quantity_received_e4, s.on_hold as quantity_on_hold_e4,
  ${amount('s.total_received', 'total_received')},
  ${amount('s.total_on_hold', 'total_on_hold')}
from sums s left join bi_providers v on v.id = s.provider_id
order by coalesce(s.total_on_hold, 0) desc, s.company, s.provider_id
`,
    keys: ['company', 'provider_id'],
    time: null,
    labels: ['code', 'name'],
    metrics: {
      purchases_received: { column: 'total_received_e4', question: 'What do the received purchases cost?' },
      purchases_on_hold: { column: 'total_on_hold_e4', question: 'What do the purchases on hold cost?' },
      purchase_lines_on_hold: { column: 'lines_on_hold', question: 'How many purchase lines are on hold?' },
    },
    shown: ['code', 'name', 'lines', 'lines_on_hold', 'total_received_exact', 'total_on_hold_exact'],
    plot: {
      caption: 'The ten providers with the most on hold',
      series: { 'on hold': 'total_on_hold_e4', received: 'total_received_e4' },
    },
  },
  {
    name: 'margin-by-product',
    title: 'Margin by product and month',
    question:
      'How much did the purchases of each product cost in each month, and how much are they worth at the list price?',
    notes: [
      'The margin is that of selling everything bought at the present list price; that of real sales is [below](#margin-of-what-was-sold).',
      'A purchase line has no day: its month is when the mirror first read it, so the first month has all earlier lines.',
      'The value at the list price is cut after four places, and null for a product without a price.',
    ],
    sql: `-- Margin of each product that was purchased: its quantity at the list price of today, less what the lines cost, by the
-- month in which the mirror first read the lines. Product 0 stands for lines whose product is unknown.
with
${rowsOf('bi_products', 'products', { price_e4: 'bigint' }, ['code', 'name_fr'])},
lines as (
  select ${companyOf('l')} as company, coalesce(product_id, 0) as product_id, ${monthOf(localDayOf('l._first_seen_at'))} as month,
    product_quantity_e4 as quantity, produit_total_e4 as cost
  from bi_purchase_products l
),
bought as (
  select company, product_id, month, count(*) as lines, cast(sum(quantity) as bigint) as quantity, cast(sum(cost) as bigint) as cost
  from lines group by company, product_id, month
),
-- Quantity × price in units of 0.0001, cut after four places; null where 64 bits cannot hold it.
priced as (
  select b.company, b.product_id, p.code, p.name_fr, b.month, b.lines, b.quantity, b.cost,
    ${timesPrice('b.quantity', 'p.price_e4')} as list_value
  from bought b left join products p on p.id = b.product_id
)
select company, product_id, code, name_fr, month, lines, quantity as quantity_e4,
  ${amount('cost', 'cost')},
  list_value as list_value_e4,
  ${amount('(list_value - cost)', 'margin')}
from priced
order by coalesce(list_value - cost, 0) desc, company, product_id, month
`,
    keys: ['company', 'product_id', 'month'],
    time: 'month',
    labels: ['code', 'name_fr'],
    metrics: {
      purchase_cost: { column: 'cost_e4', question: 'How much did purchases cost?' },
      list_value: {
        column: 'list_value_e4',
        question: 'How much are purchases worth at the list price of today?',
      },
      margin: { column: 'margin_e4', question: 'What is the margin of selling them at that price?' },
    },
    shown: ['code', 'name_fr', 'month', 'lines', 'cost_exact', 'margin_exact'],
    plot: {
      caption: 'The ten products with the largest margin',
      by: ['code', 'name_fr'],
      series: { margin: 'margin_e4' },
    },
  },
  {
    name: 'price-changes',
    title: 'Changes of prices',
    question: 'Which prices of products changed on each day, from what to what?',
    notes: [
      'The day is when the mirror found the change. A change and its reversal between two readings stay invisible.',
      'Before PostgreSQL 17, replace `json(…)` by `cast(… as json)`.',
      'A price from 900,000,000,000, or with more than four places, is null here; `fields` of `bi_changes` has it.',
    ],
    sql: `-- Every change of a product's price that the mirror has found.
with
${rowsOf('bi_products', 'products', { system_id: 'id' }, ['code', 'name_fr'])},
changed as (
  select seq, record_id, cast(day as text) as day, ${parsedJson('fields')} -> 'price' as pair
  from bi_changes where kind = 'products' and change = 'updated' and fields like '%"price"%'
),
texts as (
  select seq, record_id, day, nullif(trim(cast(pair -> 0 as text), '"'), 'null') as old_text,
    nullif(trim(cast(pair -> 1 as text), '"'), 'null') as new_text
  from changed where pair is not null
),
prices as (
  select seq, record_id, day,
    ${unitsOf('old_text')} as old_price,
    ${unitsOf('new_text')} as new_price
  from texts
)
select c.seq, c.day, ${companyOf('p')} as company, c.record_id as product_id, p.code, p.name_fr,
  ${amount('c.old_price', 'old_price')},
  ${amount('c.new_price', 'new_price')},
  case when c.new_price > c.old_price then 1 else 0 end as risen,
  case when c.new_price < c.old_price then 1 else 0 end as fallen
from prices c left join products p on p.id = c.record_id
order by c.day, c.record_id, c.seq
`,
    keys: ['seq', 'company'],
    time: 'day',
    labels: ['product_id', 'code', 'name_fr'],
    metrics: {
      prices_risen: { column: 'risen', question: 'How often did a price rise?' },
      prices_fallen: { column: 'fallen', question: 'How often did a price fall?' },
    },
    shown: ['day', 'code', 'name_fr', 'old_price_exact', 'new_price_exact'],
    plot: {
      caption: 'Prices that rose and fell on each day',
      series: { risen: 'risen', fallen: 'fallen' },
    },
  },
];
