-- title: Taxes by quarter
-- title_fr: Taxes par trimestre
-- question: How much tax was charged on sales, and how much was paid on purchases, in each quarter?
-- question_fr: Combien de taxes ont été perçues sur les ventes, et combien ont été payées sur les achats, chaque
--   trimestre ?
-- note: A quarter is one of the calendar year, by the `date` of the sale or purchase; `none` has those without
--   one.
-- note_fr: Un trimestre est celui de l’année civile, selon la date (`date`) de la vente ou de l’achat; `none`
--   regroupe ceux qui n’en ont pas.
-- note: Counts sales with a status of `reports.sold` and purchases with one of `reports.bought` ([what
--   counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`, et les achats dont le statut figure
--   dans `reports.bought`.
-- note: Taxes are those that the service sends as `taxes`, all sorts together.
-- note_fr: Les taxes sont celles que le service envoie comme `taxes`, toutes sortes ensemble.
-- note: Amounts of different currencies are not added up: each `currency` of purchases has rows of its own. Sales name
--   none: they are in that of the company, which the mirror does not know, and have `none`.
-- note_fr: Les montants de devises différentes ne s’additionnent pas : chaque devise (`currency`) des achats
--   a ses propres lignes. Les ventes n’en nomment aucune : elles sont dans celle de la compagnie, que le
--   miroir ne connaît pas, et portent `none`.
-- days: first, last
-- counts: sold, bought
-- keys: quarter, company, kind, status, currency
-- time: quarter
-- metric: taxes_charged (charged_e4): How much tax was charged on sales?
-- metric: taxes_paid (paid_e4): How much tax was paid on purchases?
-- plot: Taxes of the last quarters, by currency
-- bars: charged (charged_e4), paid (paid_e4)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count; where several occur and the setting of the kind names none, each counts by itself.
occurring as materialized (
  select kind, status, case when kind = 'sales' and counts_as like '%sold%' then 'sold'
    when kind = 'purchases' and counts_as like '%bought%' then 'bought' end as meaning
  from bi_statuses where kind in ('sales', 'purchases')
),
chosen as (
  select kind, max(meaning) as name from occurring where meaning is not null group by kind
),
counted as (
  select o.kind, o.status, coalesce(o.meaning, o.status) as name
  from occurring o left join chosen c on c.kind = o.kind where o.meaning is not null or c.kind is null
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
sales as (
  select substr(cast(date as text), 1, 10) as day, coalesce(system_id, 0) as company,
    coalesce(nullif(cast(status as text), ''), 'none') as status, subtotal_e4, taxes_e4
  from bi_sales natural left join (
    select (select date from bi_sales where 1 = 0) as date,
      (select status from bi_sales where 1 = 0) as status,
      (select subtotal_e4 from bi_sales where 1 = 0) as subtotal_e4,
      (select taxes_e4 from bi_sales where 1 = 0) as taxes_e4,
      (select system_id from bi_sales where 1 = 0) as system_id
    from (select cast(null as text) as date, cast(null as text) as status, cast(null as bigint) as subtotal_e4,
      cast(null as bigint) as taxes_e4, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
purchases as (
  select substr(cast(date as text), 1, 10) as day, coalesce(system_id, 0) as company,
    coalesce(nullif(cast(status as text), ''), 'none') as status,
    coalesce(nullif(cast(currency as text), ''), 'none') as currency, subtotal_e4, taxes_e4
  from bi_purchases natural left join (
    select (select date from bi_purchases where 1 = 0) as date,
      (select status from bi_purchases where 1 = 0) as status,
      (select currency from bi_purchases where 1 = 0) as currency,
      (select subtotal_e4 from bi_purchases where 1 = 0) as subtotal_e4,
      (select taxes_e4 from bi_purchases where 1 = 0) as taxes_e4,
      (select system_id from bi_purchases where 1 = 0) as system_id
    from (select cast(null as text) as date, cast(null as text) as status, cast(null as text) as currency,
      cast(null as bigint) as subtotal_e4, cast(null as bigint) as taxes_e4, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
days as (
  select 'sales' as kind, day, company, status, 'none' as currency, subtotal_e4 as subtotal, taxes_e4 as charged,
    cast(null as bigint) as paid
  from sales
  union all
  select 'purchases', day, company, status, currency, subtotal_e4, null, taxes_e4 from purchases
),
quarters as (
  select coalesce(substr(d.day, 1, 4) || '-Q' || cast((cast(substr(d.day, 6, 2) as integer) + 2) / 3 as text),
    'none') as quarter,
    d.company, d.kind, c.name as status, d.currency, count(*) as records,
    cast(sum(d.subtotal) as bigint) as subtotal,
    cast(sum(d.charged) as bigint) as charged, cast(sum(d.paid) as bigint) as paid
  from days d join counted c on c.kind = d.kind and c.status = d.status cross join asked a
  where (a.first is null or d.day >= a.first) and (a.last is null or d.day <= a.last)
  group by 1, d.company, d.kind, c.name, d.currency
)
select quarter, company, kind, status, currency, records,
  subtotal as subtotal_e4,
  charged as charged_e4,
  case when charged < 0 then '-' else '' end || (abs(charged) / 10000) || '.'
    || substr(cast(10000 + abs(charged) % 10000 as text), 2) as charged_exact,
  paid as paid_e4,
  case when paid < 0 then '-' else '' end || (abs(paid) / 10000) || '.'
    || substr(cast(10000 + abs(paid) % 10000 as text), 2) as paid_exact
from quarters order by quarter, company, kind, status, currency
