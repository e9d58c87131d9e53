import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { recordDecoder } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json/json.ts';
import { readMeta } from '../kinds/meta.ts';
import type { Queryable, Row } from '../../db/session/session.ts';
import { optionalTimestamp, text, timestamp } from '../../db/rows/engine-column.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { OWN_COLUMNS, writtenColumns, writtenRow } from '../tables/kind-table.ts';
import { pick, readRows, readTexts, selectOne } from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';
import { batchesById } from './record-store.ts';

/** The instants between which a kind's past is known. */
export interface KnownPast {
  /** When the first record of the kind was read; null = none was. */
  readonly firstSeenAt: string | null;
  /** Since when the whole list is known; null = it is not yet. */
  readonly baselineAt: string | null;
  /** Change events before this instant were removed (`retention.changesDays`); null = none were. */
  readonly forgottenBefore: string | null;
}

export async function readKnownPast(db: Queryable, kind: string): Promise<KnownPast> {
  const first = sql`select min(_first_seen_at) from ${sql.identifier(kind)}`;
  const state = await selectOne(db, pick(KIND_STATE, 'baseline_at'), sql`where kind = ${kind}`);
  return {
    firstSeenAt: (await readTexts(db, first))[0] ?? null,
    baselineAt: state?.baselineAt ?? null,
    forgottenBefore: await readMeta(db, 'changes.forgotten_before'),
  };
}

const PAST_RECORD = [text('id'), text('record'), timestamp('first_seen_at'), optionalTimestamp('changed_at')];

const RECORDS_A_QUERY = 1_000;

/**
 * Yields the rows of a kind as they were at an instant, in the order of their ids, in batches: the present rows, with the
 * events after the instant undone, decoded as landing decodes them. A row has the columns of the kind's table in SQLite, with
 * the twins of decimals.
 * @param kind The kind as mirrored.
 * @param instant UTC, as `instantText` writes it.
 */
export async function* rowsAsOf(db: Queryable, kind: Kind, instant: string): AsyncGenerator<readonly Row[]> {
  const decode = recordDecoder(kind);
  const names = writtenColumns(kind, 'sqlite');
  const toRow = ({ id, record, firstSeenAt, changedAt }: RowOf<typeof PAST_RECORD>): Row => {
    const { values } = decode(parseObject(record));
    const known: Row = { _raw: record, _first_seen_at: firstSeenAt, _changed_at: changedAt ?? firstSeenAt };
    const own = OWN_COLUMNS.map((name) => known[name] ?? null);
    const written = writtenRow(kind, 'sqlite', values, own);
    return { ...Object.fromEntries(names.map((name, index) => [name, written[index] ?? null])), id };
  };
  const read = (after: string) => readRows(db, PAST_RECORD, pastRecords(kind.name, instant, after));
  for await (const records of batchesById(RECORDS_A_QUERY, read)) yield records.map(toRow);
}

/** `observed_at` never goes back, so the first event after the instant is the one with the lowest `seq`. */
const pastRecords = (kind: string, instant: string, after: string): SQL => sql`
  select cast(k.id as text) as id, coalesce(c.before, k._raw) as record, k._first_seen_at as first_seen_at, (
      select max(e.observed_at) from changes e
      where e.kind = ${kind} and e.record_id = cast(k.id as text) and e.observed_at <= ${instant}) as changed_at
  from ${sql.identifier(kind)} k
  left join changes c on c.seq = (
    select min(seq) from changes
    where kind = ${kind} and record_id = cast(k.id as text) and observed_at > ${instant})
  where k.id > cast(${after} as bigint) and k._first_seen_at <= ${instant}
    and case when c.seq is null then k._deleted_at is null else c.before is not null end
  order by k.id limit ${RECORDS_A_QUERY}`;
