-- Bookings from the day of the last reading on, by the week of pick-up, which is named by its Monday.
with
-- A field that the service has never sent has no column: then `unseen_client_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_client_rows as (
  select cast(null as text) as system_id
),
unseen_client_rows as (
  select (select system_id from {{ source('bms_sync', 'bi_clients') }} where 1 = 0) as system_id
  from expected_client_rows where 1 = 0
),
client_rows as (
  select id, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_clients') }} natural left join unseen_client_rows
),
-- A field that the service has never sent has no column: then `unseen_booking_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_booking_rows as (
  select cast(null as bigint) as client_id,
    cast(null as text) as pickup_date,
    cast(null as bigint) as price_e4,
    cast(null as text) as system_id
),
unseen_booking_rows as (
  select (select client_id from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as client_id,
    (select pickup_date from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as pickup_date,
    (select price_e4 from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as price_e4,
    (select system_id from {{ source('bms_sync', 'bi_bookings') }} where 1 = 0) as system_id
  from expected_booking_rows where 1 = 0
),
booking_rows as (
  select id, client_id, cast(pickup_date as text) as pickup_date, price_e4, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_bookings') }} natural left join unseen_booking_rows
),
bookings as (
  select coalesce(b.system_id, c.system_id, 0) as company, b.client_id, b.pickup_date, b.price_e4
  from booking_rows b left join client_rows c on c.id = b.client_id
),
weeks as (
  select cast(date as text) as day,
    max(case when weekday = 1 then cast(date as text) end) over (partition by iso_year, iso_week) as week
  from {{ source('bms_sync', 'bi_calendar') }}
),
sums as (
  select coalesce(w.week, 'none') as week, b.company, count(*) as bookings, case when count(client_id) > 0 then count(distinct nullif(client_id, 0)) end as clients,
    cast(sum(b.price_e4) as bigint) as price
  from bookings b left join weeks w on w.day = substr(b.pickup_date, 1, 10)
  where substr(b.pickup_date, 1, 10) >= (select (select cast(d.date as text) from {{ source('bms_sync', 'bi_calendar') }} d
      where d.ends_at > s.last_sweep_at and d.starts_at <= s.last_sweep_at order by d.ends_at limit 1) from {{ source('bms_sync', 'bi_sync_status') }} s where s.kind = 'bookings')
  group by coalesce(w.week, 'none'), b.company
)
select week, company, bookings, clients,
  price as price_e4,
  case when price < 0 then '-' else '' end || (abs(price) / 10000) || '.'
    || substr(cast(10000 + abs(price) % 10000 as text), 2) as price_exact
from sums order by week, company
