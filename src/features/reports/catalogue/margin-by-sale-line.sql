-- title: Margin of what was sold
-- title_fr: Marge de ce qui a été vendu
-- question: What is left of each product's sales after its own cost, and after the price at which it was
--   bought?
-- question_fr: Que reste-t-il des ventes de chaque produit après son propre coût, et après le prix auquel il a
--   été acheté ?
-- note: `own_cost` is the quantity sold at the product's `cost` of today, `purchase_cost` at the mean price
--   of the company's purchase lines of it in `currency`; null where there is none.
-- note_fr: `own_cost` est la quantité vendue au coût (`cost`) actuel du produit, `purchase_cost` la même au
--   prix moyen de ses lignes d’achat de la compagnie dans la devise `currency`; vide s’il n’y en a pas.
-- note: Sales and products name no currency: `currency` is that of most of the company's purchase lines, which is taken for
--   theirs too (`none` where nothing names one). Purchase lines in another are left out.
-- note_fr: Les ventes et les produits ne nomment aucune devise : `currency` est celle de la plupart des
--   lignes d’achat de la compagnie, supposée être la leur aussi (`none` si rien n’en nomme). Les lignes
--   d’achat dans une autre devise sont laissées de côté.
-- note: Prices and values are cut after four places.
-- note_fr: Les prix et les valeurs sont coupés après quatre décimales.
-- note: Counts sales with a status of `reports.sold` ([what counts](#what-counts)).
-- note_fr: Compte les ventes dont le statut figure dans `reports.sold`.
-- note: A line whose sale is not there has the status `none`. `purchase_cost` is of the purchases that
--   `reports.bought` counts.
-- note_fr: Une ligne dont la vente est absente a le statut `none`. `purchase_cost` vient des achats que
--   compte `reports.bought`.
-- days: first, last
-- counts: sold, bought
-- keys: company, branch, product_id, status, currency
-- labels: code, name_fr
-- metric: sold (sold_e4): How much were products sold for?
-- metric: margin_on_own_cost (margin_e4): What is left after the products' own cost?
-- metric: margin_on_purchases (purchase_margin_e4): What is left after the price at which they were bought?
-- shown: company, branch, code, name_fr, currency, sold_exact, margin_exact, purchase_margin_exact
-- plot: The ten products that were sold for the most
-- bars: sold (sold_e4)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count as sold; where several occur and `reports.sold` names none, each counts by itself.
counted as (
  select status, case when counts_as like '%sold%' then 'sold' else status end as name
  from bi_statuses where kind = 'sales' and (counts_as like '%sold%'
    or not exists (select 1 from bi_statuses where kind = 'sales' and counts_as like '%sold%'))
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
sale_rows as (
  select id, client_id, cast(date as text) as date, cast(status as text) as status, total_exact, total_e4,
    branch_id, system_id
  from bi_sales natural left join (
    select (select client_id from bi_sales where 1 = 0) as client_id,
      (select date from bi_sales where 1 = 0) as date,
      (select status from bi_sales where 1 = 0) as status,
      (select total_exact from bi_sales where 1 = 0) as total_exact,
      (select total_e4 from bi_sales where 1 = 0) as total_e4,
      (select branch_id from bi_sales where 1 = 0) as branch_id,
      (select system_id from bi_sales where 1 = 0) as system_id
    from (select cast(null as bigint) as client_id, cast(null as text) as date,
      cast(null as text) as status, cast(null as text) as total_exact, cast(null as bigint) as total_e4,
      cast(null as bigint) as branch_id, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
sale_lines as (
  select id, sale_id, product_id, product_quantity_e4, produit_total_e4, system_id
  from bi_sales_products natural left join (
    select (select sale_id from bi_sales_products where 1 = 0) as sale_id,
      (select product_id from bi_sales_products where 1 = 0) as product_id,
      (select product_quantity_e4 from bi_sales_products where 1 = 0) as product_quantity_e4,
      (select produit_total_e4 from bi_sales_products where 1 = 0) as produit_total_e4,
      (select system_id from bi_sales_products where 1 = 0) as system_id
    from (select cast(null as bigint) as sale_id, cast(null as bigint) as product_id,
      cast(null as bigint) as product_quantity_e4,
      cast(null as bigint) as produit_total_e4, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
sold as (
  select sale_id, cast(sum(produit_total_e4) as bigint) as lines_total from sale_lines group by sale_id
),
sales as (
  select s.id, coalesce(s.system_id, 0) as company, coalesce(s.branch_id, 0) as branch,
    coalesce(s.client_id, 0) as client_id, substr(s.date, 1, 10) as day, coalesce(nullif(s.status, ''), 'none') as status,
    l.lines_total, case when s.total_exact is null then l.lines_total else s.total_e4 end as total
  from sale_rows s left join sold l on l.sale_id = s.id
),
products as (
  select id, code, name_fr, cost_e4
  from bi_products natural left join (
    select (select cost_e4 from bi_products where 1 = 0) as cost_e4
    from (select cast(null as bigint) as cost_e4) as expected where 1 = 0
  ) as unseen
),
-- Every line, where the mirror has no purchases.
purchase_lines as (
  select coalesce(l.system_id, 0) as company, l.product_id, coalesce(p.currency, 'none') as currency,
    l.produit_total_e4 as total, l.product_quantity_e4 as quantity
  from bi_purchase_products l left join bi_purchase_statuses p on p.purchase_id = l.purchase_id
  where l.product_quantity_e4 is not null and l.produit_total_e4 is not null
    and (coalesce(p.status, 'none') in (select status from bi_statuses where counts_as like '%bought%')
      or not exists (select 1 from bi_statuses where kind = 'purchases'))
),
-- Sales and costs of products name no currency: that of most of the company's purchase lines is taken for theirs.
usual as (
  select company, currency from (
    select company, currency, row_number() over (partition by company order by count(*) desc, currency) as place
    from purchase_lines group by company, currency
  ) as ranked where place = 1
),
bought as (
  select l.company, l.product_id, cast(sum(l.total) as bigint) as total, cast(sum(l.quantity) as bigint) as quantity
  from purchase_lines l join usual u on u.company = l.company and u.currency = l.currency
  group by l.company, l.product_id
),
bought_at as (
  select company, product_id, case when quantity > 0 and abs(total) <= 900000000000000 then total * 10000 / quantity end as price
  from bought
),
lines as (
  select coalesce(l.system_id, s.company, 0) as company, coalesce(s.branch, 0) as branch,
    coalesce(l.product_id, 0) as product_id, c.name as status, l.product_quantity_e4, l.produit_total_e4
  from sale_lines l left join sales s on s.id = l.sale_id
  join counted c on c.status = coalesce(s.status, 'none') cross join asked a
  where (a.first is null or s.day >= a.first) and (a.last is null or s.day <= a.last)
),
quantities as (
  select company, branch, product_id, status, count(*) as lines, cast(sum(product_quantity_e4) as bigint) as quantity,
    cast(sum(produit_total_e4) as bigint) as sold
  from lines group by company, branch, product_id, status
),
-- Quantity × price in units of 0.0001, cut after four places; null where 64 bits cannot hold it.
priced as (
  select q.company, q.branch, q.product_id, q.status, coalesce(u.currency, 'none') as currency, p.code, p.name_fr,
    q.lines, q.quantity, q.sold,
    case when abs(q.quantity) <= 4000000000000000000 / (10000 + abs(p.cost_e4 / 10000))
      then q.quantity * (p.cost_e4 / 10000) + q.quantity * (p.cost_e4 % 10000) / 10000 end as own_cost,
    case when abs(q.quantity) <= 4000000000000000000 / (10000 + abs(b.price / 10000))
      then q.quantity * (b.price / 10000) + q.quantity * (b.price % 10000) / 10000 end as purchase_cost
  from quantities q
  left join products p on p.id = q.product_id
  left join usual u on u.company = q.company
  left join bought_at b on b.company = q.company and b.product_id = q.product_id
),
margins as (
  select priced.*, sold - own_cost as margin, sold - purchase_cost as purchase_margin from priced
)
select company, branch, product_id, status, currency, code, name_fr, lines, quantity as quantity_e4,
  sold as sold_e4,
  case when sold < 0 then '-' else '' end || (abs(sold) / 10000) || '.'
    || substr(cast(10000 + abs(sold) % 10000 as text), 2) as sold_exact,
  own_cost as own_cost_e4, purchase_cost as purchase_cost_e4,
  margin as margin_e4,
  case when margin < 0 then '-' else '' end || (abs(margin) / 10000) || '.'
    || substr(cast(10000 + abs(margin) % 10000 as text), 2) as margin_exact,
  purchase_margin as purchase_margin_e4,
  case when purchase_margin < 0 then '-' else '' end || (abs(purchase_margin) / 10000) || '.'
    || substr(cast(10000 + abs(purchase_margin) % 10000 as text), 2) as purchase_margin_exact
from margins order by coalesce(sold, 0) desc, company, branch, product_id, status
