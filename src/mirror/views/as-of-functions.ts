import { sql } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import type { Transaction } from '../session/session.ts';
import { TABLES_SCHEMA, VIEWS_SCHEMA, identifier, literal, placeOf } from '../session/sql-text.ts';
import { OWN_COLUMNS } from '../tables/kind-table.ts';
import { readTexts } from '../tables/rows.ts';
import { AS_OF_DECODERS } from './as-of-decoders.ts';
import { selectOf } from './draw-views.ts';
import { grantedRole } from './reader-role.ts';
import { kindViews } from './views.ts';

const END = '_as_of';
const nameOf = (kind: Kind): string => `bi_${kind.name}${END}`;
const placeOfFunction = (name: string): string => `${VIEWS_SCHEMA}.${identifier(name)}(timestamptz)`;

/**
 * Creates PostgreSQL's functions `bi_<kind>_as_of(timestamptz)`: the rows of a kind's view as they were at an instant, with
 * its columns and types. Runs after the views were created; where a view has grown, its function grows with it.
 *
 * They run with the rights of their owner, as views do, and only the reader role may call them, and whom an owner lets.
 */
export async function drawAsOf(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  const role = await grantedRole(tx);
  const functions: string[] = [];
  for (const kind of kinds) {
    const [view] = kindViews(kind, 'postgres');
    const present = view === undefined ? [] : [...(await tx.columnsOf(view.name))];
    if (view === undefined || present.length === 0) continue;
    const then = `from (${rowsThen(kind)}) ${identifier(kind.name)}`;
    functions.push(defineAsOf(kind, view.name, { select: selectOf({ ...view, from: then }, present), role }));
  }
  await tx.execute([AS_OF_DECODERS, ...functions].join('\n'));
}

interface Definition {
  readonly select: string;
  /** The role that may call it, besides the owner. */
  readonly role: string | null;
}

function defineAsOf(kind: Kind, view: string, { select, role }: Definition): string {
  const place = placeOfFunction(nameOf(kind));
  return `
    create or replace function ${place} returns setof ${placeOf(view)}
    language sql stable security definer set search_path = ${TABLES_SCHEMA}, pg_temp as ${literal(select)};
    revoke execute on function ${place} from public;
    ${role === null ? '' : `grant execute on function ${place} to ${identifier(role)};`}`;
}

/** Drops these functions: they depend on the views, which are about to change. */
export async function dropAsOf(tx: Transaction): Promise<void> {
  const places = (await readTexts(tx, ownFunctions)).map(placeOfFunction);
  if (places.length > 0) await tx.execute(`drop function ${places.join(', ')}`);
}

const ownFunctions = sql`
  select proname from pg_proc
  where pronamespace = ${VIEWS_SCHEMA}::regnamespace and prosecdef and left(proname, 3) = 'bi_'
    and right(proname, ${END.length}) = ${END} and pg_get_function_identity_arguments(oid) = 'timestamp with time zone'`;

/** The rows of a kind's table as they were at the instant `$1`, under the names of its columns. */
function rowsThen(kind: Kind): string {
  const columns = [
    ...kind.fields.map((field) => ({ name: field.name, value: thenValue(kind, field) })),
    ...OWN_COLUMNS.map((name) => ({ name, value: OWN[name] ?? `k.${name}` })),
  ];
  const named = columns.map(({ name, value }) => `${value} as ${identifier(name)}`);
  const isOfRecord = `kind = ${literal(kind.name)} and record_id = k.id::text`;
  return `
    select ${named.join(', ')}
    from ${TABLES_SCHEMA}.${identifier(kind.name)} k
    left join ${TABLES_SCHEMA}.changes c on c.seq = (
      select min(seq) from ${TABLES_SCHEMA}.changes where ${isOfRecord} and observed_at > $1)
    cross join lateral (select case when c.seq is not null then ${decoder('record')}(c.before) end offset 0) b(record)
    cross join lateral (
      select max(observed_at) from ${TABLES_SCHEMA}.changes where ${isOfRecord} and observed_at <= $1) l(changed_at)
    where k._first_seen_at <= $1
      and case when c.seq is null then k._deleted_at is null else c.before is not null end`;
}

const OWN: Readonly<Partial<Record<(typeof OWN_COLUMNS)[number], string>>> = {
  _raw: 'coalesce(c.before, k._raw)',
  _changed_at: 'coalesce(l.changed_at, k._first_seen_at)',
  _deleted_at: 'null::timestamptz(3)',
};

/** The present value where nothing happened since; else that of the record before the first event. */
function thenValue(kind: Kind, field: Field): string {
  const column = `k.${identifier(field.name)}`;
  if (field.name === 'id') return column;
  return `case when c.seq is null then ${column} else ${decoded(kind, field)} end`;
}

function decoded(kind: Kind, field: Field): string {
  const { textOf } = field;
  if (textOf === undefined) return decode(field);
  const lost = kind.fields.find(({ name }) => name === textOf);
  if (lost === undefined) return 'null::text';
  const blanks = BLANKS[lost.type] ?? `array['']`;
  return `case when ${decode(lost)} is null then ${decoder('lost_text')}(${member(lost)}, ${blanks}) end`;
}

const BLANK = `array['', '0000-00-00']`;
/** Texts that mean "none" and are kept nowhere. */
const BLANKS: Readonly<Partial<Record<FieldType, string>>> = {
  decimal: BLANK,
  date: BLANK,
  time: BLANK,
  timestamp: `${BLANK} || '0000-00-00 00:00:00'::text`,
};
const member = ({ name }: Field): string => `b.record -> ${literal(name)}`;
const decoder = (name: string): string => `${TABLES_SCHEMA}.json_${name}`;

function decode(field: Field): string {
  const type = columnType(field);
  const scale = type === 'decimal' ? `, ${field.scale ?? 0}` : '';
  return `${decoder(type)}(${member(field)}${scale})`;
}
