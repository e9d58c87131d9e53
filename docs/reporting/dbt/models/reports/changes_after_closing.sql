-- Bookings and punches of months that have ended: what later changes took from them and added to them.
with
-- A field that the service has never sent has no column: then `unseen_bookings_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_bookings_rows as (
  select cast(null as text) as pickup_date,
    cast(null as bigint) as price_e4,
    cast(null as text) as system_id
),
unseen_bookings_rows as (
  select (select pickup_date from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as pickup_date,
    (select price_e4 from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as price_e4,
    (select system_id from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as system_id
  from expected_bookings_rows where 1 = 0
),
bookings_rows as (
  select id, cast(pickup_date as text) as pickup_date, price_e4, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_bookings') }} natural left join unseen_bookings_rows
),
bookings_now as (
  select 'bookings' as kind, coalesce(substr(cast(k.pickup_date as text), 1, 7), 'none') as month, cast(coalesce(k.system_id, 0) as text) as company,
    cast(sum(k.price_e4) as bigint) as amount
  from bookings_rows k group by coalesce(substr(cast(k.pickup_date as text), 1, 7), 'none'), cast(coalesce(k.system_id, 0) as text)
),
-- A field that the service has never sent has no column: then `unseen_punches_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_punches_rows as (
  select cast(null as text) as date,
    cast(null as bigint) as ptotal_e4,
    cast(null as text) as system_id
),
unseen_punches_rows as (
  select (select date from {{ source('bms_sync', 'bi_punches') }} where 1 = 0) as date,
    (select ptotal_e4 from {{ source('bms_sync', 'bi_punches') }} where 1 = 0) as ptotal_e4,
    (select system_id from {{ source('bms_sync', 'bi_punches') }} where 1 = 0) as system_id
  from expected_punches_rows where 1 = 0
),
punches_rows as (
  select id, cast(date as text) as date, ptotal_e4, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_punches') }} natural left join unseen_punches_rows
),
punches_now as (
  select 'punches' as kind, coalesce(substr(cast(k.date as text), 1, 7), 'none') as month, cast(coalesce(k.system_id, 0) as text) as company,
    cast(sum(k.ptotal_e4) as bigint) as amount
  from punches_rows k group by coalesce(substr(cast(k.date as text), 1, 7), 'none'), cast(coalesce(k.system_id, 0) as text)
),
present as (
  select kind, month, company, amount from bookings_now union all select kind, month, company, amount from punches_now
),
sides as (
  select 'bookings' as kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign,
    substr(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'pickup_date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'price' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'bookings' and before is not null
  union all
  select 'bookings' as kind, seq, substr(cast(day as text), 1, 7) as found, 1 as sign,
    substr(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'pickup_date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'price' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'bookings' and after is not null
  union all
  select 'punches' as kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign,
    substr(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'ptotal' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'punches' and before is not null
  union all
  select 'punches' as kind, seq, substr(cast(day as text), 1, 7) as found, 1 as sign,
    substr(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'ptotal' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'punches' and after is not null
),
late as (
  select kind, month, company, count(distinct seq) as changes, cast(sum(sign * coalesce(case when trim(amount, '0123456789.-') = '' and trim(amount, '.-') <> '' and amount not like '%.%.%'
      and amount not like '_%-%' and amount not like '%._____%' and length(amount) < 20
      and abs(cast(amount as numeric)) < 900000000000
    then cast(round(cast(amount as numeric) * 10000) as bigint) end, 0)) as bigint) as amount
  from sides where month <> '' and month <> '0000-00' and month < found group by kind, month, company
)
select l.kind, l.month, l.company, l.changes,
  (coalesce(p.amount, 0) - l.amount) as then_e4,
  case when (coalesce(p.amount, 0) - l.amount) < 0 then '-' else '' end || (abs((coalesce(p.amount, 0) - l.amount)) / 10000) || '.'
    || substr(cast(10000 + abs((coalesce(p.amount, 0) - l.amount)) % 10000 as text), 2) as then_exact,
  coalesce(p.amount, 0) as now_e4,
  case when coalesce(p.amount, 0) < 0 then '-' else '' end || (abs(coalesce(p.amount, 0)) / 10000) || '.'
    || substr(cast(10000 + abs(coalesce(p.amount, 0)) % 10000 as text), 2) as now_exact
from late l left join present p on p.kind = l.kind and p.month = l.month and p.company = l.company
order by l.month, l.kind, l.company
