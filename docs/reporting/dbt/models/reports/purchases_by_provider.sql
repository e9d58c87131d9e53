with
-- The statuses that count as bought; where several occur and `reports.bought` names none, each counts by itself. A mirror without
-- purchases knows no status: every line counts.
counted as (
  select status, case when counts_as like '%bought%' then 'bought' else status end as name
  from {{ source('bms_sync', 'bi_statuses') }} where kind = 'purchases' and (counts_as like '%bought%'
    or not exists (select 1 from {{ source('bms_sync', 'bi_statuses') }} where kind = 'purchases' and counts_as like '%bought%'))
  union all
  select 'none', 'bought' from (select 1 as one) as without_purchases
  where not exists (select 1 from {{ source('bms_sync', 'bi_statuses') }} where kind = 'purchases')
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
products as (
  select id, provider_id
  from {{ source('bms_sync', 'bi_products') }} natural left join (
    select (select provider_id from {{ source('bms_sync', 'bi_products') }} where 1 = 0) as provider_id
    from (select cast(null as bigint) as provider_id) as expected where 1 = 0
  ) as unseen
),
lines as (
  select coalesce(l.system_id, 0) as company, coalesce(l.product_id, 0) as product_id, c.name as status,
    coalesce(p.currency, 'none') as currency, l.produit_total_e4 as total, l.produit_quantite_receive_e4 as received,
    l.produit_quantite_onhold_e4 as on_hold,
    case when l.produit_quantite_onhold_e4 <> 0 then 1 when l.produit_quantite_onhold_e4 = 0 then 0 end as is_on_hold
  from {{ source('bms_sync', 'bi_purchase_products') }} l left join {{ source('bms_sync', 'bi_purchase_statuses') }} p on p.purchase_id = l.purchase_id
  join counted c on c.status = coalesce(p.status, 'none')
),
bought as (
  select company, product_id, status, currency, count(*) as lines, sum(is_on_hold) as lines_on_hold,
    sum(received) as received, sum(on_hold) as on_hold, sum(total * (1 - is_on_hold)) as total_received, sum(total * is_on_hold) as total_on_hold
  from lines group by company, product_id, status, currency
),
-- Provider 0 stands for lines whose product is unknown or has no provider.
sums as (
  select b.company, coalesce(p.provider_id, 0) as provider_id, b.status, b.currency, cast(sum(b.lines) as bigint) as lines,
    cast(sum(b.lines_on_hold) as bigint) as lines_on_hold, cast(sum(b.received) as bigint) as received,
    cast(sum(b.on_hold) as bigint) as on_hold, cast(sum(b.total_received) as bigint) as total_received,
    cast(sum(b.total_on_hold) as bigint) as total_on_hold
  from bought b left join products p on p.id = b.product_id
  group by b.company, coalesce(p.provider_id, 0), b.status, b.currency
)
select s.company, s.provider_id, s.status, s.currency, v.code, v.name, s.lines, s.lines_on_hold,
  s.received as quantity_received_e4, s.on_hold as quantity_on_hold_e4,
  s.total_received as total_received_e4,
  case when s.total_received < 0 then '-' else '' end || (abs(s.total_received) / 10000) || '.'
    || substr(cast(10000 + abs(s.total_received) % 10000 as text), 2) as total_received_exact,
  s.total_on_hold as total_on_hold_e4,
  case when s.total_on_hold < 0 then '-' else '' end || (abs(s.total_on_hold) / 10000) || '.'
    || substr(cast(10000 + abs(s.total_on_hold) % 10000 as text), 2) as total_on_hold_exact
from sums s left join {{ source('bms_sync', 'bi_providers') }} v on v.id = s.provider_id
order by coalesce(s.total_on_hold, 0) desc, s.company, s.provider_id, s.status, s.currency
