-- Every change of a product's price that the mirror has found.
with
-- A field that the service has never sent has no column: then `unseen_products` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_products as (
  select cast(null as text) as system_id
),
unseen_products as (
  select (select system_id from {{ source('bms_sync', 'bi_products') }} where 1 = 0) as system_id
  from expected_products where 1 = 0
),
products as (
  select id, code, name_fr, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_products') }} natural left join unseen_products
),
changed as (
  select seq, record_id, cast(day as text) as day, json(replace(fields, '\u', '\/')) -> 'price' as pair
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'products' and change = 'updated' and fields like '%"price"%'
),
texts as (
  select seq, record_id, day, nullif(trim(cast(pair -> 0 as text), '"'), 'null') as old_text,
    nullif(trim(cast(pair -> 1 as text), '"'), 'null') as new_text
  from changed where pair is not null
),
prices as (
  select seq, record_id, day,
    case when trim(old_text, '0123456789.-') = '' and trim(old_text, '.-') <> '' and old_text not like '%.%.%'
      and old_text not like '_%-%' and old_text not like '%._____%' and length(old_text) < 20
      and abs(cast(old_text as numeric)) < 900000000000
    then cast(round(cast(old_text as numeric) * 10000) as bigint) end as old_price,
    case when trim(new_text, '0123456789.-') = '' and trim(new_text, '.-') <> '' and new_text not like '%.%.%'
      and new_text not like '_%-%' and new_text not like '%._____%' and length(new_text) < 20
      and abs(cast(new_text as numeric)) < 900000000000
    then cast(round(cast(new_text as numeric) * 10000) as bigint) end as new_price
  from texts
)
select c.seq, c.day, coalesce(p.system_id, 0) as company, c.record_id as product_id, p.code, p.name_fr,
  c.old_price as old_price_e4,
  case when c.old_price < 0 then '-' else '' end || (abs(c.old_price) / 10000) || '.'
    || substr(cast(10000 + abs(c.old_price) % 10000 as text), 2) as old_price_exact,
  c.new_price as new_price_e4,
  case when c.new_price < 0 then '-' else '' end || (abs(c.new_price) / 10000) || '.'
    || substr(cast(10000 + abs(c.new_price) % 10000 as text), 2) as new_price_exact,
  case when c.new_price > c.old_price then 1 else 0 end as risen,
  case when c.new_price < c.old_price then 1 else 0 end as fallen
from prices c left join products p on p.id = c.record_id
order by c.day, c.record_id, c.seq
