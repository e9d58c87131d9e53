-- title: Purchases by provider and month
-- title_fr: Achats par fournisseur et par mois
-- question: How much was bought from each provider in each month?
-- question_fr: Combien a été acheté de chaque fournisseur chaque mois ?
-- note: A purchase counts in the month of its `date`; `none` has purchases without one.
-- note_fr: Un achat compte dans le mois de sa date (`date`); `none` regroupe les achats sans date.
-- note: Counts purchases with a status of `reports.bought` ([what counts](#what-counts)).
-- note_fr: Compte les achats dont le statut figure dans `reports.bought`.
-- note: Amounts of different currencies are not added up: each `currency` of purchases has rows of its own; `none` has
--   purchases without one.
-- note_fr: Les montants de devises différentes ne s’additionnent pas : chaque devise (`currency`) des achats
--   a ses propres lignes; `none` regroupe les achats sans devise.
-- days: first, last
-- counts: bought
-- keys: month, company, branch, provider_id, status, currency
-- time: month
-- labels: code, name
-- metric: purchases (purchases): How many purchases are there?
-- metric: purchases_before_taxes (subtotal_e4): How much was bought, before taxes?
-- metric: purchases_total (total_e4): How much was bought, with taxes?
-- shown: month, company, branch, code, name, currency, purchases, subtotal_exact, total_exact
-- plot: Purchases of the last months, before taxes, by currency
-- bars: purchases (subtotal_e4)

with
-- The first and the last day that are asked for; null = all.
asked as (
  select cast(null as text) as first, cast(null as text) as last
),
-- The statuses that count as bought; where several occur and `reports.bought` names none, each counts by itself.
counted as (
  select status, case when counts_as like '%bought%' then 'bought' else status end as name
  from bi_statuses where kind = 'purchases' and (counts_as like '%bought%'
    or not exists (select 1 from bi_statuses where kind = 'purchases' and counts_as like '%bought%'))
),
-- A field that the service never sent has no column: `unseen` then gives a null, else the type that the column has.
purchases as (
  select substr(cast(date as text), 1, 10) as day, coalesce(system_id, 0) as company, coalesce(branch_id, 0) as branch,
    coalesce(provider_id, 0) as provider_id, coalesce(nullif(cast(status as text), ''), 'none') as status,
    coalesce(nullif(cast(currency as text), ''), 'none') as currency, subtotal_e4, total_e4
  from bi_purchases natural left join (
    select (select provider_id from bi_purchases where 1 = 0) as provider_id,
      (select date from bi_purchases where 1 = 0) as date,
      (select status from bi_purchases where 1 = 0) as status,
      (select currency from bi_purchases where 1 = 0) as currency,
      (select subtotal_e4 from bi_purchases where 1 = 0) as subtotal_e4,
      (select total_e4 from bi_purchases where 1 = 0) as total_e4,
      (select branch_id from bi_purchases where 1 = 0) as branch_id,
      (select system_id from bi_purchases where 1 = 0) as system_id
    from (select cast(null as bigint) as provider_id, cast(null as text) as date, cast(null as text) as status,
      cast(null as text) as currency, cast(null as bigint) as subtotal_e4, cast(null as bigint) as total_e4,
      cast(null as bigint) as branch_id, cast(null as bigint) as system_id) as expected where 1 = 0
  ) as unseen
),
months as (
  select coalesce(substr(p.day, 1, 7), 'none') as month, p.company, p.branch, p.provider_id, c.name as status, p.currency,
    count(*) as purchases, cast(sum(p.subtotal_e4) as bigint) as subtotal, cast(sum(p.total_e4) as bigint) as total
  from purchases p join counted c on c.status = p.status cross join asked a
  where (a.first is null or p.day >= a.first) and (a.last is null or p.day <= a.last)
  group by coalesce(substr(p.day, 1, 7), 'none'), p.company, p.branch, p.provider_id, c.name, p.currency
)
select m.month, m.company, m.branch, m.provider_id, m.status, m.currency, v.code, v.name, m.purchases,
  m.subtotal as subtotal_e4,
  case when m.subtotal < 0 then '-' else '' end || (abs(m.subtotal) / 10000) || '.'
    || substr(cast(10000 + abs(m.subtotal) % 10000 as text), 2) as subtotal_exact,
  m.total as total_e4,
  case when m.total < 0 then '-' else '' end || (abs(m.total) / 10000) || '.'
    || substr(cast(10000 + abs(m.total) % 10000 as text), 2) as total_exact
from months m left join bi_providers v on v.id = m.provider_id
order by m.month, m.company, m.branch, m.provider_id, m.status, m.currency
