-- title: Clients that may be the same
-- title_fr: Clients peut-être en double
-- question: Which clients share a phone number or a name?
-- question_fr: Quels clients ont le même numéro de téléphone ou le même nom ?
-- note: Names are compared without accents, capitals, blanks and signs, phone numbers by their digits: Québec
--   Auto = QUEBEC-AUTO.
-- note_fr: Les noms sont comparés sans accents, majuscules, espaces ni signes, et les numéros de téléphone
--   par leurs chiffres : Québec Auto = QUEBEC-AUTO.
-- note: A shared number need not be a mistake: a family, a building, a head office.
-- note_fr: Un numéro commun n’est pas forcément une erreur : une famille, un immeuble, un siège social.
-- keys: found_by, value, client_id
-- labels: code, name
-- metric: duplicate_clients (listed): How often does a client share a name or a number?
-- shown: found_by, value, clients, client_id, code, name
-- plot: The ten values that the most clients share
-- by: found_by, value
-- bars: clients (listed)

with
-- Names without accents and signs. SQLite's `lower` knows no capital with an accent, and its older releases parse no deep
-- nesting: each step has a few letters.
names as (
  select id as client_id, code, name, name as value from bi_clients where coalesce(name, '') <> ''
),
without_a as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(value,
      'à', 'a'), 'â', 'a'), 'ä', 'a'), 'À', 'a'), 'Â', 'a'), 'Ä', 'a') as value
  from names
),
without_e as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(replace(replace(value,
      'é', 'e'), 'è', 'e'), 'ê', 'e'), 'ë', 'e'), 'É', 'e'), 'È', 'e'), 'Ê', 'e'), 'Ë', 'e') as value
  from without_a
),
without_i_o as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(replace(replace(value,
      'î', 'i'), 'ï', 'i'), 'Î', 'i'), 'Ï', 'i'), 'ô', 'o'), 'ö', 'o'), 'Ô', 'o'), 'Ö', 'o') as value
  from without_e
),
without_u as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(value,
      'ù', 'u'), 'û', 'u'), 'ü', 'u'), 'Ù', 'u'), 'Û', 'u'), 'Ü', 'u') as value
  from without_i_o
),
without_c_y as (
  select client_id, code, name,
    replace(replace(replace(replace(value, 'ç', 'c'), 'Ç', 'c'), 'ÿ', 'y'), 'Ÿ', 'y') as value
  from without_u
),
folded as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(replace(value,
      ' ', ''), '-', ''), '.', ''), ',', ''), '''', ''), '’', ''), '&', '') as value
  from without_c_y
),
numbers as (
  select id as client_id, code, name, phone as value from bi_clients
  union all
  select id, code, name, phone2 from bi_clients
  union all
  select id, code, name, phone_work from bi_clients
),
digits as (
  select client_id, code, name,
    replace(replace(replace(replace(replace(replace(replace(value,
      ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '+', ''), '/', '') as value
  from numbers where coalesce(value, '') <> ''
),
named as (
  select 'name' as found_by, lower(value) as value, client_id, code, name from folded
  union
  select 'phone', case when length(value) = 11 and substr(value, 1, 1) = '1' then substr(value, 2) else value end,
    client_id, code, name
  from digits
),
shared as (
  select found_by, value, count(distinct client_id) as clients from named
  where length(value) > 2 group by found_by, value having count(distinct client_id) > 1
)
select n.found_by, n.value, s.clients, 1 as listed, n.client_id, n.code, n.name
from shared s join named n on n.found_by = s.found_by and n.value = s.value
order by n.found_by, s.clients desc, n.value, n.client_id
