{{ config(enabled=var('shop', false)) }}
-- What each client owes for sales up to a day, less their payments up to it, by the days since the sale.
with
as_of as (
  select (select (select cast(d.date as text) from {{ source('bms_sync', 'bi_calendar') }} d
      where d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at order by d.ends_at limit 1) from {{ source('bms_sync', 'bi_sync_status') }} s where s.kind = 'sales') as day
),
-- A field that the service has never sent has no column: then `unseen_sale_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_sale_rows as (
  select cast(null as bigint) as client_id,
    cast(null as text) as date,
    cast(null as text) as status,
    cast(null as bigint) as total_e4,
    cast(null as bigint) as branch_id,
    cast(null as bigint) as system_id
),
unseen_sale_rows as (
  select (select client_id from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as client_id,
    (select date from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as date,
    (select status from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as status,
    (select total_e4 from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as total_e4,
    (select branch_id from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as branch_id,
    (select system_id from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as system_id
  from expected_sale_rows where 1 = 0
),
sale_rows as (
  select id, client_id, cast(date as text) as date, cast(status as text) as status, total_e4, branch_id, system_id
  from {{ source('bms_sync', 'bi_sales') }} natural left join unseen_sale_rows
),
-- A field that the service has never sent has no column: then `unseen_sale_lines` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_sale_lines as (
  select cast(null as bigint) as sale_id,
    cast(null as bigint) as product_id,
    cast(null as bigint) as product_quantity_e4,
    cast(null as bigint) as produit_total_e4,
    cast(null as bigint) as system_id
),
unseen_sale_lines as (
  select (select sale_id from {{ source('bms_sync', 'bi_sales_products') }} where 1 = 0) as sale_id,
    (select product_id from {{ source('bms_sync', 'bi_sales_products') }} where 1 = 0) as product_id,
    (select product_quantity_e4 from {{ source('bms_sync', 'bi_sales_products') }} where 1 = 0) as product_quantity_e4,
    (select produit_total_e4 from {{ source('bms_sync', 'bi_sales_products') }} where 1 = 0) as produit_total_e4,
    (select system_id from {{ source('bms_sync', 'bi_sales_products') }} where 1 = 0) as system_id
  from expected_sale_lines where 1 = 0
),
sale_lines as (
  select id, sale_id, product_id, product_quantity_e4, produit_total_e4, system_id
  from {{ source('bms_sync', 'bi_sales_products') }} natural left join unseen_sale_lines
),
sold as (
  select sale_id, cast(sum(produit_total_e4) as bigint) as lines_total from sale_lines group by sale_id
),
sales as (
  select s.id, coalesce(s.system_id, 0) as company, coalesce(s.branch_id, 0) as branch, coalesce(s.client_id, 0) as client_id, substr(s.date, 1, 10) as day,
    coalesce(s.status, 'none') as status, l.lines_total, coalesce(s.total_e4, l.lines_total) as total
  from sale_rows s left join sold l on l.sale_id = s.id
),
-- A field that the service has never sent has no column: then `unseen_payments` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_payments as (
  select cast(null as bigint) as invoice_id,
    cast(null as text) as date_payment,
    cast(null as bigint) as amount_e4
),
unseen_payments as (
  select (select invoice_id from {{ source('bms_sync', 'bi_sales_payments') }} where 1 = 0) as invoice_id,
    (select date_payment from {{ source('bms_sync', 'bi_sales_payments') }} where 1 = 0) as date_payment,
    (select amount_e4 from {{ source('bms_sync', 'bi_sales_payments') }} where 1 = 0) as amount_e4
  from expected_payments where 1 = 0
),
payments as (
  select id, invoice_id, cast(date_payment as text) as date_payment, amount_e4
  from {{ source('bms_sync', 'bi_sales_payments') }} natural left join unseen_payments
),
paid as (
  select p.invoice_id, cast(sum(p.amount_e4) as bigint) as paid
  from payments p cross join as_of a
  where p.date_payment is null or substr(p.date_payment, 1, 10) <= a.day group by p.invoice_id
),
owed as (
  select s.company, s.branch, s.client_id, s.total - coalesce(p.paid, 0) as owed, t.day_number - d.day_number as age
  from sales s cross join as_of a
  left join paid p on p.invoice_id = s.id
  left join {{ source('bms_sync', 'bi_calendar') }} d on cast(d.date as text) = s.day
  left join {{ source('bms_sync', 'bi_calendar') }} t on cast(t.date as text) = a.day
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
  s.owed as owed_e4,
  case when s.owed < 0 then '-' else '' end || (abs(s.owed) / 10000) || '.'
    || substr(cast(10000 + abs(s.owed) % 10000 as text), 2) as owed_exact,
  s.to_30 as to_30_e4, s.to_60 as to_60_e4, s.to_90 as to_90_e4, s.over_90 as over_90_e4, s.undated as undated_e4
from sums s left join {{ source('bms_sync', 'bi_clients') }} c on c.id = s.client_id
order by s.owed desc, s.company, s.branch, s.client_id
