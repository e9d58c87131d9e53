-- title: Sales and purchases changed after their month was closed
-- title_fr: Ventes et achats modifiés après la fin de leur mois
-- question: Which months of sales and purchases have other sums now than when they ended?
-- question_fr: Quels mois de ventes et d’achats ont aujourd’hui d’autres sommes qu’à leur fin ?
-- note: A month is closed when it ends, in `schedules.timezone`. `then` is the sum of its prices, hours or
--   totals at that time, `now` the same at present.
-- note_fr: Un mois est fermé quand il se termine, dans le fuseau `schedules.timezone`. `then` est la somme de
--   ses prix, heures ou totaux à ce moment, `now` la même somme aujourd’hui.
-- note: The mirror knows changes from the first certified reading of a kind on.
-- note_fr: Le miroir connaît les changements d’une liste à partir de sa première lecture certifiée.
-- note: Counts sales with a status of `reports.sold`, and purchases with one of `reports.bought` ([what
--   counts](#what-counts)), by the status that each had: a quote that became an invoice later is not in `then`.
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`, et les achats dont le statut figure
--   dans `reports.bought`, selon le statut que chacun avait alors : une soumission devenue facture plus tard
--   n’est pas dans `then`.
-- note: `then` is null where a record had a status that no record has any more.
-- note_fr: `then` est vide si une fiche avait un statut qu’aucune fiche n’a plus.
-- note: Amounts of different currencies are not added up: each `currency` of purchases has rows of its own. Sales name
--   none: they are in that of the company, which the mirror does not know, and have `none`.
-- note_fr: Les montants de devises différentes ne s’additionnent pas : chaque devise (`currency`) des achats
--   a ses propres lignes. Les ventes n’en nomment aucune : elles sont dans celle de la compagnie, que le
--   miroir ne connaît pas, et portent `none`.
-- note: Before PostgreSQL 17, replace `json(…)` by `cast(… as json)`.
-- note_fr: Avant PostgreSQL 17, remplacez `json(…)` par `cast(… as json)`.
-- days: first, last
-- counts: sold, bought
-- keys: kind, month, company, status, currency
-- time: month
-- metric: late_changes_of_sales (changes): How often were sales and purchases changed after their month was
--   closed?
-- plot: Changes of sales and purchases after their month was closed
-- bars: changes (changes)

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
-- `system_id` comes as a number or as text.
sales as (
  select substr(cast(date as text), 1, 10) as day, total_e4, coalesce(nullif(cast(status as text), ''), 'none') as status,
    cast(coalesce(case when trim(cast(system_id as text), '0123456789') = ''
      and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end, 0) as text) as company
  from bi_sales natural left join (
    select (select date from bi_sales where 1 = 0) as date,
      (select status from bi_sales where 1 = 0) as status,
      (select total_e4 from bi_sales where 1 = 0) as total_e4,
      (select system_id from bi_sales where 1 = 0) as system_id
    from (select cast(null as text) as date, cast(null as text) as status, cast(null as bigint) as total_e4,
      cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
purchases as (
  select substr(cast(date as text), 1, 10) as day, total_e4, coalesce(nullif(cast(status as text), ''), 'none') as status,
    coalesce(nullif(cast(currency as text), ''), 'none') as currency,
    cast(coalesce(case when trim(cast(system_id as text), '0123456789') = ''
      and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end, 0) as text) as company
  from bi_purchases natural left join (
    select (select date from bi_purchases where 1 = 0) as date,
      (select status from bi_purchases where 1 = 0) as status,
      (select currency from bi_purchases where 1 = 0) as currency,
      (select total_e4 from bi_purchases where 1 = 0) as total_e4,
      (select system_id from bi_purchases where 1 = 0) as system_id
    from (select cast(null as text) as date, cast(null as text) as status, cast(null as text) as currency,
      cast(null as bigint) as total_e4, cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
days as (
  select 'sales' as kind, day, company, status, 'none' as currency, total_e4 as amount from sales
  union all
  select 'purchases', day, company, status, currency, total_e4 from purchases
),
present as (
  select d.kind, coalesce(substr(d.day, 1, 7), 'none') as month, d.company, c.name as status, d.currency,
    cast(sum(d.amount) as bigint) as amount
  from days d join counted c on c.kind = d.kind and c.status = d.status cross join asked a
  where (a.first is null or d.day >= a.first) and (a.last is null or d.day <= a.last)
  group by d.kind, coalesce(substr(d.day, 1, 7), 'none'), d.company, c.name, d.currency
),
-- Each change takes an amount from the month of the record before it, and adds one to that of the record after it.
-- The record is read as JSON once its escapes, which one of the databases refuses, are out of the way.
sides as (
  select kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign, json(replace(before, '\u', '\/')) as record
  from bi_changes where kind in ('sales', 'purchases') and before is not null
  union all
  select kind, seq, substr(cast(day as text), 1, 7), 1, json(replace(after, '\u', '\/'))
  from bi_changes where kind in ('sales', 'purchases') and after is not null
),
fields as (
  select kind, seq, found, sign, record -> 'date' as day, record -> 'system_id' as company,
    record -> 'status' as status, null as currency, record -> 'total' as amount
  from sides where kind = 'sales'
  union all
  select kind, seq, found, sign, record -> 'date', record -> 'system_id',
    record -> 'status', record -> 'currency', record -> 'total'
  from sides where kind = 'purchases'
),
texts as (
  select kind, seq, found, sign, substr(nullif(trim(cast(day as text), '"'), 'null'), 1, 10) as day,
    coalesce(nullif(trim(cast(company as text), '"'), 'null'), '0') as company,
    coalesce(nullif(nullif(trim(cast(status as text), '"'), 'null'), ''), 'none') as status,
    coalesce(nullif(nullif(trim(cast(currency as text), '"'), 'null'), ''), 'none') as currency,
    nullif(trim(cast(amount as text), '"'), 'null') as amount
  from fields
),
-- A status that occurs no more is known to count by nothing but itself.
named as (
  select t.kind, t.seq, t.found, t.sign, t.day, t.company, t.currency, t.amount,
    coalesce(o.meaning, c.name, t.status) as status,
    case when o.status is null and c.name is not null then 1 else 0 end as is_unknown
  from texts t
  left join occurring o on o.kind = t.kind and o.status = t.status
  left join chosen c on c.kind = t.kind
  where o.status is null or o.meaning is not null or c.name is null
),
-- In units of 0.0001; 0 for what is no decimal of at most four places below 900,000,000,000.
amounts as (
  select kind, seq, found, sign, substr(day, 1, 7) as month, company, status, currency, is_unknown,
    case when trim(amount, '0123456789.-') = '' and trim(amount, '.-') <> '' and amount not like '%.%.%'
      and amount not like '_%-%' and amount not like '%._____%' and length(amount) < 20
      and abs(cast(amount as numeric)) < 900000000000
      then cast(round(cast(amount as numeric) * 10000) as bigint) else 0 end as amount
  from named cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
),
late as (
  select kind, month, company, status, currency, count(distinct seq) as changes,
    case when max(is_unknown) = 0 then cast(sum(sign * amount) as bigint) end as amount
  from amounts where month <> '' and month <> '0000-00' and month < found
  group by kind, month, company, status, currency
),
-- Without the late changes, a month is as when it ended.
sums as (
  select l.kind, l.month, l.company, l.status, l.currency, l.changes,
    coalesce(p.amount, 0) - l.amount as amount_then, coalesce(p.amount, 0) as amount_now
  from late l left join present p on p.kind = l.kind and p.month = l.month and p.company = l.company
    and p.status = l.status and p.currency = l.currency
)
select kind, month, company, status, currency, changes,
  amount_then as then_e4,
  case when amount_then < 0 then '-' else '' end || (abs(amount_then) / 10000) || '.'
    || substr(cast(10000 + abs(amount_then) % 10000 as text), 2) as then_exact,
  amount_now as now_e4,
  case when amount_now < 0 then '-' else '' end || (abs(amount_now) / 10000) || '.'
    || substr(cast(10000 + abs(amount_now) % 10000 as text), 2) as now_exact
from sums order by month, kind, company, status, currency
