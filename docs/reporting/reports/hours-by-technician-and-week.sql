-- Hours of each technician in each week, which is named by its Monday. An open punch has no end and no hours yet.
-- No function on dates is the same on both databases, so each Monday is reckoned from year, month and day.
with days as (
  select day, cast(substr(day, 1, 4) as integer) as y, cast(substr(day, 6, 2) as integer) as m,
    cast(substr(day, 9, 2) as integer) as d
  from (select distinct cast(date as text) as day from bi_punches where date is not null) worked
),
-- January and February count as months of the year before: then a leap day is the last day of its year.
years as (
  select day, y, m, d, case when m < 3 then y - 1 else y end as leap_y from days
),
-- Days since Monday, and the length of the month before.
offsets as (
  select day, y, m, d,
    (leap_y + leap_y / 4 - leap_y / 100 + leap_y / 400 + cast(substr('032503514624', m, 1) as integer) + d + 6) % 7
      as since,
    case when m in (5, 7, 10, 12) then 30 when m <> 3 then 31
      when y % 4 = 0 and (y % 100 <> 0 or y % 400 = 0) then 29 else 28 end as length_before
  from years
),
weeks as (
  select day, case
    when d > since then substr(day, 1, 8) || substr(cast(100 + d - since as text), 2)
    when m = 1 then substr(cast(9999 + y as text), 2) || '-12-' || (31 + d - since)
    else substr(day, 1, 5) || substr(cast(99 + m as text), 2) || '-' || (length_before + d - since)
    end as week
  from offsets
),
sums as (
  select w.week, p.user_id, count(*) as punches, sum(case when p.end_time is null then 1 else 0 end) as open_punches,
    cast(sum(coalesce(p.ptotal_e4, 0)) as bigint) as hours
  from bi_punches p join weeks w on w.day = cast(p.date as text)
  group by w.week, p.user_id
)
select week, user_id, punches, open_punches, hours as hours_e4,
  case when hours < 0 then '-' else '' end || (abs(hours) / 10000) || '.'
    || substr(cast(10000 + abs(hours) % 10000 as text), 2) as hours_exact
from sums order by week, user_id
