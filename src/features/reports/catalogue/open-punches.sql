-- title: Open punches
-- title_fr: Pointages ouverts
-- question: Which technician has not punched out, since which day?
-- question_fr: Quel technicien n’a pas pointé sa sortie, et depuis quel jour ?
-- note: The service lists no users: only `user_id` identifies a technician.
-- note_fr: Le service ne donne aucune liste d’utilisateurs : seul `user_id` désigne un technicien.
-- note: `days_open` counts to the day of the last complete reading; null if a day is before 2000 or after
--   2049.
-- note_fr: `days_open` compte jusqu’au jour de la dernière lecture complète; vide si un jour est d’avant 2000
--   ou d’après 2049.
-- note: An end that cannot be read is not missing: `bi_issues` has it.
-- note_fr: Une fin illisible n’est pas une fin absente : `bi_issues` la signale.
-- days: first, last
-- keys: company, user_id, day
-- time: day
-- metric: open_punches (open_punches): How many punches have no end?
-- plot: Open punches of the last days that have any
-- bars: open punches (open_punches)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
today as (
  select cast(d.date as text) as day
  from bi_sync_status s join bi_calendar d on d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at
  where s.kind = 'punches' order by d.ends_at limit 1
),
days as materialized (
  select cast(date as text) as day, day_number as number from bi_calendar
),
-- Where the service never sent ends, none is missing.
punches as (
  select coalesce(system_id, 0) as company, coalesce(user_id, 0) as user_id, coalesce(cast(date as text), 'none') as day,
    count(*) as open_punches
  from bi_punches p cross join asked a
  where (a.first is null or cast(date as text) >= a.first) and (a.last is null or cast(date as text) <= a.last)
    and end_time is null and exists (select 1 from bi_fields where kind = 'punches' and field = 'end_time')
    and not exists (select 1 from bi_issues i where i.kind = 'punches' and i.field = 'end_time' and i.record_id = p.id)
  group by coalesce(system_id, 0), coalesce(user_id, 0), coalesce(cast(date as text), 'none')
)
select p.company, p.user_id, p.day, p.open_punches, t.number - d.number as days_open
from punches p
left join days d on d.day = p.day
left join days t on t.day = (select day from today)
order by p.day, p.company, p.user_id
