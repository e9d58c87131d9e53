-- title: Sales year on year
-- title_fr: Ventes d’une année à l’autre
-- question: How much was sold in each month, and in the same month of the year before?
-- question_fr: Combien a été vendu chaque mois, et le même mois de l’année précédente ?
-- note: Days are compared with the same days of the year before: the month of the last complete reading up to
--   its day, in `schedules.timezone`. 29 February counts on the 28th.
-- note_fr: Les jours sont comparés aux mêmes jours de l’année précédente : le mois de la dernière lecture
--   complète, jusqu’à son jour, dans le fuseau `schedules.timezone`. Le 29 février compte avec le 28.
-- note: The days asked for are those of the later year.
-- note_fr: Les jours demandés sont ceux de l’année la plus récente.
-- note: Counts sales with a status of `reports.sold` ([what counts](#what-counts)); sales without a day are left
--   out.
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`; les ventes sans date sont laissées de
--   côté.
-- days: first, last
-- counts: sold
-- keys: month, company, status
-- time: month
-- metric: sales_of_the_year (total_e4): How much was sold, with taxes?
-- metric: sales_of_the_year_before (before_e4): How much was sold a year before, with taxes?
-- plot: Sales of the last twelve months, and of the same months a year before
-- bars: the year before (before_e4), sales (total_e4)

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
today as (
  select cast(d.date as text) as day
  from bi_sync_status s join bi_calendar d on d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at
  where s.kind = 'sales' order by d.ends_at limit 1
),
-- Each sale counts on its own day, and as one of the year before on the day a year later.
years as (
  select s.day, s.company, c.name as status, 1 as is_now, s.total from sales s join counted c on c.status = s.status
  union all
  select cast(cast(substr(s.day, 1, 4) as integer) + 1 as text) || replace(substr(s.day, 5), '-02-29', '-02-28'), s.company, c.name, 0, s.total
  from sales s join counted c on c.status = s.status
),
months as (
  select substr(day, 1, 7) as month, company, status, sum(is_now) as sales, sum(1 - is_now) as sales_before,
    cast(sum(case when is_now = 1 then total end) as bigint) as total,
    cast(sum(case when is_now = 0 then total end) as bigint) as before
  from years cross join asked a
  where (is_now = 1 and day is not null or day <= (select day from today))
    and (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
  group by substr(day, 1, 7), company, status
),
-- Where nothing was sold, that is 0; null: sales whose totals are unknown.
sums as (
  select month, company, status, sales, sales_before, case when sales = 0 then 0 else total end as total,
    case when sales_before = 0 then 0 else before end as before
  from months
)
select month, company, status, sales,
  total as total_e4,
  case when total < 0 then '-' else '' end || (abs(total) / 10000) || '.'
    || substr(cast(10000 + abs(total) % 10000 as text), 2) as total_exact,
  sales_before,
  before as before_e4,
  case when before < 0 then '-' else '' end || (abs(before) / 10000) || '.'
    || substr(cast(10000 + abs(before) % 10000 as text), 2) as before_exact
from sums order by month, company, status
