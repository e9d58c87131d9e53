-- Clients by the month of their creation, and those that the mirror found deleted or restored, by the month of that.
with months as (
  select coalesce(substr(cast(creation_date as text), 1, 7), 'none') as month, 1 as is_new, 0 as is_lost, 0 as is_back from {{ source('bms_sync', 'bi_clients') }}
  union all
  select coalesce(substr(cast(day as text), 1, 7), 'none'), 0, case when change = 'deleted' then 1 else 0 end,
    case when change = 'restored' then 1 else 0 end
  from {{ source('bms_sync', 'bi_changes') }} where kind = 'clients' and change in ('deleted', 'restored')
)
select month, sum(is_new) as new_clients, sum(is_lost) as lost_clients, sum(is_back) as returned_clients
from months group by month order by month
