-- Hours of each technician in each week, which is named by its Monday. An open punch has no end and no hours yet.
with weeks as (
  select cast(date as text) as day,
    max(case when weekday = 1 then cast(date as text) end) over (partition by iso_year, iso_week) as week
  from {{ source('bms_sync', 'bi_calendar') }}
),
sums as (
  select coalesce(w.week, 'none') as week, coalesce(p.system_id, 0) as company, coalesce(p.user_id, 0) as user_id, count(*) as punches,
    sum((select 1 from {{ source('bms_sync', 'bi_fields') }} where kind = 'punches' and field = 'end_time') * case when p.end_time is null then 1 else 0 end) as open_punches,
    cast(sum(p.ptotal_e4) as bigint) as hours
  from {{ source('bms_sync', 'bi_punches') }} p left join weeks w on w.day = cast(p.date as text)
  group by coalesce(w.week, 'none'), coalesce(p.system_id, 0), coalesce(p.user_id, 0)
)
select week, company, user_id, punches, open_punches,
  hours as hours_e4,
  case when hours < 0 then '-' else '' end || (abs(hours) / 10000) || '.'
    || substr(cast(10000 + abs(hours) % 10000 as text), 2) as hours_exact
from sums order by week, company, user_id
