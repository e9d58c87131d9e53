-- title: Hours by technician and week
-- title_fr: Heures par technicien et par semaine
-- question: How long did each technician work in each week?
-- question_fr: Combien d’heures chaque technicien a-t-il travaillé chaque semaine ?
-- note: The service lists no users: only `user_id` identifies a technician.
-- note_fr: Le service ne donne aucune liste d’utilisateurs : seul `user_id` désigne un technicien.
-- note: A week is named by its Monday; `none` has punches without a date, before 2000-01-03 or after 2049.
-- note_fr: Une semaine porte la date de son lundi; `none` regroupe les pointages sans date, d’avant le 3
--   janvier 2000 ou d’après 2049.
-- note: A punch without an end has no hours yet; `open_punches` counts it, but not an end that cannot be read
--   (`bi_issues`).
-- note_fr: Un pointage sans fin n’a pas encore d’heures; `open_punches` le compte, mais non une fin illisible
--   (`bi_issues`).
-- days: first, last
-- keys: week, company, user_id
-- time: week
-- metric: hours (hours_e4): How long did technicians work?
-- metric: punches (punches): How many punches are there?
-- plot: Hours of all technicians in the last twelve weeks
-- bars: hours (hours_e4)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- Each day with the Monday of its week.
weeks as materialized (
  select cast(date as text) as day,
    max(case when weekday = 1 then cast(date as text) end) over (partition by iso_year, iso_week) as week
  from bi_calendar
),
-- An open punch has no end; null where the service never sent ends.
punches as (
  select coalesce(cast(date as text), 'none') as day, coalesce(system_id, 0) as company, coalesce(user_id, 0) as user_id,
    ptotal_e4,
    (select 1 from bi_fields where kind = 'punches' and field = 'end_time')
      * case when end_time is null and i.record_id is null then 1 else 0 end as is_open
  from bi_punches p
  left join (select distinct record_id from bi_issues where kind = 'punches' and field = 'end_time') i on i.record_id = p.id
),
sums as (
  select coalesce(w.week, 'none') as week, p.company, p.user_id, count(*) as punches, sum(p.is_open) as open_punches,
    cast(sum(p.ptotal_e4) as bigint) as hours
  from punches p left join weeks w on w.day = p.day cross join asked a
  where (a.first is null or nullif(p.day, 'none') >= a.first) and (a.last is null or nullif(p.day, 'none') <= a.last)
  group by coalesce(w.week, 'none'), p.company, p.user_id
)
select week, company, user_id, punches, open_punches,
  hours as hours_e4,
  case when hours < 0 then '-' else '' end || (abs(hours) / 10000) || '.'
    || substr(cast(10000 + abs(hours) % 10000 as text), 2) as hours_exact
from sums order by week, company, user_id
