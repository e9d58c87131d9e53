-- title: Purchases received and on hold by provider
-- title_fr: Achats reçus et en attente par fournisseur
-- question: Which provider has delivered what, and how much is still awaited from each?
-- question_fr: Quel fournisseur a livré quoi, et combien attend-on encore de chacun ?
-- note: A purchase line counts for the provider of its product, because it names none itself.
-- note_fr: Une ligne d’achat compte pour le fournisseur de son produit, car elle n’en nomme aucun elle-même.
-- note: A line counts as on hold while any part of it is; the quantities show the parts. A line without a
--   quantity on hold counts as neither.
-- note_fr: Une ligne compte comme en attente tant qu’une partie l’est; les quantités montrent les parties.
--   Une ligne sans quantité en attente ne compte ni comme reçue ni comme en attente.
-- note: Quantities of different units are added up: compare them within one provider.
-- note_fr: Les quantités d’unités différentes s’additionnent : comparez-les pour un même fournisseur.
-- note: Counts lines of purchases with a status of `reports.bought` ([what counts](#what-counts)), and all
--   lines where the mirror has no list of purchases.
-- note_fr: Compte les lignes des achats dont le statut figure dans `reports.bought`, et toutes les lignes si
--   le miroir n’a pas la liste des achats.
-- note: Amounts of different currencies are not added up: each `currency` of purchases has rows of its own; `none` has
--   lines of purchases without one.
-- note_fr: Les montants de devises différentes ne s’additionnent pas : chaque devise (`currency`) des achats
--   a ses propres lignes; `none` regroupe les lignes des achats sans devise.
-- counts: bought
-- keys: company, provider_id, status, currency
-- labels: code, name
-- metric: purchases_received (total_received_e4): What do the received purchases cost?
-- metric: purchases_on_hold (total_on_hold_e4): What do the purchases on hold cost?
-- metric: purchase_lines_on_hold (lines_on_hold): How many purchase lines are on hold?
-- shown: code, name, currency, lines, lines_on_hold, total_received_exact, total_on_hold_exact
-- plot: The ten providers with the most on hold
-- bars: on hold (total_on_hold_e4), received (total_received_e4)

with
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
  select id, provider_id
  from bi_products natural left join (
    select (select provider_id from bi_products where 1 = 0) as provider_id
    from (select cast(null as bigint) as provider_id) as expected where 1 = 0
  ) as unseen
),
lines as (
  select coalesce(l.system_id, 0) as company, coalesce(l.product_id, 0) as product_id, c.name as status,
    coalesce(p.currency, 'none') as currency, l.produit_total_e4 as total, l.produit_quantite_receive_e4 as received,
    l.produit_quantite_onhold_e4 as on_hold,
    case when l.produit_quantite_onhold_e4 <> 0 then 1 when l.produit_quantite_onhold_e4 = 0 then 0 end as is_on_hold
  from bi_purchase_products l left join bi_purchase_statuses p on p.purchase_id = l.purchase_id
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
from sums s left join bi_providers v on v.id = s.provider_id
order by coalesce(s.total_on_hold, 0) desc, s.company, s.provider_id, s.status, s.currency
