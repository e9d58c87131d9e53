-- Clients by the month of their creation, and those that the mirror found deleted or restored, by the month of that.
with
-- A field that the service has never sent has no column: then `unseen_client_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_client_rows as (
  select cast(null as text) as system_id
),
unseen_client_rows as (
  select (select system_id from {{ source('bms_sync', 'bi_clients') }} where 1 = 0) as system_id
  from expected_client_rows where 1 = 0
),
client_rows as (
  select id, creation_date, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_clients') }} natural left join unseen_client_rows
),
-- A field that the service has never sent has no column: then `unseen_deleted_rows` has it, in which all is null. Its columns have the
-- types of the view's own, where these exist.
expected_deleted_rows as (
  select cast(null as text) as system_id
),
unseen_deleted_rows as (
  select (select system_id from {{ source('bms_sync', 'bi_deleted_clients') }} where 1 = 0) as system_id
  from expected_deleted_rows where 1 = 0
),
deleted_rows as (
  select id, case when trim(cast(system_id as text), '0123456789') = '' and length(cast(system_id as text)) between 1 and 18 then cast(system_id as bigint) end as system_id
  from {{ source('bms_sync', 'bi_deleted_clients') }} natural left join unseen_deleted_rows
),
months as (
  select coalesce(substr(cast(creation_date as text), 1, 7), 'none') as month, coalesce(c.system_id, 0) as company, 1 as is_new, 0 as is_lost, 0 as is_back
  from client_rows c
  union all
  select coalesce(substr(cast(e.day as text), 1, 7), 'none'), coalesce(c.system_id, d.system_id, 0), 0, case when e.change = 'deleted' then 1 else 0 end,
    case when e.change = 'restored' then 1 else 0 end
  from {{ source('bms_sync', 'bi_changes') }} e left join client_rows c on c.id = e.record_id left join deleted_rows d on d.id = e.record_id
  where e.kind = 'clients' and e.change in ('deleted', 'restored')
)
select month, company, sum(is_new) as new_clients, sum(is_lost) as lost_clients, sum(is_back) as returned_clients
from months group by month, company order by month, company
