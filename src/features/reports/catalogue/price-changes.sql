-- title: Changes of prices
-- title_fr: Changements de prix
-- question: Which prices of products changed on each day, from what to what?
-- question_fr: Quels prix de produits ont changé chaque jour, et de combien à combien ?
-- note: The day is when the mirror found the change. A change and its reversal between two readings stay
--   invisible.
-- note_fr: Le jour est celui où le miroir a constaté le changement. Un prix changé puis rétabli entre deux
--   lectures reste invisible.
-- note: A price from 900,000,000,000, or with more than four places, is null here; `bi_price_changes` has it
--   as text.
-- note_fr: Un prix d’au moins 900 000 000 000, ou de plus de quatre décimales, est vide ici;
--   `bi_price_changes` le donne en texte.
-- days: first, last
-- keys: seq, company
-- time: day
-- labels: product_id, code, name_fr
-- metric: prices_risen (risen): How often did a price rise?
-- metric: prices_fallen (fallen): How often did a price fall?
-- shown: day, code, name_fr, old_price_exact, new_price_exact
-- plot: Prices that rose and fell on each day
-- bars: risen (risen), fallen (fallen)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
-- `system_id` comes as a number or as text.
products as (
  select id, code, name_fr,
    case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18
      then cast(system_id as bigint) end as system_id
  from bi_products natural left join (
    select (select system_id from bi_products where 1 = 0) as system_id
    from (select cast(null as text) as system_id) as expected where 1 = 0
  ) as unseen
)
select c.seq, cast(c.day as text) as day, coalesce(p.system_id, 0) as company, c.product_id, p.code, p.name_fr,
  c.old_price_e4,
  case when c.old_price_e4 < 0 then '-' else '' end || (abs(c.old_price_e4) / 10000) || '.'
    || substr(cast(10000 + abs(c.old_price_e4) % 10000 as text), 2) as old_price_exact,
  c.new_price_e4,
  case when c.new_price_e4 < 0 then '-' else '' end || (abs(c.new_price_e4) / 10000) || '.'
    || substr(cast(10000 + abs(c.new_price_e4) % 10000 as text), 2) as new_price_exact,
  case when c.new_price_e4 > c.old_price_e4 then 1 else 0 end as risen,
  case when c.new_price_e4 < c.old_price_e4 then 1 else 0 end as fallen
from bi_price_changes c left join products p on p.id = c.product_id cross join asked a
where c.field = 'price'
  and (a.first is null or cast(c.day as text) >= a.first) and (a.last is null or cast(c.day as text) <= a.last)
order by cast(c.day as text), c.product_id, c.seq
