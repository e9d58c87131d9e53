import { sql, type SQL } from 'drizzle-orm';
import type { RecordFacts } from '../../diff/plan-repairs.ts';
import type { Queryable } from '../../db/session/session.ts';
import { inChunks, sqlList } from '../../db/session/sql-text.ts';
import { CHANGES, DELETIONS } from '../tables/change-tables.ts';
import { pick, readTexts, select, type RowOf } from '../../db/rows/rows.ts';

const EVENT = pick(CHANGES, 'record_id', 'change', 'observed_at', 'after');

/** A change event of a record, with the content after it. */
type KeptEvent = RowOf<typeof EVENT>;

/** Facts about a record from the engine's tables, without sightings. */
export interface RecordEvidence {
  readonly firstEvent: KeptEvent | null;
  readonly lastEvent: KeptEvent | null;
  /** When its deletion was concluded; null if no conclusion is kept. */
  readonly goneAt: string | null;
  /** True if it is in `unlisted_rows`, or an entry of the outbox created it. */
  readonly isNoted: boolean;
  /** True if an entry of the outbox concerns it. */
  readonly isInOutbox: boolean;
  /** True if an open or closed issue says that it could not become a row. */
  readonly isQuarantined: boolean;
}

/** Reads the facts about some records; every id has an entry in the map. */
export async function readEvidence(
  db: Queryable,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordEvidence>> {
  const books = new Map<string, RecordEvidence>();
  for (const some of inChunks(ids))
    for (const [id, evidence] of await readSome(db, kind, some)) books.set(id, evidence);
  return books;
}

async function readSome(db: Queryable, kind: string, ids: readonly string[]) {
  const isOne = sql`kind = ${kind} and record_id in (${sqlList(ids)})`;
  const idsIn = async (statement: SQL): Promise<ReadonlySet<string>> =>
    new Set(await readTexts(db, statement));
  const ends = sql`
    where seq in (
      select min(seq) from changes where ${isOne} group by record_id
      union select max(seq) from changes where ${isOne} group by record_id)
    order by seq desc`;
  const events = await select(db, EVENT, ends);
  const concluded = sql`where ${isOne} and concluded_at is not null`;
  const gone = await select(db, pick(DELETIONS, 'record_id', 'concluded_at'), concluded);
  const noted = await idsIn(sql`
    select record_id from unlisted_rows where ${isOne} union select record_id from links where ${isOne}`);
  const inOutbox = await idsIn(sql`select distinct record_id from outbox where ${isOne}`);
  const quarantined = await idsIn(sql`
    select distinct record_id from issues where ${isOne} and code in ('two_versions', 'too_deep')`);
  const goneAt = new Map(gone.map(({ recordId, concludedAt }) => [recordId, concludedAt]));
  return ids.map((id): readonly [string, RecordEvidence] => {
    const own = events.filter(({ recordId }) => recordId === id);
    const is = { isNoted: noted.has(id), isInOutbox: inOutbox.has(id), isQuarantined: quarantined.has(id) };
    const gone = { goneAt: goneAt.get(id) ?? null };
    return [id, { lastEvent: own.at(0) ?? null, firstEvent: own.at(-1) ?? null, ...gone, ...is }];
  });
}

/**
 * The facts by which a row that is missing or that the list lacks is judged; a record without books has no event. `wasShown`:
 * a list response showed it, or an entry of the outbox is known to have landed it.
 */
export function factsOf(
  own: RecordEvidence | undefined,
  { wasShown, ...may }: { wasShown: boolean; mayNeverHaveLanded?: boolean; mayBeForgotten?: boolean },
): RecordFacts {
  return {
    lastChange: own?.lastEvent?.change ?? null,
    isProvenGone: (own?.goneAt ?? null) !== null,
    wasLanded: wasShown || own?.isNoted === true,
    mayNeverHaveLanded: may.mayNeverHaveLanded ?? false,
    mayBeForgotten: may.mayBeForgotten ?? false,
  };
}
