with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
)
-- `own` counts those that bms-sync made itself.
select coalesce(cast(day as text), 'none') as day,
  sum(case when change = 'created' then 1 else 0 end) as created,
  sum(case when change = 'updated' then 1 else 0 end) as updated,
  sum(case when change = 'deleted' then 1 else 0 end) as deleted,
  sum(case when change = 'restored' then 1 else 0 end) as restored,
  sum(case when origin = 'service' then 0 else 1 end) as own
from {{ source('bms_sync', 'bi_changes') }} cross join asked a
where (a.first is null or cast(day as text) >= a.first) and (a.last is null or cast(day as text) <= a.last)
group by coalesce(cast(day as text), 'none') order by 1
