-- title: Margin by product and month
-- title_fr: Marge par produit et par mois
-- question: How much did the purchases of each product cost in each month, and how much are they worth at the
--   list price?
-- question_fr: Combien les achats de chaque produit ont-ils coûté chaque mois, et combien valent-ils au prix de
--   liste ?
-- note: The margin is that of selling everything bought at the present list price; that of real sales is in
--   [Margin of what was sold](#margin-of-what-was-sold).
-- note_fr: La marge est celle de la vente de tout ce qui a été acheté, au prix de liste actuel; celle des
--   ventes réelles est dans « Marge de ce qui a été vendu ».
-- note: A purchase line has no day: its month is when the mirror first read it, so the first month has all
--   earlier lines.
-- note_fr: Une ligne d’achat n’a pas de date : son mois est celui où le miroir l’a lue pour la première fois.
--   Le premier mois contient donc toutes les lignes antérieures.
-- note: The value at the list price is cut after four places, and null for a product without a price.
-- note_fr: La valeur au prix de liste est coupée après quatre décimales, et vide pour un produit sans prix.
-- days: first, last
-- note: Counts lines of purchases with a status of `reports.bought` ([what counts](#what-counts)), and all
--   lines where the mirror has no list of purchases.
-- note_fr: Compte les lignes des achats dont le statut figure dans `reports.bought`, et toutes les lignes si
--   le miroir n’a pas la liste des achats.
-- note: Amounts of different currencies are not added up: each `currency` of purchases has rows of its own. A list price
--   names none: it is taken to be in that of most of the company's purchase lines. Lines in another have neither a
--   value at the list price nor a margin, which are null.
-- note_fr: Les montants de devises différentes ne s’additionnent pas : chaque devise (`currency`) des achats
--   a ses propres lignes. Un prix de liste n’en nomme aucune : il est supposé dans celle de la plupart des
--   lignes d’achat de la compagnie. Les lignes dans une autre devise n’ont ni valeur au prix de liste ni
--   marge : elles y sont vides.
-- counts: bought
-- keys: company, product_id, status, currency, month
-- time: month
-- labels: code, name_fr
-- metric: purchase_cost_first_read (cost_e4): How much did the purchases cost that were first read then?
-- metric: list_value (list_value_e4): How much are purchases worth at the list price of today?
-- metric: margin (margin_e4): What is the margin of selling them at that price?
-- shown: code, name_fr, currency, month, lines, cost_exact, margin_exact
-- plot: The ten products with the largest margin
-- by: code, name_fr
-- bars: margin (margin_e4)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count as bought; where several occur and `reports.bought` names none, each counts by itself. A mirror without
-- purchases knows no status: every line counts.
counted as (
  select status, case when counts_as like '%bought%' then 'bought' else status end as name
  from bi_statuses where kind = 'purchases' and (counts_as like '%bought%'
    or not exists (select 1 from bi_statuses where kind = 'purchases' and counts_as like '%bought%'))
  union all
  select 'none', 'bought' from (select 1 as one) as without_purchases
  where not exists (select 1 from bi_statuses where kind = 'purchases')
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
products as (
  select id, code, name_fr, price_e4
  from bi_products natural left join (
    select (select price_e4 from bi_products where 1 = 0) as price_e4
    from (select cast(null as bigint) as price_e4) as expected where 1 = 0
  ) as unseen
),
-- Product 0 stands for lines whose product is unknown. The day of an instant is that of the company.
lines as (
  select coalesce(l.system_id, 0) as company, coalesce(l.product_id, 0) as product_id, c.name as status,
    coalesce(p.currency, 'none') as currency, l.product_quantity_e4 as quantity, l.produit_total_e4 as cost,
    (select cast(d.date as text) from bi_calendar d
      where d.ends_at > l._first_seen_at and d.starts_at <= l._first_seen_at order by d.ends_at limit 1) as day
  from bi_purchase_products l left join bi_purchase_statuses p on p.purchase_id = l.purchase_id
  join counted c on c.status = coalesce(p.status, 'none')
),
-- Sales and list prices name no currency: that of most of the company's purchase lines is taken for theirs.
usual as (
  select company, currency from (
    select company, currency, row_number() over (partition by company order by count(*) desc, currency) as place
    from lines group by company, currency
  ) as ranked where place = 1
),
bought as (
  select company, product_id, status, currency, coalesce(substr(day, 1, 7), 'none') as month, count(*) as lines,
    cast(sum(quantity) as bigint) as quantity, cast(sum(cost) as bigint) as cost
  from lines cross join asked a
  where (a.first is null or day >= a.first) and (a.last is null or day <= a.last)
  group by company, product_id, status, currency, coalesce(substr(day, 1, 7), 'none')
),
-- Quantity × price in units of 0.0001, cut after four places; null where 64 bits cannot hold it, and where the price is in another currency.
priced as (
  select b.company, b.product_id, b.status, b.currency, p.code, p.name_fr, b.month, b.lines, b.quantity, b.cost,
    case when b.currency = u.currency and abs(b.quantity) <= 4000000000000000000 / (10000 + abs(p.price_e4 / 10000))
      then b.quantity * (p.price_e4 / 10000) + b.quantity * (p.price_e4 % 10000) / 10000 end as list_value
  from bought b left join products p on p.id = b.product_id left join usual u on u.company = b.company
),
margins as (
  select priced.*, list_value - cost as margin from priced
)
select company, product_id, status, currency, code, name_fr, month, lines, quantity as quantity_e4,
  cost as cost_e4,
  case when cost < 0 then '-' else '' end || (abs(cost) / 10000) || '.'
    || substr(cast(10000 + abs(cost) % 10000 as text), 2) as cost_exact,
  list_value as list_value_e4,
  margin as margin_e4,
  case when margin < 0 then '-' else '' end || (abs(margin) / 10000) || '.'
    || substr(cast(10000 + abs(margin) % 10000 as text), 2) as margin_exact
from margins order by coalesce(margin, 0) desc, company, product_id, status, currency, month
