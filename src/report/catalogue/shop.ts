import { closingReport } from './closing.ts';
import type { WrittenReport } from './report.ts';
import { amount, companyOf, monthOf, readingOf, rowsOf, timesPrice } from './sql.ts';

const SALE_FIELDS = {
  client_id: 'bigint',
  date: 'text',
  status: 'text',
  total_e4: 'bigint',
  branch_id: 'bigint',
  system_id: 'bigint',
} as const;

/** Sales with the sum of their lines, which stands for the total of a sale where the service sends none. */
const SALES = `${rowsOf('bi_sales', 'sale_rows', SALE_FIELDS)},
${rowsOf('bi_sales_products', 'sale_lines', { sale_id: 'bigint', product_id: 'bigint', product_quantity_e4: 'bigint', produit_total_e4: 'bigint', system_id: 'bigint' })},
sold as (
  select sale_id, cast(sum(produit_total_e4) as bigint) as lines_total from sale_lines group by sale_id
),
sales as (
  select s.id, ${companyOf('s')} as company, coalesce(s.branch_id, 0) as branch, coalesce(s.client_id, 0) as client_id, substr(s.date, 1, 10) as day,
    coalesce(s.status, 'none') as status, l.lines_total, coalesce(s.total_e4, l.lines_total) as total
  from sale_rows s left join sold l on l.sale_id = s.id
)`;

const QUOTES = 'Quotes are sales too, where the service lists them as such: see `status`.';

/** Sales, what is owed for them, and what was bought: of the lists that the documentation leaves out. */
export const SHOP_REPORTS: readonly WrittenReport[] = [
  {
    name: 'sales-by-month',
    title: 'Sales by month, company and branch',
    question: 'How much did each company and branch sell in each month?',
    notes: [
      'A sale counts in the month of its `date`; `none` has sales without one.',
      QUOTES,
      '`lines` is the sum of the lines, before taxes; `total` is what the service sends as `total`, or else the sum of the lines.',
    ],
    sql: `-- Sales of each company and branch in each month, by their status.
with
${SALES},
months as (
  select ${monthOf('day')} as month, company, branch, status, count(*) as sales,
    count(distinct nullif(client_id, 0)) as clients, cast(sum(lines_total) as bigint) as line_sum,
    cast(sum(total) as bigint) as total
  from sales group by ${monthOf('day')}, company, branch, status
)
select month, company, branch, status, sales, clients,
  ${amount('line_sum', 'lines')},
  ${amount('total', 'total')}
from months order by month, company, branch, status
`,
    keys: ['month', 'company', 'branch', 'status'],
    time: 'month',
    metrics: {
      sales: { column: 'sales', question: 'How many sales are there?' },
      sales_before_taxes: { column: 'lines_e4', question: 'How much was sold, before taxes?' },
      sales_total: { column: 'total_e4', question: 'How much was sold, with taxes?' },
    },
    plot: {
      caption: 'Sales of the last twelve months, before taxes',
      series: { sales: 'lines_e4' },
    },
  },
  {
    name: 'receivables-by-age',
    title: 'Receivables by age',
    question: 'How much does each client owe as of a day, and since when?',
    notes: [
      "The day is that of the last complete reading of the sales, in `schedules.timezone`. For another one, write it in `as_of`: `select '2026-03-31' as day`.",
      'A sale is owed from its `date` on, less the payments that name it (`invoice_id`) up to the day. A negative sum was paid too much.',
      'Changes that the service made to older sales and payments count as if they had always been so.',
      QUOTES,
    ],
    sql: `-- What each client owes for sales up to a day, less their payments up to it, by the days since the sale.
with
as_of as (
  select ${readingOf('sales')} as day
),
${SALES},
${rowsOf('bi_sales_payments', 'payments', { invoice_id: 'bigint', date_payment: 'text', amount_e4: 'bigint' })},
paid as (
  select p.invoice_id, cast(sum(p.amount_e4) as bigint) as paid
  from payments p cross join as_of a
  where p.date_payment is null or substr(p.date_payment, 1, 10) <= a.day group by p.invoice_id
),
owed as (
  select s.company, s.branch, s.client_id, s.total - coalesce(p.paid, 0) as owed, t.day_number - d.day_number as age
  from sales s cross join as_of a
  left join paid p on p.invoice_id = s.id
  left join bi_calendar d on cast(d.date as text) = s.day
  left join bi_calendar t on cast(t.date as text) = a.day
  where (s.day is null or s.day <= a.day) and s.total <> coalesce(p.paid, 0)
),
sums as (
  select company, branch, client_id, count(*) as sales, cast(sum(owed) as bigint) as owed,
    cast(sum(case when age <= 30 then owed else 0 end) as bigint) as to_30,
    cast(sum(case when age between 31 and 60 then owed else 0 end) as bigint) as to_60,
    cast(sum(case when age between 61 and 90 then owed else 0 end) as bigint) as to_90,
    cast(sum(case when age > 90 then owed else 0 end) as bigint) as over_90,
    cast(sum(case when age is null then owed else 0 end) as bigint) as undated
  from owed group by company, branch, client_id
)
select s.company, s.branch, s.client_id, c.code, c.name, s.sales,
  ${amount('s.owed', 'owed')},
  s.to_30 as to_30_e4, s.to_60 as to_60_e4, s.to_90 as to_90_e4, s.over_90 as over_90_e4, s.undated as undated_e4
from sums s left join bi_clients c on c.id = s.client_id
order by s.owed desc, s.company, s.branch, s.client_id
`,
    keys: ['company', 'branch', 'client_id'],
    time: null,
    labels: ['code', 'name'],
    metrics: {
      receivables_owed: { column: 'owed_e4', question: 'How much is owed?' },
      receivables_over_90_days: { column: 'over_90_e4', question: 'How much is owed for more than 90 days?' },
    },
    plot: {
      caption: 'The ten clients with the largest debts',
      series: { owed: 'owed_e4' },
    },
  },
  {
    name: 'purchases-by-month',
    title: 'Purchases by provider and month',
    question: 'How much was bought from each provider in each month?',
    notes: ['A purchase counts in the month of its `date`; `none` has purchases without one.'],
    sql: `-- Purchases of each company and branch from each provider in each month.
with
${rowsOf('bi_purchases', 'purchases', { provider_id: 'bigint', date: 'text', subtotal_e4: 'bigint', total_e4: 'bigint', branch_id: 'bigint', system_id: 'bigint' })},
months as (
  select ${monthOf('p.date')} as month, ${companyOf('p')} as company, coalesce(p.branch_id, 0) as branch,
    coalesce(p.provider_id, 0) as provider_id,
    count(*) as purchases, cast(sum(p.subtotal_e4) as bigint) as subtotal, cast(sum(p.total_e4) as bigint) as total
  from purchases p group by ${monthOf('p.date')}, ${companyOf('p')}, coalesce(p.branch_id, 0), coalesce(p.provider_id, 0)
)
select m.month, m.company, m.branch, m.provider_id, v.code, v.name, m.purchases,
  ${amount('m.subtotal', 'subtotal')},
  ${amount('m.total', 'total')}
from months m left join bi_providers v on v.id = m.provider_id
order by m.month, m.company, m.branch, m.provider_id
`,
    keys: ['month', 'company', 'branch', 'provider_id'],
    time: 'month',
    labels: ['code', 'name'],
    metrics: {
      purchases: { column: 'purchases', question: 'How many purchases are there?' },
      purchases_before_taxes: { column: 'subtotal_e4', question: 'How much was bought, before taxes?' },
      purchases_total: { column: 'total_e4', question: 'How much was bought, with taxes?' },
    },
    shown: ['month', 'company', 'branch', 'code', 'name', 'purchases', 'subtotal_exact', 'total_exact'],
    plot: {
      caption: 'Purchases of the last twelve months, before taxes',
      series: { purchases: 'subtotal_e4' },
    },
  },
  {
    name: 'margin-by-sale-line',
    title: 'Margin of what was sold',
    question:
      "What is left of each product's sales after its own cost, and after the price at which it was bought?",
    notes: [
      "`own_cost` is the quantity sold at the product's `cost` of today, `purchase_cost` at the mean price of all its purchase lines; null where there is none.",
      'Prices and values are cut after four places.',
      QUOTES,
    ],
    sql: `-- What each product was sold for, less its own cost, and less the mean price of its purchases.
with
${SALES},
${rowsOf('bi_products', 'products', { cost_e4: 'bigint' }, ['code', 'name_fr'])},
bought as (
  select product_id, cast(sum(produit_total_e4) as bigint) as total, cast(sum(product_quantity_e4) as bigint) as quantity
  from bi_purchase_products where product_quantity_e4 is not null and produit_total_e4 is not null group by product_id
),
bought_at as (
  select product_id, case when quantity > 0 and abs(total) <= 900000000000000 then total * 10000 / quantity end as price
  from bought
),
quantities as (
  select coalesce(l.system_id, s.company, 0) as company, coalesce(s.branch, 0) as branch, coalesce(l.product_id, 0) as product_id,
    count(*) as lines,
    cast(sum(l.product_quantity_e4) as bigint) as quantity, cast(sum(l.produit_total_e4) as bigint) as sold
  from sale_lines l left join sales s on s.id = l.sale_id
  group by coalesce(l.system_id, s.company, 0), coalesce(s.branch, 0), coalesce(l.product_id, 0)
),
priced as (
  select q.company, q.branch, q.product_id, p.code, p.name_fr, q.lines, q.quantity, q.sold,
    ${timesPrice('q.quantity', 'p.cost_e4')} as own_cost,
    ${timesPrice('q.quantity', 'b.price')} as purchase_cost
  from quantities q left join products p on p.id = q.product_id left join bought_at b on b.product_id = q.product_id
)
select company, branch, product_id, code, name_fr, lines, quantity as quantity_e4,
  ${amount('sold', 'sold')},
  own_cost as own_cost_e4, purchase_cost as purchase_cost_e4,
  ${amount('(sold - own_cost)', 'margin')},
  ${amount('(sold - purchase_cost)', 'purchase_margin')}
from priced order by coalesce(sold, 0) desc, company, branch, product_id
`,
    keys: ['company', 'branch', 'product_id'],
    time: null,
    labels: ['code', 'name_fr'],
    metrics: {
      sold: { column: 'sold_e4', question: 'How much were products sold for?' },
      margin_on_own_cost: { column: 'margin_e4', question: "What is left after the products' own cost?" },
      margin_on_purchases: {
        column: 'purchase_margin_e4',
        question: 'What is left after the price at which they were bought?',
      },
    },
    shown: ['company', 'branch', 'code', 'name_fr', 'sold_exact', 'margin_exact', 'purchase_margin_exact'],
    plot: {
      caption: 'The ten products that were sold for the most',
      series: { sold: 'sold_e4' },
    },
  },
  {
    name: 'hours-worked-and-billed',
    title: 'Hours worked and billed',
    question: 'How many hours were worked in each month, and how many were billed?',
    notes: [
      'Hours worked are those of punches, by their date. Hours billed are the quantities of sale lines whose product has the unit `h`, by the date of the sale: put ' +
        'the unit of your service in their place.',
      QUOTES,
    ],
    sql: `-- Hours of punches, and hours of labour on the lines of sales, by company and month.
with
${SALES},
${rowsOf('bi_products', 'products', { unit: 'text' })},
hours as (
  select ${monthOf('p.date')} as month, ${companyOf('p')} as company, p.ptotal_e4 as worked, cast(null as bigint) as billed
  from bi_punches p
  union all
  select ${monthOf('s.day')}, coalesce(l.system_id, s.company, 0), null, l.product_quantity_e4
  from sale_lines l join products p on p.id = l.product_id and p.unit = 'h' left join sales s on s.id = l.sale_id
),
sums as (
  select month, company, cast(sum(worked) as bigint) as worked, cast(sum(billed) as bigint) as billed
  from hours group by month, company
)
select month, company,
  ${amount('worked', 'worked')},
  ${amount('billed', 'billed')}
from sums order by month, company
`,
    keys: ['month', 'company'],
    time: 'month',
    metrics: {
      hours_worked: { column: 'worked_e4', question: 'How many hours were worked?' },
      hours_billed: { column: 'billed_e4', question: 'How many hours were billed?' },
    },
    plot: {
      caption: 'Hours worked and billed in the last twelve months',
      series: { worked: 'worked_e4', billed: 'billed_e4' },
    },
  },
  closingReport('changes-after-closing-of-sales', 'late_changes_of_sales', 'Sales and purchases', [
    { kind: 'sales', date: 'date', money: 'total' },
    { kind: 'purchases', date: 'date', money: 'total' },
  ]),
];
