import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { parseObject, type JsonObject } from '../lib/json/json.ts';
import { END_OF_DAY, readClockTime } from '../lib/time/clock.ts';
import { readMeta } from '../store/kinds/meta.ts';
import type { Queryable, Row, Values } from '../db/session/session.ts';
import { KIND_STATE } from '../store/tables/engine-tables.ts';
import { nestedColumns, writtenColumns, type NestedTable } from '../store/tables/kind-table.ts';
import { decodeStored } from '../store/schema/redecode.ts';
import { orNull, pickColumns, readRows, readTexts, selectOne, type RowOf } from '../db/rows/rows.ts';
import { createElementDecoder, idsIn } from '../store/records/nested-rows.ts';
import { batchesById } from '../db/rows/slices.ts';

/** The instants between which a kind's past is known. */
export type KnownPast = Awaited<ReturnType<typeof readKnownPast>>;

export async function readKnownPast(db: Queryable, kind: string, instant: string) {
  const seen = sql`select _first_seen_at from ${sql.identifier(kind)} where _first_seen_at <= ${instant} limit 1`;
  const first = sql`select coalesce((${seen}), (select min(_first_seen_at) from ${sql.identifier(kind)}))`;
  const state = await selectOne(db, pickColumns(KIND_STATE, 'baselineAt'), sql`where kind = ${kind}`);
  return {
    /** When the first record of the kind was read, or another one before the instant; null = none was. */
    firstSeenAt: (await readTexts(db, first))[0] ?? null,
    /** Since when the whole list is known; null = it is not yet. */
    baselineAt: state?.baselineAt ?? null,
    /** Change events before this instant were removed (`retention.changesDays`); null = none were. */
    forgottenBefore: await readMeta(db, 'changes.forgotten_before'),
  };
}

/** The rows to read, and the instant. */
export interface PastRows {
  /** The kind as mirrored. */
  readonly kind: Kind;
  /** The nested array whose elements are wanted; null = the records themselves. */
  readonly nested: NestedTable | null;
  /** UTC, as `formatInstant` writes it. */
  readonly instant: string;
  /** Of these records only, which are found by their index; left out = of all. */
  readonly ids?: readonly string[] | undefined;
}

const PAST_RECORD = { id: String, record: String, firstSeenAt: String, changedAt: orNull(String) };

const RECORDS_A_QUERY = 1_000;

/**
 * Yields the rows of a kind as they were at an instant, in the order of their ids, in batches: the present rows, with the
 * events after the instant undone, decoded as landing decodes them. A row has the columns of the kind's table in SQLite, with
 * the columns derived from decimals, or those of the table of the nested array.
 */
export async function* rowsAsOf(db: Queryable, past: PastRows): AsyncGenerator<readonly Row[]> {
  const toRows = past.nested === null ? recordRows(past.kind) : elementRows(past.nested);
  const read = (after: string) => readRows(db, PAST_RECORD, pastRecords(db, past, after));
  for await (const records of batchesById(RECORDS_A_QUERY, read)) yield toRows(records);
}

type ToRows = (records: readonly RowOf<typeof PAST_RECORD>[]) => readonly Row[];

function recordRows(kind: Kind): ToRows {
  const names = writtenColumns(kind, 'sqlite');
  return (records) => {
    const rows = records.map(({ id, record: _raw, firstSeenAt, changedAt }) => {
      return { id, _raw, _first_seen_at: firstSeenAt, _changed_at: changedAt ?? firstSeenAt };
    });
    return decodeStored(kind, 'sqlite', rows, []).map(({ id, record, row }) => {
      const past = toRow(names, row);
      return { minutes: minutesOf(kind, past, record), ...past, id };
    });
  };
}

/** As the view computes them. */
function minutesOf(kind: Kind, row: Row, raw: JsonObject): number | null {
  if (kind.minutes === undefined) return null;
  const [start = NaN, end = NaN] = [kind.minutes.from, kind.minutes.to].map((name) => {
    const [hour, minute, second] = String(row[name] ?? '')
      .split(':')
      .map(Number);
    return (hour ?? NaN) * 3600 + (minute ?? NaN) * 60 + (second ?? NaN);
  });
  const written = raw[kind.minutes.to];
  const isWholeDay = end === start && typeof written === 'string' && readClockTime(written) === END_OF_DAY;
  const seconds = isWholeDay ? 86_400 : (end - start + 86_400) % 86_400;
  return Number.isNaN(seconds) ? null : Math.floor(seconds / 60);
}

function elementRows(table: NestedTable): ToRows {
  const names = nestedColumns(table, 'sqlite').map((column) => column.name);
  return (records) => {
    const { read } = createElementDecoder(table, 'sqlite', []);
    const elements = records.flatMap(({ id, record }) => read({ id, record: parseObject(record) }));
    return elements.map((row) => toRow(names, row));
  };
}

const toRow = (names: readonly string[], values: Values): Row =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));

/** `observed_at` never goes back, so the first event after the instant is the one with the lowest `seq`. */
const pastRecords = (db: Queryable, { kind: { name: kind }, instant, ids }: PastRows, after: string) => sql`
  select cast(k.id as text) as id, coalesce(c.before, k._raw) as record, k._first_seen_at as first_seen_at, (
      select max(e.observed_at) from changes e
      where e.kind = ${kind} and e.record_id = cast(k.id as text) and e.observed_at <= ${instant}) as changed_at
  from ${sql.identifier(kind)} k
  left join changes c on c.seq = (
    select min(seq) from changes
    where kind = ${kind} and record_id = cast(k.id as text) and observed_at > ${instant})
  where k.id > cast(${after} as bigint) and k._first_seen_at <= ${instant}
    and case when c.seq is null then k._deleted_at is null else c.before is not null end
    ${ids === undefined ? sql`` : sql`and k.id in ${idsIn(db, ids)}`}
  order by k.id limit ${RECORDS_A_QUERY}`;
