import { TABLES_SCHEMA } from '../session/sql-text.ts';

/** Functions of PostgreSQL that read a member of a record as landing does (`diff/decode-record.ts`); none ever raises. */

const S = TABLES_SCHEMA;

/**
 * Escapes of NUL and of half a character, of which PostgreSQL makes no text: it refuses the whole document. `json_record`
 * replaces each by its digits between marks that no service sends. An escaped backslash is no such escape.
 */
const UNSTORABLE = String.raw`(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})`;
const [MARK, END_MARK] = [String.raw`\u0001\u0002\u0001`, String.raw`\u0002\u0001\u0002`];
const quotedBackslashes = (text: string): string => text.replaceAll('\\', '\\\\');
const MARKED = `'${quotedBackslashes(MARK)}(....)${quotedBackslashes(END_MARK)}'`;
const isStorable = `strpos(v::text, '${MARK}') = 0`;

const define = (signature: string, returns: string, body: string): string => `
create or replace function ${S}.json_${signature} returns ${returns} language sql immutable parallel safe as $decoder$
${body}
$decoder$;`;

const DATE = `'^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'`;
const TIME = `'^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$'`;
const NUMBER = String.raw`'^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$'`;

const [LONGEST_TOKEN, LONGEST_DECIMAL, LARGEST_EXPONENT] = [5_000, 1_000, 400];

export const AS_OF_DECODERS = [
  define(
    'record(t text)',
    'json',
    `select case when strpos(t, '\\u') = 0 then t::json
      else regexp_replace(t, '${UNSTORABLE}', '\\1${quotedBackslashes(MARK)}\\2${quotedBackslashes(END_MARK)}', 'g')::json end`,
  ),
  define(
    'token(v json)',
    'text',
    `select case json_typeof(v) when 'number' then v::text
      when 'string' then case when ${isStorable} then v #>> '{}' end end`,
  ),
  define('string(v json)', 'text', `select case json_typeof(v) when 'string' then ${S}.json_token(v) end`),
  define(
    'integer(v json)',
    'bigint',
    `select case when t ~ '^(0|-?[1-9][0-9]{0,18})$' then
      case when length(t) < 19 or t::numeric between -9223372036854775808 and 9223372036854775807 then t::bigint end end
    from (select ${S}.json_token(v)) x(t)`,
  ),
  define(
    'flag(v json)',
    'integer',
    `select case when v::text in ('1', '"1"', 'true') then 1 when v::text in ('0', '"0"', 'false') then 0 end`,
  ),
  define(
    'shortest(t text)',
    'numeric',
    `select case when length(t) <= ${LONGEST_TOKEN} and t ~ ${NUMBER} then
      case when abs(coalesce(substring(t from '[eE](.*)$'), '0')::integer) <= ${LARGEST_EXPONENT} then trim_scale(t::numeric) end end`,
  ),
  define(
    'decimal(v json, places integer)',
    'numeric',
    `select case when length(n::text) > ${LONGEST_DECIMAL} then null when scale(n) < places then round(n, places) else n end
    from (select ${S}.json_shortest(${S}.json_token(v))) x(n)`,
  ),
  define(
    'calendar_date(t text)',
    'date',
    `select case when t ~ ${DATE} and t >= '0001' then
      case when substr(t, 9, 2)::integer <= extract(day from (substr(t, 1, 7) || '-01')::date + interval '1 month' - interval '1 day')
      then t::date end end`,
  ),
  define('date(v json)', 'date', `select ${S}.json_calendar_date(${S}.json_string(v))`),
  define('clock_time(t text)', 'time', `select case when t ~ ${TIME} then t::time end`),
  define(
    'time(v json)',
    'time',
    `select ${S}.json_clock_time(case when length(t) = 5 then t || ':00' else t end) from (select ${S}.json_string(v)) x(t)`,
  ),
  define(
    'timestamp(v json)',
    'timestamp',
    `select case when substr(t, 11, 1) in (' ', 'T') then
      ${S}.json_calendar_date(left(t, 10)) + ${S}.json_clock_time(substr(t, 12)) end
    from (select ${S}.json_string(v)) x(t)`,
  ),
  define(
    'text(v json)',
    'text',
    `select case json_typeof(v) when 'boolean' then v::text else ${S}.json_token(v) end`,
  ),
  `
create or replace function ${S}.json_canonical(v json) returns text language plpgsql immutable parallel safe as $decoder$
begin
  return case json_typeof(v)
    when 'object' then '{' || coalesce((
      select string_agg(to_json(key)::text || ':' || ${S}.json_canonical(value), ',' order by key collate "C")
      from json_each(v)), '') || '}'
    when 'array' then '[' || coalesce((
      select string_agg(${S}.json_canonical(value), ',' order by place)
      from json_array_elements(v) with ordinality e(value, place)), '') || ']'
    when 'number' then coalesce(${S}.json_shortest(v::text)::text, v::text)
    else v::text end;
end $decoder$;`,
  define(
    'json(v json)',
    'text',
    `select case when json_typeof(v) <> 'null' and ${isStorable} then ${S}.json_canonical(v) end`,
  ),
  define(
    'lost_text(v json, blanks text[])',
    'text',
    String.raw`select case
      when json_typeof(v) = 'null' then null
      when json_typeof(v) <> 'string' then regexp_replace(v::text, ${MARKED}, '\\u\1', 'g')
      when ${isStorable} and v #>> '{}' <> all (blanks) then v #>> '{}' end`,
  ),
].join('\n');
