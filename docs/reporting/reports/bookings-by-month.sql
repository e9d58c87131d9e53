-- Bookings of each month of pick-up, and those without a day (`none`).
with months as (
  select coalesce(substr(cast(pickup_date as text), 1, 7), 'none') as month, count(*) as bookings,
    count(distinct nullif(client_id, 0)) as clients, cast(sum(coalesce(distance_e4, 0)) as bigint) as distance,
    cast(sum(coalesce(price_e4, 0)) as bigint) as price
  from bi_bookings group by coalesce(substr(cast(pickup_date as text), 1, 7), 'none')
)
select month, bookings, clients, distance as distance_e4, price as price_e4,
  case when price < 0 then '-' else '' end || (abs(price) / 10000) || '.'
    || substr(cast(10000 + abs(price) % 10000 as text), 2) as price_exact
from months order by month
