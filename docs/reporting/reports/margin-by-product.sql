-- Margin of each product that was purchased: its quantity at the list price of today, less what the lines cost, by the
-- month in which the mirror first read the lines. Product 0 stands for lines whose product is unknown.
with
-- A field that the service has never sent has no column: then `unseen_products` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_products as (
  select cast(null as bigint) as price_e4
),
unseen_products as (
  select (select price_e4 from bi_products where 1 = 0) as price_e4
  from expected_products where 1 = 0
),
products as (
  select id, code, name_fr, price_e4
  from bi_products natural left join unseen_products
),
lines as (
  select coalesce(l.system_id, 0) as company, coalesce(product_id, 0) as product_id, coalesce(substr(cast((select cast(d.date as text) from bi_calendar d
      where d.ends_at > l._first_seen_at and d.starts_at <= l._first_seen_at order by d.ends_at limit 1) as text), 1, 7), 'none') as month,
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
    case when abs(b.quantity) <= 4000000000000000000 / (10000 + abs(p.price_e4 / 10000))
      then b.quantity * (p.price_e4 / 10000) + b.quantity * (p.price_e4 % 10000) / 10000 end as list_value
  from bought b left join products p on p.id = b.product_id
)
select company, product_id, code, name_fr, month, lines, quantity as quantity_e4,
  cost as cost_e4,
  case when cost < 0 then '-' else '' end || (abs(cost) / 10000) || '.'
    || substr(cast(10000 + abs(cost) % 10000 as text), 2) as cost_exact,
  list_value as list_value_e4,
  (list_value - cost) as margin_e4,
  case when (list_value - cost) < 0 then '-' else '' end || (abs((list_value - cost)) / 10000) || '.'
    || substr(cast(10000 + abs((list_value - cost)) % 10000 as text), 2) as margin_exact
from priced
order by coalesce(list_value - cost, 0) desc, company, product_id, month
