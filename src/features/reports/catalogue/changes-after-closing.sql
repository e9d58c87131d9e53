-- title: Bookings and punches changed after their month was closed
-- title_fr: Réservations et pointages modifiés après la fin de leur mois
-- question: Which months of bookings and punches have other sums now than when they ended?
-- question_fr: Quels mois de réservations et de pointages ont aujourd’hui d’autres sommes qu’à leur fin ?
-- note: A month is closed when it ends, in `schedules.timezone`. `then` is the sum of its prices, hours or
--   totals at that time, `now` the same at present.
-- note_fr: Un mois est fermé quand il se termine, dans le fuseau `schedules.timezone`. `then` est la somme de
--   ses prix, heures ou totaux à ce moment, `now` la même somme aujourd’hui.
-- note: The mirror knows changes from the first certified reading of a kind on.
-- note_fr: Le miroir connaît les changements d’une liste à partir de sa première lecture certifiée.
-- note: Before PostgreSQL 17, replace `json(…)` by `cast(… as json)`.
-- note_fr: Avant PostgreSQL 17, remplacez `json(…)` par `cast(… as json)`.
-- days: first, last
-- keys: kind, month, company
-- time: month
-- metric: late_changes (changes): How often were bookings and punches changed after their month was closed?
-- plot: Changes of bookings and punches after their month was closed
-- bars: changes (changes)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
-- `system_id` comes as a number or as text.
bookings as (
  select substr(cast(pickup_date as text), 1, 10) as day, price_e4,
    cast(coalesce(case when trim(cast(system_id as text), '0123456789') = ''
      and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end, 0) as text) as company
  from bi_bookings natural left join (
    select (select pickup_date from bi_bookings where 1 = 0) as pickup_date,
      (select price_e4 from bi_bookings where 1 = 0) as price_e4,
      (select system_id from bi_bookings where 1 = 0) as system_id
    from (select cast(null as text) as pickup_date, cast(null as bigint) as price_e4,
      cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
punches as (
  select substr(cast(date as text), 1, 10) as day, ptotal_e4,
    cast(coalesce(system_id, 0) as text) as company
  from bi_punches
),
days as (
  select 'bookings' as kind, day, company, price_e4 as amount from bookings
  union all
  select 'punches', day, company, ptotal_e4 from punches
),
present as (
  select kind, coalesce(substr(day, 1, 7), 'none') as month, company, cast(sum(amount) as bigint) as amount
  from days cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
  group by kind, coalesce(substr(day, 1, 7), 'none'), company
),
-- Each change takes an amount from the month of the record before it, and adds one to that of the record after it.
-- The record is read as JSON once its escapes, which one of the databases refuses, are out of the way.
sides as (
  select kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign, json(replace(before, '\u', '\/')) as record
  from bi_changes where kind in ('bookings', 'punches') and before is not null
  union all
  select kind, seq, substr(cast(day as text), 1, 7), 1, json(replace(after, '\u', '\/'))
  from bi_changes where kind in ('bookings', 'punches') and after is not null
),
fields as (
  select kind, seq, found, sign, record -> 'pickup_date' as day, record -> 'system_id' as company,
    record -> 'price' as amount
  from sides where kind = 'bookings'
  union all
  select kind, seq, found, sign, record -> 'date', record -> 'system_id',
    record -> 'ptotal'
  from sides where kind = 'punches'
),
texts as (
  select kind, seq, found, sign, substr(nullif(trim(cast(day as text), '"'), 'null'), 1, 10) as day,
    coalesce(nullif(trim(cast(company as text), '"'), 'null'), '0') as company,
    nullif(trim(cast(amount as text), '"'), 'null') as amount
  from fields
),
-- In units of 0.0001; 0 for what is no decimal of at most four places below 900,000,000,000.
amounts as (
  select kind, seq, found, sign, substr(day, 1, 7) as month, company,
    case when trim(amount, '0123456789.-') = '' and trim(amount, '.-') <> '' and amount not like '%.%.%'
      and amount not like '_%-%' and amount not like '%._____%' and length(amount) < 20
      and abs(cast(amount as numeric)) < 900000000000
      then cast(round(cast(amount as numeric) * 10000) as bigint) else 0 end as amount
  from texts cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
),
late as (
  select kind, month, company, count(distinct seq) as changes, cast(sum(sign * amount) as bigint) as amount
  from amounts where month <> '' and month <> '0000-00' and month < found group by kind, month, company
),
-- Without the late changes, a month is as when it ended.
sums as (
  select l.kind, l.month, l.company, l.changes, coalesce(p.amount, 0) - l.amount as amount_then,
    coalesce(p.amount, 0) as amount_now
  from late l left join present p on p.kind = l.kind and p.month = l.month and p.company = l.company
)
select kind, month, company, changes,
  amount_then as then_e4,
  case when amount_then < 0 then '-' else '' end || (abs(amount_then) / 10000) || '.'
    || substr(cast(10000 + abs(amount_then) % 10000 as text), 2) as then_exact,
  amount_now as now_e4,
  case when amount_now < 0 then '-' else '' end || (abs(amount_now) / 10000) || '.'
    || substr(cast(10000 + abs(amount_now) % 10000 as text), 2) as now_exact
from sums order by month, kind, company
