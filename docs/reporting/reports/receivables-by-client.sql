-- Money and activity of each client. A booking with an invoice number is invoiced, any other is still to be invoiced.
-- Client 0 stands for bookings and projects without a client.
with work as (
  select coalesce(client_id, 0) as client_id, 1 as booking, 0 as project, cast(pickup_date as text) as pickup,
    case when coalesce(fact_number, '') = '' then 0 else coalesce(price_e4, 0) end as invoiced,
    case when coalesce(fact_number, '') = '' then coalesce(price_e4, 0) else 0 end as to_invoice
  from bi_bookings
  union all
  select coalesce(client_id, 0), 0, 1, cast(null as text), 0, 0
  from bi_projects where active = 1
),
sums as (
  select client_id, sum(booking) as bookings, sum(project) as active_projects, max(pickup) as last_pickup,
    cast(sum(invoiced) as bigint) as invoiced, cast(sum(to_invoice) as bigint) as to_invoice
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
order by s.invoiced desc, s.client_id
