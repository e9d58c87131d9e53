-- title: Sales by month, company and branch
-- title_fr: Ventes par mois, compagnie et succursale
-- question: How much did each company and branch sell in each month?
-- question_fr: Combien chaque compagnie et chaque succursale ont-elles vendu chaque mois ?
-- note: A sale counts in the month of its `date`; `none` has sales without one.
-- note_fr: Une vente compte dans le mois de sa date (`date`); `none` regroupe les ventes sans date.
-- note: Counts sales with a status of `reports.sold` ([what counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`.
-- note: `lines` is the sum of the lines, before taxes; `total` is what the service sends as `total`, or else
--   the sum of the lines.
-- note_fr: `lines` est la somme des lignes, avant taxes; `total` est ce que le service envoie comme `total`,
--   sinon la somme des lignes.
-- days: first, last
-- counts: sold
-- keys: month, company, branch, status
-- time: month
-- metric: sales (sales): How many sales are there?
-- metric: sales_before_taxes (lines_e4): How much was sold, before taxes?
-- metric: sales_total (total_e4): How much was sold, with taxes?
-- plot: Sales of the last twelve months, before taxes
-- bars: sales (lines_e4)

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
months as (
  select coalesce(substr(s.day, 1, 7), 'none') as month, s.company, s.branch, c.name as status, count(*) as sales,
    count(distinct nullif(s.client_id, 0)) as clients, cast(sum(s.lines_total) as bigint) as line_sum,
    cast(sum(s.total) as bigint) as total
  from sales s join counted c on c.status = s.status cross join asked a
  where (a.first is null or s.day >= a.first) and (a.last is null or s.day <= a.last)
  group by coalesce(substr(s.day, 1, 7), 'none'), s.company, s.branch, c.name
)
select month, company, branch, status, sales, clients,
  line_sum as lines_e4,
  case when line_sum < 0 then '-' else '' end || (abs(line_sum) / 10000) || '.'
    || substr(cast(10000 + abs(line_sum) % 10000 as text), 2) as lines_exact,
  total as total_e4,
  case when total < 0 then '-' else '' end || (abs(total) / 10000) || '.'
    || substr(cast(10000 + abs(total) % 10000 as text), 2) as total_exact
from months order by month, company, branch, status
