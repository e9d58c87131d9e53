-- title: Hours worked and billed
-- title_fr: Heures travaillées et facturées
-- question: How many hours were worked in each month, and how many were billed?
-- question_fr: Combien d’heures ont été travaillées chaque mois, et combien ont été facturées ?
-- note: Hours worked are those of punches, by their date. Hours billed are the quantities of sale lines whose
--   product has the unit `h`, by the date of the sale: put the unit of your service in their place.
-- note_fr: Les heures travaillées sont celles des pointages, selon leur date. Les heures facturées sont les
--   quantités des lignes de vente dont le produit a l’unité `h`, selon la date de la vente : mettez à la
--   place l’unité de votre service.
-- note: Counts sales with a status of `reports.sold` ([what counts](#what-counts)). Where each stands apart,
--   hours worked have the status `punches`.
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`. Quand chaque statut est à part, les
--   heures travaillées portent le statut `punches`.
-- days: first, last
-- counts: sold
-- keys: month, company, status
-- time: month
-- metric: hours_worked (worked_e4): How many hours were worked?
-- metric: hours_billed (billed_e4): How many hours were billed?
-- plot: Hours worked and billed in the last twelve months
-- bars: worked (worked_e4), billed (billed_e4)

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
products as (
  select id, cast(unit as text) as unit
  from bi_products natural left join (
    select (select unit from bi_products where 1 = 0) as unit
    from (select cast(null as text) as unit) as expected where 1 = 0
  ) as unseen
),
hours as (
  select cast(date as text) as day, coalesce(system_id, 0) as company,
    coalesce((select max(name) from counted where name = 'sold'), 'punches') as status, ptotal_e4 as worked,
    cast(null as bigint) as billed
  from bi_punches
  union all
  select s.day, coalesce(l.system_id, s.company, 0), c.name, null, l.product_quantity_e4
  from sale_lines l
  join products p on p.id = l.product_id and p.unit = 'h'
  left join sales s on s.id = l.sale_id
  join counted c on c.status = coalesce(s.status, 'none')
),
sums as (
  select coalesce(substr(day, 1, 7), 'none') as month, company, status, cast(sum(worked) as bigint) as worked,
    cast(sum(billed) as bigint) as billed
  from hours cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
  group by coalesce(substr(day, 1, 7), 'none'), company, status
)
select month, company, status,
  worked as worked_e4,
  case when worked < 0 then '-' else '' end || (abs(worked) / 10000) || '.'
    || substr(cast(10000 + abs(worked) % 10000 as text), 2) as worked_exact,
  billed as billed_e4,
  case when billed < 0 then '-' else '' end || (abs(billed) / 10000) || '.'
    || substr(cast(10000 + abs(billed) % 10000 as text), 2) as billed_exact
from sums order by month, company, status
