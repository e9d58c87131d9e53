-- title: Customers who came back
-- title_fr: Clients qui reviennent
-- question: How many of each month's customers had bought before, and how much did they buy?
-- question_fr: Combien de clients de chaque mois avaient déjà acheté, et pour combien ont-ils acheté ?
-- note: A sale is one of a customer who came back if the same client has an earlier one, of the same company and
--   status; those of one day follow their ids. Sales without a client count as neither.
-- note_fr: Une vente est celle d’un client qui revient si le même client en a une plus ancienne, de la même
--   compagnie et du même statut; celles d’un même jour suivent leurs numéros. Les ventes sans client ne
--   comptent d’aucun côté.
-- note: A client who came back twice in a month counts once: months of `customers` do not add up.
-- note_fr: Un client revenu deux fois dans un mois compte une fois : les mois de `customers` ne
--   s’additionnent pas.
-- note: Counts sales with a status of `reports.sold` ([what counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`.
-- days: first, last
-- counts: sold
-- keys: month, company, status
-- time: month
-- metric: sales_of_customers (sales): How many sales have a client?
-- metric: repeat_sales (repeat_sales): How many of them are of clients who had bought before?
-- metric: repeat_sales_total (repeat_e4): How much did these clients buy, with taxes?
-- plot: Sales of the last twelve months, and those of clients who had bought before
-- bars: sales (sales), came back (repeat_sales)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count as sold; where several occur and `reports.sold` names none, each counts by itself.
counted as (
  select status, case when counts_as like '%sold%' then 'sold' else status end as name
  from bi_statuses where kind = 'sales' and (counts_as like '%sold%'
    or not exists (select 1 from bi_statuses where kind = 'sales' and counts_as like '%sold%'))
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
sale_rows as (
  select id, client_id, cast(date as text) as date, cast(status as text) as status, total_exact, total_e4,
    branch_id, system_id
  from bi_sales natural left join (
    select (select client_id from bi_sales where 1 = 0) as client_id,
      (select date from bi_sales where 1 = 0) as date,
      (select status from bi_sales where 1 = 0) as status,
      (select total_exact from bi_sales where 1 = 0) as total_exact,
      (select total_e4 from bi_sales where 1 = 0) as total_e4,
      (select branch_id from bi_sales where 1 = 0) as branch_id,
      (select system_id from bi_sales where 1 = 0) as system_id
    from (select cast(null as bigint) as client_id, cast(null as text) as date,
      cast(null as text) as status, cast(null as text) as total_exact, cast(null as bigint) as total_e4,
      cast(null as bigint) as branch_id, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
sale_lines as (
  select id, sale_id, product_id, product_quantity_e4, produit_total_e4, system_id
  from bi_sales_products natural left join (
    select (select sale_id from bi_sales_products where 1 = 0) as sale_id,
      (select product_id from bi_sales_products where 1 = 0) as product_id,
      (select product_quantity_e4 from bi_sales_products where 1 = 0) as product_quantity_e4,
      (select produit_total_e4 from bi_sales_products where 1 = 0) as produit_total_e4,
      (select system_id from bi_sales_products where 1 = 0) as system_id
    from (select cast(null as bigint) as sale_id, cast(null as bigint) as product_id,
      cast(null as bigint) as product_quantity_e4,
      cast(null as bigint) as produit_total_e4, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
sold as (
  select sale_id, cast(sum(produit_total_e4) as bigint) as lines_total from sale_lines group by sale_id
),
sales as (
  select s.id, coalesce(s.system_id, 0) as company, coalesce(s.branch_id, 0) as branch,
    coalesce(s.client_id, 0) as client_id, substr(s.date, 1, 10) as day, coalesce(nullif(s.status, ''), 'none') as status,
    l.lines_total, case when s.total_exact is null then l.lines_total else s.total_e4 end as total
  from sale_rows s left join sold l on l.sale_id = s.id
),
ranked as (
  select s.company, s.client_id, c.name as status, s.day, s.total,
    case when row_number() over (partition by s.company, s.client_id, c.name order by coalesce(s.day, ''), s.id) > 1 then 1 else 0 end
      as is_repeat
  from sales s join counted c on c.status = s.status
  where s.client_id <> 0
),
sums as (
  select coalesce(substr(day, 1, 7), 'none') as month, company, status, count(distinct client_id) as customers,
    count(distinct case when is_repeat = 1 then client_id end) as repeat_customers, count(*) as sales,
    sum(is_repeat) as repeat_sales, cast(sum(total) as bigint) as total, cast(sum(total * is_repeat) as bigint) as repeated
  from ranked cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
  group by coalesce(substr(day, 1, 7), 'none'), company, status
)
select month, company, status, customers, repeat_customers, sales, repeat_sales,
  total as total_e4,
  repeated as repeat_e4,
  case when repeated < 0 then '-' else '' end || (abs(repeated) / 10000) || '.'
    || substr(cast(10000 + abs(repeated) % 10000 as text), 2) as repeat_exact
from sums order by month, company, status
