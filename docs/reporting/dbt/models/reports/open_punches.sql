-- Punches without an end, by technician and day (`none`: without a date).
with days as (
  select cast(date as text) as day, day_number as number from {{ source('bms_sync', 'bi_calendar') }}
),
punches as (
  select coalesce(p.system_id, 0) as company, coalesce(p.user_id, 0) as user_id, coalesce(cast(p.date as text), 'none') as day,
    count(*) as open_punches
  from {{ source('bms_sync', 'bi_punches') }} p where p.end_time is null and (select 1 from {{ source('bms_sync', 'bi_fields') }} where kind = 'punches' and field = 'end_time') = 1
  group by coalesce(p.system_id, 0), coalesce(p.user_id, 0), coalesce(cast(p.date as text), 'none')
)
select p.company, p.user_id, p.day, p.open_punches, r.number - d.number as days_open
from punches p left join days d on d.day = p.day
left join days r on r.day = (select (select cast(d.date as text) from {{ source('bms_sync', 'bi_calendar') }} d
      where d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at order by d.ends_at limit 1) from {{ source('bms_sync', 'bi_sync_status') }} s where s.kind = 'punches')
order by p.day, p.company, p.user_id
