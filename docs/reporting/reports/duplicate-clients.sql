-- Clients that share a name or a phone number with another one.
with
written as (
  select id as client_id, code, name, name as value from bi_clients where coalesce(name, '') <> ''
),
folded_1 as (
  select client_id, code, name, replace(replace(replace(replace(replace(replace(value, 'à', 'a'), 'â', 'a'), 'ä', 'a'), 'À', 'a'), 'Â', 'a'), 'Ä', 'a') as value from written
),
folded_2 as (
  select client_id, code, name, replace(replace(replace(replace(replace(replace(replace(replace(value, 'é', 'e'), 'è', 'e'), 'ê', 'e'), 'ë', 'e'), 'É', 'e'), 'È', 'e'), 'Ê', 'e'), 'Ë', 'e') as value from folded_1
),
folded_3 as (
  select client_id, code, name, replace(replace(replace(replace(replace(replace(replace(replace(value, 'î', 'i'), 'ï', 'i'), 'Î', 'i'), 'Ï', 'i'), 'ô', 'o'), 'ö', 'o'), 'Ô', 'o'), 'Ö', 'o') as value from folded_2
),
folded_4 as (
  select client_id, code, name, replace(replace(replace(replace(replace(replace(value, 'ù', 'u'), 'û', 'u'), 'ü', 'u'), 'Ù', 'u'), 'Û', 'u'), 'Ü', 'u') as value from folded_3
),
folded_5 as (
  select client_id, code, name, replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(value, 'ç', 'c'), 'Ç', 'c'), 'ÿ', 'y'), 'Ÿ', 'y'), ' ', ''), '-', ''), '.', ''), ',', ''), '''', ''), '’', ''), '&', '') as value from folded_4
),
phones as (
  select id as client_id, code, name, replace(replace(replace(replace(replace(replace(replace(phone, ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '+', ''), '/', '') as value from bi_clients where coalesce(phone, '') <> ''
  union
  select id as client_id, code, name, replace(replace(replace(replace(replace(replace(replace(phone2, ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '+', ''), '/', '') as value from bi_clients where coalesce(phone2, '') <> ''
  union
  select id as client_id, code, name, replace(replace(replace(replace(replace(replace(replace(phone_work, ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '+', ''), '/', '') as value from bi_clients where coalesce(phone_work, '') <> ''
),
named as (
  select 'name' as found_by, lower(value) as value, client_id, code, name from folded_5
  union
  select 'phone', case when length(value) = 11 and substr(value, 1, 1) = '1' then substr(value, 2) else value end,
    client_id, code, name
  from phones
),
shared as (
  select found_by, value, count(distinct client_id) as clients from named
  where length(value) > 2 group by found_by, value having count(distinct client_id) > 1
)
select n.found_by, n.value, s.clients, 1 as listed, n.client_id, n.code, n.name
from shared s join named n on n.found_by = s.found_by and n.value = s.value
order by n.found_by, s.clients desc, n.value, n.client_id
