{{ config(enabled=var('shop', false)) }}
-- Sales and purchases of months that have ended: what later changes took from them and added to them.
with
-- A field that the service has never sent has no column: then `unseen_sales_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_sales_rows as (
  select cast(null as text) as date,
    cast(null as bigint) as total_e4,
    cast(null as text) as system_id
),
unseen_sales_rows as (
  select (select date from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as date,
    (select total_e4 from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as total_e4,
    (select system_id from {{ source('bms_sync', 'bi_sales') }} where 1 = 0) as system_id
  from expected_sales_rows where 1 = 0
),
sales_rows as (
  select id, cast(date as text) as date, total_e4, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_sales') }} natural left join unseen_sales_rows
),
sales_now as (
  select 'sales' as kind, coalesce(substr(cast(k.date as text), 1, 7), 'none') as month, cast(coalesce(k.system_id, 0) as text) as company,
    cast(sum(k.total_e4) as bigint) as amount
  from sales_rows k group by coalesce(substr(cast(k.date as text), 1, 7), 'none'), cast(coalesce(k.system_id, 0) as text)
),
-- A field that the service has never sent has no column: then `unseen_purchases_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_purchases_rows as (
  select cast(null as text) as date,
    cast(null as bigint) as total_e4,
    cast(null as text) as system_id
),
unseen_purchases_rows as (
  select (select date from {{ source('bms_sync', 'bi_purchases') }} where 1 = 0) as date,
    (select total_e4 from {{ source('bms_sync', 'bi_purchases') }} where 1 = 0) as total_e4,
    (select system_id from {{ source('bms_sync', 'bi_purchases') }} where 1 = 0) as system_id
  from expected_purchases_rows where 1 = 0
),
purchases_rows as (
  select id, cast(date as text) as date, total_e4, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_purchases') }} natural left join unseen_purchases_rows
),
purchases_now as (
  select 'purchases' as kind, coalesce(substr(cast(k.date as text), 1, 7), 'none') as month, cast(coalesce(k.system_id, 0) as text) as company,
    cast(sum(k.total_e4) as bigint) as amount
  from purchases_rows k group by coalesce(substr(cast(k.date as text), 1, 7), 'none'), cast(coalesce(k.system_id, 0) as text)
),
present as (
  select kind, month, company, amount from sales_now union all select kind, month, company, amount from purchases_now
),
sides as (
  select 'sales' as kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign,
    substr(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'total' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'sales' and before is not null
  union all
  select 'sales' as kind, seq, substr(cast(day as text), 1, 7) as found, 1 as sign,
    substr(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'total' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'sales' and after is not null
  union all
  select 'purchases' as kind, seq, substr(cast(day as text), 1, 7) as found, -1 as sign,
    substr(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(before, '\u', '\/')) -> 'total' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'purchases' and before is not null
  union all
  select 'purchases' as kind, seq, substr(cast(day as text), 1, 7) as found, 1 as sign,
    substr(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'date' as text), '"'), 'null'), 1, 7) as month, coalesce(nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'system_id' as text), '"'), 'null'), '0') as company, nullif(trim(cast(json(replace(after, '\u', '\/')) -> 'total' as text), '"'), 'null') as amount
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'purchases' and after is not null
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
