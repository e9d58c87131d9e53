-- Purchases of each company and branch from each provider in each month.
with
-- A field that the service has never sent has no column: then `unseen_purchases` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_purchases as (
  select cast(null as bigint) as provider_id,
    cast(null as text) as date,
    cast(null as bigint) as subtotal_e4,
    cast(null as bigint) as total_e4,
    cast(null as bigint) as branch_id,
    cast(null as bigint) as system_id
),
unseen_purchases as (
  select (select provider_id from bi_purchases where 1 = 0) as provider_id,
    (select date from bi_purchases where 1 = 0) as date,
    (select subtotal_e4 from bi_purchases where 1 = 0) as subtotal_e4,
    (select total_e4 from bi_purchases where 1 = 0) as total_e4,
    (select branch_id from bi_purchases where 1 = 0) as branch_id,
    (select system_id from bi_purchases where 1 = 0) as system_id
  from expected_purchases where 1 = 0
),
purchases as (
  select id, provider_id, cast(date as text) as date, subtotal_e4, total_e4, branch_id, system_id
  from bi_purchases natural left join unseen_purchases
),
months as (
  select coalesce(substr(cast(p.date as text), 1, 7), 'none') as month, coalesce(p.system_id, 0) as company, coalesce(p.branch_id, 0) as branch,
    coalesce(p.provider_id, 0) as provider_id,
    count(*) as purchases, cast(sum(p.subtotal_e4) as bigint) as subtotal, cast(sum(p.total_e4) as bigint) as total
  from purchases p group by coalesce(substr(cast(p.date as text), 1, 7), 'none'), coalesce(p.system_id, 0), coalesce(p.branch_id, 0), coalesce(p.provider_id, 0)
)
select m.month, m.company, m.branch, m.provider_id, v.code, v.name, m.purchases,
  m.subtotal as subtotal_e4,
  case when m.subtotal < 0 then '-' else '' end || (abs(m.subtotal) / 10000) || '.'
    || substr(cast(10000 + abs(m.subtotal) % 10000 as text), 2) as subtotal_exact,
  m.total as total_e4,
  case when m.total < 0 then '-' else '' end || (abs(m.total) / 10000) || '.'
    || substr(cast(10000 + abs(m.total) % 10000 as text), 2) as total_exact
from months m left join bi_providers v on v.id = m.provider_id
order by m.month, m.company, m.branch, m.provider_id
