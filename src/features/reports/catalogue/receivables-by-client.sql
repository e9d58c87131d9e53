-- title: Receivables and activity by client
-- title_fr: Comptes clients et activité par client
-- question: How much was invoiced to each client, how much is still to be invoiced, and which work is open
--   for it?
-- question_fr: Combien a été facturé à chaque client, combien reste à facturer, et quels travaux sont ouverts
--   pour lui ?
-- note: The service sends no payments: `invoiced` is everything ever invoiced, the most that the client can
--   owe.
-- note_fr: Le service n’envoie aucun paiement : `invoiced` est tout ce qui a jamais été facturé, le maximum
--   que le client peut devoir.
-- note: A booking is invoiced if it has a `fact_number`. If your service calls that field `invoice`, replace
--   the name.
-- note_fr: Une réservation est facturée si elle a un `fact_number`. Si votre service nomme ce champ
--   `invoice`, remplacez le nom.
-- note: Bookings marked `inactive` count: to exclude them, add `where inactive = 0`.
-- note_fr: Les réservations marquées `inactive` comptent : pour les exclure, ajoutez `where inactive = 0`.
-- note: Client 0 stands for rows without a client. A null `code` beside another id is a deleted client.
-- note_fr: Le client 0 représente les lignes sans client. Un `code` vide à côté d’un autre numéro est un
--   client supprimé.
-- note: `company` is the one that a booking or project names, or else its client; 0 where neither names one.
-- note_fr: `company` est la compagnie que nomme la réservation ou le projet, sinon celle de son client; 0 si
--   aucun des deux n’en nomme.
-- keys: company, client_id
-- labels: code, name
-- metric: receivables_invoiced (invoiced_e4): How much was ever invoiced?
-- metric: receivables_to_invoice (to_invoice_e4): How much is still to be invoiced?
-- metric: active_projects (active_projects): How many projects are active?
-- shown: code, name, credit_exact, bookings, active_projects, last_pickup, invoiced_exact, to_invoice_exact
-- plot: The ten clients with the most invoiced
-- bars: invoiced (invoiced_e4), to invoice (to_invoice_e4)

with
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
  select client_id, cast(pickup_date as text) as pickup_date, price_e4, cast(fact_number as text) as fact_number,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_bookings natural left join (
    select (select client_id from bi_bookings where 1 = 0) as client_id,
      (select pickup_date from bi_bookings where 1 = 0) as pickup_date,
      (select price_e4 from bi_bookings where 1 = 0) as price_e4,
      (select fact_number from bi_bookings where 1 = 0) as fact_number,
      (select system_id from bi_bookings where 1 = 0) as system_id
    from (select cast(null as bigint) as client_id, cast(null as text) as pickup_date,
      cast(null as bigint) as price_e4, cast(null as text) as fact_number,
      cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
bookings as (
  select coalesce(b.system_id, c.system_id, 0) as company, b.client_id, b.pickup_date, b.price_e4, b.fact_number
  from booking_rows b left join clients c on c.id = b.client_id
),
projects as (
  select client_id, active,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_projects natural left join (
    select (select system_id from bi_projects where 1 = 0) as system_id
    from (select cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
),
-- 1 with an invoice number, 0 without one; null where the service never sent that field.
booked as (
  select company, coalesce(client_id, 0) as client_id, substr(pickup_date, 1, 10) as pickup, price_e4 as price,
    (select 1 from bi_fields where kind = 'bookings' and field = 'fact_number')
      * case when coalesce(fact_number, '') = '' then 0 else 1 end as is_invoiced
  from bookings
),
work as (
  select company, client_id, 1 as booking, 0 as project, pickup, price * is_invoiced as invoiced,
    price * (1 - is_invoiced) as to_invoice
  from booked
  union all
  select coalesce(p.system_id, c.system_id, 0), coalesce(p.client_id, 0), 0, 1, cast(null as text), cast(null as bigint),
    cast(null as bigint)
  from projects p left join clients c on c.id = p.client_id where p.active = 1
),
-- A client without bookings has nothing, where bookings name their clients.
no_bookings as (
  select 0 as amount from bi_fields where kind = 'bookings' and field = 'client_id'
),
sums as (
  select company, client_id, sum(booking) as bookings, sum(project) as active_projects, max(pickup) as last_pickup,
    case when sum(booking) = 0 then (select amount from no_bookings) else cast(sum(invoiced) as bigint) end as invoiced,
    case when sum(booking) = 0 then (select amount from no_bookings) else cast(sum(to_invoice) as bigint) end as to_invoice
  from work group by company, client_id
)
select s.company, s.client_id, c.code, c.name, c.term, c.credit_exact, s.bookings, s.active_projects, s.last_pickup,
  s.invoiced as invoiced_e4,
  case when s.invoiced < 0 then '-' else '' end || (abs(s.invoiced) / 10000) || '.'
    || substr(cast(10000 + abs(s.invoiced) % 10000 as text), 2) as invoiced_exact,
  s.to_invoice as to_invoice_e4,
  case when s.to_invoice < 0 then '-' else '' end || (abs(s.to_invoice) / 10000) || '.'
    || substr(cast(10000 + abs(s.to_invoice) % 10000 as text), 2) as to_invoice_exact
from sums s left join bi_clients c on c.id = s.client_id
order by coalesce(s.invoiced, 0) desc, s.company, s.client_id
