-- title: Changes per day
-- title_fr: Changements par jour
-- question: How much was created, updated, deleted and restored on each day?
-- question_fr: Combien de fiches ont été créées, modifiées, supprimées et rétablies chaque jour ?
-- note: The day is when the mirror found the change, in `schedules.timezone`.
-- note_fr: Le jour est celui où le miroir a constaté le changement, dans le fuseau `schedules.timezone`.
-- note: The first pull makes no events, so the first day comes after it.
-- note_fr: La première lecture ne produit aucun événement : le premier jour vient donc après elle.
-- days: first, last
-- keys: day
-- time: day
-- metric: records_created (created): How many records were created?
-- metric: records_updated (updated): How many records were updated?
-- metric: records_deleted (deleted): How many records were deleted?
-- metric: records_restored (restored): How many records came back?
-- plot: Changes found on each day
-- bars: created (created), updated (updated), deleted (deleted), restored (restored)

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
from bi_changes cross join asked a
where (a.first is null or cast(day as text) >= a.first) and (a.last is null or cast(day as text) <= a.last)
group by coalesce(cast(day as text), 'none') order by 1
