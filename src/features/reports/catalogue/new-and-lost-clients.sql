-- title: New and lost clients
-- title_fr: Clients nouveaux et perdus
-- question: How many clients came, went and came back in each month?
-- question_fr: Combien de clients sont venus, partis et revenus chaque mois ?
-- note: A client is new in the month of its `creation_date` (`none`: without one), lost when the mirror found
--   it deleted, and back when the mirror found it again. A client that came and went counts as lost only.
-- note_fr: Un client est nouveau dans le mois de sa création (`creation_date`; `none` : sans date), perdu
--   quand le miroir a constaté sa suppression, et revenu quand le miroir l’a retrouvé. Un client venu puis
--   parti ne compte que comme perdu.
-- note: A client marked `inactive` is not lost.
-- note_fr: Un client marqué `inactive` n’est pas perdu.
-- days: first, last
-- keys: month, company
-- time: month
-- metric: new_clients (new_clients): How many clients came?
-- metric: lost_clients (lost_clients): How many clients went?
-- metric: returned_clients (returned_clients): How many clients came back?
-- plot: Clients that came, went and came back in the last twelve months
-- bars: new (new_clients), lost (lost_clients), back (returned_clients)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
-- `system_id` comes as a number or as text.
clients as (
  select id, creation_date,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_clients natural left join (
    select (select system_id from bi_clients where 1 = 0) as system_id
    from (select cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
deleted_clients as (
  select id,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_deleted_clients natural left join (
    select (select system_id from bi_deleted_clients where 1 = 0) as system_id
    from (select cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
days as (
  select cast(creation_date as text) as day, coalesce(system_id, 0) as company, 1 as is_new, 0 as is_lost, 0 as is_back
  from clients
  union all
  select cast(e.day as text), coalesce(c.system_id, d.system_id, 0), 0,
    case when e.change = 'deleted' then 1 else 0 end, case when e.change = 'restored' then 1 else 0 end
  from bi_changes e
  left join clients c on c.id = e.record_id
  left join deleted_clients d on d.id = e.record_id
  where e.kind = 'clients' and e.change in ('deleted', 'restored')
),
months as (
  select coalesce(substr(day, 1, 7), 'none') as month, company, is_new, is_lost, is_back
  from days cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
)
select month, company, sum(is_new) as new_clients, sum(is_lost) as lost_clients, sum(is_back) as returned_clients
from months group by month, company order by month, company
