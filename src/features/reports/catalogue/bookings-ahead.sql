-- title: Bookings ahead
-- title_fr: Réservations à venir
-- question: How many bookings are to be picked up in each week from now on, and at what price?
-- question_fr: Combien de réservations sont à ramasser chaque semaine à partir d’aujourd’hui, et à quel prix ?
-- note: Now is the day of the last complete reading of the list, in `schedules.timezone`. A week is named by
--   its Monday.
-- note_fr: Aujourd’hui est le jour de la dernière lecture complète de la liste, dans le fuseau
--   `schedules.timezone`. Une semaine porte la date de son lundi.
-- note: `none` has bookings after 2049.
-- note_fr: `none` regroupe les réservations d’après 2049.
-- note: `company` is the one that a booking names, or else its client; 0 where neither names one.
-- note_fr: `company` est la compagnie que nomme la réservation, sinon celle de son client; 0 si aucun des
--   deux n’en nomme.
-- days: first, last
-- keys: week, company
-- time: week
-- metric: bookings_ahead (bookings): How many bookings are still to be picked up?
-- metric: booking_revenue_ahead (price_e4): At what price are bookings still to be picked up?
-- plot: Bookings ahead, by the Monday of their week
-- bars: bookings (bookings)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
-- `system_id` comes as a number or as text.
clients as (
  select id,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_clients natural left join (
    select (select system_id from bi_clients where 1 = 0) as system_id
    from (select cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
booking_rows as (
  select client_id, cast(pickup_date as text) as pickup_date, price_e4,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_bookings natural left join (
    select (select client_id from bi_bookings where 1 = 0) as client_id,
      (select pickup_date from bi_bookings where 1 = 0) as pickup_date,
      (select price_e4 from bi_bookings where 1 = 0) as price_e4,
      (select system_id from bi_bookings where 1 = 0) as system_id
    from (select cast(null as bigint) as client_id, cast(null as text) as pickup_date,
      cast(null as bigint) as price_e4, cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
bookings as (
  select coalesce(b.system_id, c.system_id, 0) as company, b.client_id, b.pickup_date, b.price_e4
  from booking_rows b left join clients c on c.id = b.client_id
),
-- Each day with the Monday of its week.
weeks as materialized (
  select cast(date as text) as day,
    max(case when weekday = 1 then cast(date as text) end) over (partition by iso_year, iso_week) as week
  from bi_calendar
),
today as (
  select cast(d.date as text) as day
  from bi_sync_status s join bi_calendar d on d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at
  where s.kind = 'bookings' order by d.ends_at limit 1
),
sums as (
  select coalesce(w.week, 'none') as week, b.company, count(*) as bookings,
    case when count(client_id) > 0 then count(distinct nullif(client_id, 0)) end as clients,
    cast(sum(b.price_e4) as bigint) as price
  from bookings b left join weeks w on w.day = substr(b.pickup_date, 1, 10)
  cross join asked a
  where substr(b.pickup_date, 1, 10) >= (select day from today)
    and (a.first is null or substr(b.pickup_date, 1, 10) >= a.first) and (a.last is null or substr(b.pickup_date, 1, 10) <= a.last)
  group by coalesce(w.week, 'none'), b.company
)
select week, company, bookings, clients,
  price as price_e4,
  case when price < 0 then '-' else '' end || (abs(price) / 10000) || '.'
    || substr(cast(10000 + abs(price) % 10000 as text), 2) as price_exact
from sums order by week, company
