-- title: Receivables by age
-- title_fr: Comptes clients par ancienneté
-- question: How much does each client owe as of a day, and since when?
-- question_fr: Combien chaque client doit-il à un jour donné, et depuis quand ?
-- note: The day is the last one asked for, or else that of the last complete reading of the sales, in
--   `schedules.timezone`.
-- note_fr: Le jour est le dernier demandé, sinon celui de la dernière lecture complète des ventes, dans le
--   fuseau `schedules.timezone`.
-- note: A sale is owed from its `date` on, less the payments that name it (`invoice_id`) up to the day. A
--   negative sum was paid too much.
-- note_fr: Une vente est due à partir de sa date (`date`), moins les paiements qui la nomment (`invoice_id`)
--   jusqu’au jour demandé. Une somme négative a été payée en trop.
-- note: Changes that the service made to older sales and payments count as if they had always been so.
-- note_fr: Les changements que le service a faits à d’anciennes ventes et à d’anciens paiements comptent
--   comme s’ils avaient toujours été là.
-- note: Counts sales with a status of `reports.owed` ([what counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.owed`.
-- days: last
-- counts: owed
-- keys: company, branch, client_id, status
-- labels: code, name
-- metric: receivables_owed (owed_e4): How much is owed?
-- metric: receivables_over_90_days (over_90_e4): How much is owed for more than 90 days?
-- plot: The ten clients with the largest debts
-- bars: owed (owed_e4)

with
-- The last day that is asked for; null = that of the last complete reading.
asked as (
  select cast(null as text) as last
),
as_of as (
  select coalesce(last, (
    select cast(d.date as text)
    from bi_sync_status s join bi_calendar d on d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at
    where s.kind = 'sales' order by d.ends_at limit 1)) as day
  from asked
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
paid as (
  select p.invoice_id, cast(sum(p.amount_e4) as bigint) as paid
  from payments p where p.day is null or p.day <= (select day from as_of) group by p.invoice_id
),
-- As a list, which is made once: the calendar would be read for each sale.
days as materialized (
  select cast(date as text) as day, day_number as number from bi_calendar
),
-- The number of the day, found once: PostgreSQL would look through all days for each sale.
last_day as materialized (
  select number from days where day = (select case when day > '2049-12-31' then '2049-12-31' else day end from as_of)
),
owed as (
  select s.company, s.branch, s.client_id, c.name as status, s.total - coalesce(p.paid, 0) as owed,
    (select number from last_day) - d.number as age
  from sales s
  join counted c on c.status = s.status
  left join paid p on p.invoice_id = s.id
  left join days d on d.day = s.day
  where (s.day is null or s.day <= (select day from as_of)) and s.total <> coalesce(p.paid, 0)
),
sums as (
  select company, branch, client_id, status, count(*) as sales, cast(sum(owed) as bigint) as owed,
    cast(sum(case when age <= 30 then owed else 0 end) as bigint) as to_30,
    cast(sum(case when age between 31 and 60 then owed else 0 end) as bigint) as to_60,
    cast(sum(case when age between 61 and 90 then owed else 0 end) as bigint) as to_90,
    cast(sum(case when age > 90 then owed else 0 end) as bigint) as over_90,
    cast(sum(case when age is null then owed else 0 end) as bigint) as undated
  from owed group by company, branch, client_id, status
)
select s.company, s.branch, s.client_id, s.status, c.code, c.name, s.sales,
  s.owed as owed_e4,
  case when s.owed < 0 then '-' else '' end || (abs(s.owed) / 10000) || '.'
    || substr(cast(10000 + abs(s.owed) % 10000 as text), 2) as owed_exact,
  s.to_30 as to_30_e4, s.to_60 as to_60_e4, s.to_90 as to_90_e4, s.over_90 as over_90_e4, s.undated as undated_e4
from sums s left join bi_clients c on c.id = s.client_id
order by s.owed desc, s.company, s.branch, s.client_id, s.status
