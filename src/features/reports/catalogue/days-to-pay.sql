-- title: Days to pay
-- title_fr: Délais de paiement
-- question: How many days does each client take to pay a sale in full?
-- question_fr: Combien de jours chaque client met-il à payer une vente en entier ?
-- note: From the `date` of the sale to the day on which its payments (`invoice_id`) first reach its total. Sales
--   that are not paid in full, or whose days are unknown, are not among them.
-- note_fr: De la date de la vente (`date`) au jour où ses paiements (`invoice_id`) atteignent son total pour
--   la première fois. Les ventes qui ne sont pas payées en entier, ou dont les jours sont inconnus, n’y sont
--   pas.
-- note: `mean_days` is `days` divided by `sales`, cut after four places. The days asked for are those of sales.
-- note_fr: `mean_days` est `days` divisé par `sales`, coupé après quatre décimales. Les jours demandés sont
--   ceux des ventes.
-- note: Counts sales with a status of `reports.owed` ([what counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.owed`.
-- days: first, last
-- counts: owed
-- keys: company, client_id, status
-- labels: code, name
-- metric: sales_paid_in_full (sales): How many sales are paid in full?
-- metric: days_to_pay (days): How many days did all of them take together?
-- plot: The ten clients that took the most days, over all their sales
-- bars: days (days)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count as owed; where several occur and `reports.owed` names none, each counts by itself.
counted as (
  select status, case when counts_as like '%owed%' then 'owed' else status end as name
  from bi_statuses where kind = 'sales' and (counts_as like '%owed%'
    or not exists (select 1 from bi_statuses where kind = 'sales' and counts_as like '%owed%'))
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
payments as (
  select invoice_id, substr(cast(date_payment as text), 1, 10) as day, amount_e4
  from bi_sales_payments natural left join (
    select (select invoice_id from bi_sales_payments where 1 = 0) as invoice_id,
      (select date_payment from bi_sales_payments where 1 = 0) as date_payment,
      (select amount_e4 from bi_sales_payments where 1 = 0) as amount_e4
    from (select cast(null as bigint) as invoice_id, cast(null as text) as date_payment,
      cast(null as bigint) as amount_e4) as expected where 1 = 0
  ) as unseen
),
-- What is paid of each sale up to each day; payments without a day come first, so that they end no waiting.
paid as (
  select invoice_id, day, sum(coalesce(amount_e4, 0)) over (
    partition by invoice_id order by coalesce(day, '') range between unbounded preceding and current row) as paid
  from payments
),
in_full as (
  select s.id, s.company, s.client_id, s.status, s.day, min(coalesce(p.day, '')) as paid_on
  from sales s join paid p on p.invoice_id = s.id and p.paid >= s.total
  where s.total > 0 group by s.id, s.company, s.client_id, s.status, s.day
),
-- As a list, which is made once: the calendar would be read for each sale.
calendar as materialized (
  select cast(date as text) as day, day_number as number from bi_calendar
),
sums as (
  select s.company, s.client_id, c.name as status, count(*) as sales, cast(sum(t.number - d.number) as bigint) as days
  from in_full s
  join counted c on c.status = s.status
  join calendar d on d.day = s.day
  join calendar t on t.day = s.paid_on
  cross join asked a
  where (a.first is null or s.day >= a.first) and (a.last is null or s.day <= a.last)
  group by s.company, s.client_id, c.name
)
select s.company, s.client_id, s.status, c.code, c.name, s.sales, s.days,
  case when s.days < 0 then '-' else '' end || (abs(s.days) / s.sales) || '.'
    || substr(cast(10000 + abs(s.days) % s.sales * 10000 / s.sales as text), 2) as mean_days
from sums s left join bi_clients c on c.id = s.client_id
order by s.days desc, s.company, s.client_id, s.status
