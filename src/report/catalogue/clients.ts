import type { WrittenReport } from './report.ts';
import {
  WEEKS,
  amount,
  companyOf,
  exact,
  monthOf,
  readingOf,
  rowsOf,
  fieldIsKnown,
  type Fields,
} from './sql.ts';

/** 1 for a booking with an invoice number, 0 for one without. */
const INVOICED = `${fieldIsKnown('bookings', 'fact_number')}
      * case when coalesce(fact_number, '') = '' then 0 else 1 end`;

/** What a client without bookings has: nothing, where bookings name their clients. */
const NOTHING = `0 * ${fieldIsKnown('bookings', 'client_id')}`;

const CLIENTS = 'case when count(client_id) > 0 then count(distinct nullif(client_id, 0)) end';

/** The company that a record names, or else its client. */
const OWN_OR_CLIENTS = (row: string): string => `coalesce(${row}.system_id, c.system_id, 0) as company`;

const CLIENT_ROWS = rowsOf('bi_clients', 'client_rows', { system_id: 'id' });

/** Bookings with these fields and their company. */
function bookingsWith(fields: Fields): string {
  const columns = Object.keys(fields).map((name) => `b.${name}`);
  return `${CLIENT_ROWS},
${rowsOf('bi_bookings', 'booking_rows', { ...fields, system_id: 'id' })},
bookings as (
  select ${[OWN_OR_CLIENTS('b'), ...columns].join(', ')}
  from booking_rows b left join client_rows c on c.id = b.client_id
)`;
}

const COMPANY_NOTE =
  '`company` is the one that a booking names, or else its client; 0 where neither names one.';

/** Money and activity of clients. */
export const CLIENT_REPORTS: readonly WrittenReport[] = [
  {
    name: 'receivables-by-client',
    title: 'Receivables and activity by client',
    question:
      'How much was invoiced to each client, how much is still to be invoiced, and which work is open for it?',
    notes: [
      'The service sends no payments: `invoiced` is everything ever invoiced, the most that the client can owe.',
      'A booking is invoiced if it has a `fact_number`. If your service calls that field `invoice`, replace the name.',
      'Bookings marked `inactive` count: to exclude them, add `where inactive = 0`.',
      'Client 0 stands for rows without a client. A null `code` beside another id is a deleted client.',
      '`company` is the one that a booking or project names, or else its client; 0 where neither names one.',
    ],
    sql: `-- Money and activity of each client, by company. A booking with an invoice number is invoiced, any other is still to be invoiced.
-- Client 0 stands for bookings and projects without a client.
with
${bookingsWith({ client_id: 'bigint', pickup_date: 'text', price_e4: 'bigint', fact_number: 'text' })},
${rowsOf('bi_projects', 'project_rows', { system_id: 'id' }, ['client_id', 'active'])},
booked as (
  select company, coalesce(client_id, 0) as client_id, substr(pickup_date, 1, 10) as pickup, price_e4 as price,
    ${INVOICED} as is_invoiced
  from bookings
),
work as (
  select company, client_id, 1 as booking, 0 as project, pickup, price * is_invoiced as invoiced,
    price * (1 - is_invoiced) as to_invoice
  from booked
  union all
  select ${OWN_OR_CLIENTS('p')}, coalesce(p.client_id, 0), 0, 1, cast(null as text), cast(null as bigint), cast(null as bigint)
  from project_rows p left join client_rows c on c.id = p.client_id where p.active = 1
),
sums as (
  select company, client_id, sum(booking) as bookings, sum(project) as active_projects, max(pickup) as last_pickup,
    case when sum(booking) = 0 then ${NOTHING} else cast(sum(invoiced) as bigint) end as invoiced,
    case when sum(booking) = 0 then ${NOTHING} else cast(sum(to_invoice) as bigint) end as to_invoice
  from work group by company, client_id
)
select s.company, s.client_id, c.code, c.name, c.term, c.credit_exact, s.bookings, s.active_projects, s.last_pickup,
  ${amount('s.invoiced', 'invoiced')},
  ${amount('s.to_invoice', 'to_invoice')}
from sums s left join bi_clients c on c.id = s.client_id
order by coalesce(s.invoiced, 0) desc, s.company, s.client_id
`,
    keys: ['company', 'client_id'],
    time: null,
    labels: ['code', 'name'],
    metrics: {
      receivables_invoiced: { column: 'invoiced_e4', question: 'How much was ever invoiced?' },
      receivables_to_invoice: { column: 'to_invoice_e4', question: 'How much is still to be invoiced?' },
      active_projects: { column: 'active_projects', question: 'How many projects are active?' },
    },
    shown: [
      'code',
      'name',
      'credit_exact',
      'bookings',
      'active_projects',
      'last_pickup',
      'invoiced_exact',
      'to_invoice_exact',
    ],
    plot: {
      caption: 'The ten clients with the most invoiced',
      series: { invoiced: 'invoiced_e4', 'to invoice': 'to_invoice_e4' },
    },
  },
  {
    name: 'bookings-by-month',
    title: 'Bookings and revenue per month',
    question:
      'How many bookings are picked up in each month, for how many clients, at what price, and how much of that is invoiced?',
    notes: [
      'A booking counts in the month of its pick-up; `none` has bookings without a day.',
      'Revenue is the price of bookings: the service lists no other sales with a day.',
      COMPANY_NOTE,
    ],
    sql: `-- Bookings of each month of pick-up, and those without a day (\`none\`).
with
${bookingsWith({ client_id: 'bigint', pickup_date: 'text', distance_e4: 'bigint', price_e4: 'bigint', fact_number: 'text' })},
booked as (
  select ${monthOf('pickup_date')} as month, company, client_id, distance_e4, price_e4,
    ${INVOICED} as is_invoiced
  from bookings
),
months as (
  select month, company, count(*) as bookings, ${CLIENTS} as clients,
    cast(sum(distance_e4) as bigint) as distance, cast(sum(price_e4) as bigint) as price,
    cast(sum(price_e4 * is_invoiced) as bigint) as invoiced
  from booked group by month, company
)
select month, company, bookings, clients, distance as distance_e4, price as price_e4,
  ${exact('price', 'price')},
  ${amount('invoiced', 'invoiced')}
from months order by month, company
`,
    keys: ['month', 'company'],
    time: 'month',
    metrics: {
      bookings: { column: 'bookings', question: 'How many bookings are picked up?' },
      revenue: { column: 'price_e4', question: 'At what price?' },
      revenue_invoiced: { column: 'invoiced_e4', question: 'How much of that price is invoiced?' },
    },
    shown: ['month', 'company', 'bookings', 'clients', 'price_exact', 'invoiced_exact'],
    plot: {
      caption: 'Price of the bookings of the last twelve months',
      series: { price: 'price_e4' },
    },
  },
  {
    name: 'bookings-ahead',
    title: 'Bookings ahead',
    question: 'How many bookings are to be picked up in each week from now on, and at what price?',
    notes: [
      'Now is the day of the last complete reading of the list, in `schedules.timezone`. A week is named by its Monday.',
      '`none` has bookings after 2049.',
      COMPANY_NOTE,
    ],
    sql: `-- Bookings from the day of the last reading on, by the week of pick-up, which is named by its Monday.
with
${bookingsWith({ client_id: 'bigint', pickup_date: 'text', price_e4: 'bigint' })},
${WEEKS},
sums as (
  select coalesce(w.week, 'none') as week, b.company, count(*) as bookings, ${CLIENTS} as clients,
    cast(sum(b.price_e4) as bigint) as price
  from bookings b left join weeks w on w.day = substr(b.pickup_date, 1, 10)
  where substr(b.pickup_date, 1, 10) >= ${readingOf('bookings')}
  group by coalesce(w.week, 'none'), b.company
)
select week, company, bookings, clients,
  ${amount('price', 'price')}
from sums order by week, company
`,
    keys: ['week', 'company'],
    time: 'week',
    metrics: {
      bookings_ahead: { column: 'bookings', question: 'How many bookings are still to be picked up?' },
      revenue_ahead: { column: 'price_e4', question: 'At what price are bookings still to be picked up?' },
    },
    plot: {
      caption: 'Bookings ahead, by the Monday of their week',
      series: { bookings: 'bookings' },
    },
  },
  {
    name: 'new-and-lost-clients',
    title: 'New and lost clients',
    question: 'How many clients came, went and came back in each month?',
    notes: [
      'A client is new in the month of its `creation_date` (`none`: without one), lost when the mirror found it deleted, and back ' +
        'when the mirror found it again. A client that came and went counts as lost only.',
      'A client marked `inactive` is not lost.',
    ],
    sql: `-- Clients by the month of their creation, and those that the mirror found deleted or restored, by the month of that.
with
${rowsOf('bi_clients', 'client_rows', { system_id: 'id' }, ['creation_date'])},
${rowsOf('bi_deleted_clients', 'deleted_rows', { system_id: 'id' })},
months as (
  select ${monthOf('creation_date')} as month, ${companyOf('c')} as company, 1 as is_new, 0 as is_lost, 0 as is_back
  from client_rows c
  union all
  select ${monthOf('e.day')}, coalesce(c.system_id, d.system_id, 0), 0, case when e.change = 'deleted' then 1 else 0 end,
    case when e.change = 'restored' then 1 else 0 end
  from bi_changes e left join client_rows c on c.id = e.record_id left join deleted_rows d on d.id = e.record_id
  where e.kind = 'clients' and e.change in ('deleted', 'restored')
)
select month, company, sum(is_new) as new_clients, sum(is_lost) as lost_clients, sum(is_back) as returned_clients
from months group by month, company order by month, company
`,
    keys: ['month', 'company'],
    time: 'month',
    metrics: {
      new_clients: { column: 'new_clients', question: 'How many clients came?' },
      lost_clients: { column: 'lost_clients', question: 'How many clients went?' },
      returned_clients: { column: 'returned_clients', question: 'How many clients came back?' },
    },
    plot: {
      caption: 'Clients that came, went and came back in the last twelve months',
      series: { new: 'new_clients', lost: 'lost_clients', back: 'returned_clients' },
    },
  },
];
