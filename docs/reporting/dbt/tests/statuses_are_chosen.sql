{{ config(enabled=var('shop', false)) }}
-- Reports give each status apart until the settings `reports.sold`, `.owed` and `.bought` name those that count.
select kind from {{ source('bms_sync', 'bi_statuses') }}
where kind in ('sales', 'purchases')
group by kind
having count(*) > 1 and (sum(case when counts_as like '%sold%' or counts_as like '%bought%' then 1 else 0 end) = 0
  or kind = 'sales' and sum(case when counts_as like '%owed%' then 1 else 0 end) = 0)
