-- title: Bookings and revenue per month
-- title_fr: Réservations et revenus par mois
-- question: How many bookings are picked up in each month, for how many clients, at what price, and how much
--   of that is invoiced?
-- question_fr: Combien de réservations sont ramassées chaque mois, pour combien de clients, à quel prix, et
--   combien est déjà facturé ?
-- note: A booking counts in the month of its pick-up; `none` has bookings without a day.
-- note_fr: Une réservation compte dans le mois de son ramassage; `none` regroupe les réservations sans date.
-- note: Its revenue is the price of bookings; [Sales by month](#sales-by-month-company-and-branch) has that of
--   sales.
-- note_fr: Les revenus sont ici le prix des réservations; ceux des ventes sont dans « Ventes par mois,
--   compagnie et succursale ».
-- note: `company` is the one that a booking names, or else its client; 0 where neither names one.
-- note_fr: `company` est la compagnie que nomme la réservation, sinon celle de son client; 0 si aucun des
--   deux n’en nomme.
-- days: first, last
-- keys: month, company
-- time: month
-- metric: bookings (bookings): How many bookings are picked up?
-- metric: booking_revenue (price_e4): At what price?
-- metric: booking_revenue_invoiced (invoiced_e4): How much of that price is invoiced?
-- shown: month, company, bookings, clients, price_exact, invoiced_exact
-- plot: Price of the bookings of the last twelve months
-- bars: price (price_e4)

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
  select client_id, cast(pickup_date as text) as pickup_date,
    distance_e4, price_e4, cast(fact_number as text) as fact_number,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_bookings natural left join (
    select (select client_id from bi_bookings where 1 = 0) as client_id,
      (select pickup_date from bi_bookings where 1 = 0) as pickup_date,
      (select distance_e4 from bi_bookings where 1 = 0) as distance_e4,
      (select price_e4 from bi_bookings where 1 = 0) as price_e4,
      (select fact_number from bi_bookings where 1 = 0) as fact_number,
      (select system_id from bi_bookings where 1 = 0) as system_id
    from (select cast(null as bigint) as client_id, cast(null as text) as pickup_date,
      cast(null as bigint) as distance_e4, cast(null as bigint) as price_e4,
      cast(null as text) as fact_number, cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
bookings as (
  select coalesce(b.system_id, c.system_id, 0) as company, b.client_id, b.pickup_date,
    b.distance_e4, b.price_e4, b.fact_number
  from booking_rows b left join clients c on c.id = b.client_id
),
-- 1 with an invoice number, 0 without one; null where the service never sent that field.
booked as (
  select coalesce(substr(pickup_date, 1, 7), 'none') as month, company, client_id, distance_e4, price_e4,
    (select 1 from bi_fields where kind = 'bookings' and field = 'fact_number')
      * case when coalesce(fact_number, '') = '' then 0 else 1 end as is_invoiced
  from bookings cross join asked a
  where (a.first is null or substr(pickup_date, 1, 10) >= a.first) and (a.last is null or substr(pickup_date, 1, 10) <= a.last)
),
months as (
  select month, company, count(*) as bookings,
    case when count(client_id) > 0 then count(distinct nullif(client_id, 0)) end as clients,
    cast(sum(distance_e4) as bigint) as distance, cast(sum(price_e4) as bigint) as price,
    cast(sum(price_e4 * is_invoiced) as bigint) as invoiced
  from booked group by month, company
)
select month, company, bookings, clients, distance as distance_e4,
  price as price_e4,
  case when price < 0 then '-' else '' end || (abs(price) / 10000) || '.'
    || substr(cast(10000 + abs(price) % 10000 as text), 2) as price_exact,
  invoiced as invoiced_e4,
  case when invoiced < 0 then '-' else '' end || (abs(invoiced) / 10000) || '.'
    || substr(cast(10000 + abs(invoiced) % 10000 as text), 2) as invoiced_exact
from months order by month, company
