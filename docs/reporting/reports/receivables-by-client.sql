-- Money and activity of each client. A booking with an invoice number is invoiced, any other is still to be invoiced.
-- Client 0 stands for bookings and projects without a client.
with
-- A field that the service has never sent has no column: then `unseen_bookings` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_bookings as (
  select cast(null as bigint) as client_id,
    cast(null as text) as pickup_date,
    cast(null as bigint) as price_e4,
    cast(null as text) as fact_number
),
unseen_bookings as (
  select (select client_id from bi_bookings where 1 = 0) as client_id,
    (select pickup_date from bi_bookings where 1 = 0) as pickup_date,
    (select price_e4 from bi_bookings where 1 = 0) as price_e4,
    (select fact_number from bi_bookings where 1 = 0) as fact_number
  from expected_bookings where 1 = 0
),
bookings as (
  select id, client_id, cast(pickup_date as text) as pickup_date, price_e4, cast(fact_number as text) as fact_number
  from bi_bookings natural left join unseen_bookings
),
booked as (
  select coalesce(client_id, 0) as client_id, substr(pickup_date, 1, 10) as pickup, price_e4 as price,
    (select 1 from bi_fields where kind = 'bookings' and field = 'fact_number')
      * case when coalesce(fact_number, '') = '' then 0 else 1 end as is_invoiced
  from bookings
),
work as (
  select client_id, 1 as booking, 0 as project, pickup, price * is_invoiced as invoiced,
    price * (1 - is_invoiced) as to_invoice
  from booked
  union all
  select coalesce(client_id, 0), 0, 1, cast(null as text), cast(null as bigint), cast(null as bigint)
  from bi_projects where active = 1
),
sums as (
  select client_id, sum(booking) as bookings, sum(project) as active_projects, max(pickup) as last_pickup,
    case when sum(booking) = 0 then 0 * (select 1 from bi_fields where kind = 'bookings' and field = 'client_id') else cast(sum(invoiced) as bigint) end as invoiced,
    case when sum(booking) = 0 then 0 * (select 1 from bi_fields where kind = 'bookings' and field = 'client_id') else cast(sum(to_invoice) as bigint) end as to_invoice
  from work group by client_id
)
select s.client_id, c.code, c.name, c.term, c.credit_exact, s.bookings, s.active_projects, s.last_pickup,
  s.invoiced as invoiced_e4,
  case when s.invoiced < 0 then '-' else '' end || (abs(s.invoiced) / 10000) || '.'
    || substr(cast(10000 + abs(s.invoiced) % 10000 as text), 2) as invoiced_exact,
  s.to_invoice as to_invoice_e4,
  case when s.to_invoice < 0 then '-' else '' end || (abs(s.to_invoice) / 10000) || '.'
    || substr(cast(10000 + abs(s.to_invoice) % 10000 as text), 2) as to_invoice_exact
from sums s left join bi_clients c on c.id = s.client_id
order by coalesce(s.invoiced, 0) desc, s.client_id
