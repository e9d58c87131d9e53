import { sql } from 'drizzle-orm';
import type { Sighting } from '../../diff/certify.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks, sqlList } from '../../db/session/sql-text.ts';
import { SIGHTINGS } from '../tables/engine-tables.ts';
import { pick, readNumber, readTexts, select, without } from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';

/** A response as certification uses it, with the instant at which its request was sent. */
export interface SeenPage extends Sighting {
  readonly seenAt: string;
}

const SWEEPS_KEPT = 3;
const READ_TOGETHER = 500;

const SEEN_PAGE = without(SIGHTINGS, 'kind', 'run_id');

/**
 * Every kept sighting of a kind, in the order of answers.
 * @param pages The last known ids of each page: most pages show the same ids again, which then share one text.
 */
export async function readSightings(
  db: Queryable,
  kind: string,
  pages: ReadonlyMap<number, Pick<Sighting, 'ids'>> = new Map(),
): Promise<SeenPage[]> {
  const seen: SeenPage[] = [];
  const shown = new Map<number, string>();
  for (const [page, { ids }] of pages) shown.set(page, ids);
  for (let after: number | null = -1; after !== null;) {
    const next = sql`
      where kind = ${kind} and answered > ${after} order by answered limit ${READ_TOGETHER}`;
    const rows: readonly SeenPage[] = await select(db, SEEN_PAGE, next);
    for (const row of rows) {
      const before = shown.get(row.page);
      const ids = before === row.ids ? before : row.ids;
      shown.set(row.page, ids);
      seen.push({ ...row, ids });
    }
    after = rows.length < READ_TOGETHER ? null : (seen.at(-1)?.answered ?? null);
  }
  return seen;
}

const FIRST = pick(SIGHTINGS, 'answered', 'seen_at');

/** The first of the kept responses up to a tick that showed a record; null if none has. */
export async function readFirstSighting(
  db: Queryable,
  { kind, id }: { readonly kind: string; readonly id: string },
  tick: number,
): Promise<RowOf<typeof FIRST> | null> {
  const shown = sql`replace(replace(ids, '[', ','), ']', ',') like ${`%,${id},%`}`;
  const first = sql`where kind = ${kind} and answered <= ${tick} and ${shown} order by answered limit 1`;
  return (await select(db, FIRST, first))[0] ?? null;
}

/** The tick of the last response of the oldest sweep that is kept, up to a tick; null if there is no sweep. */
export async function readOldestSweepEnd(db: Queryable, kind: string, tick: number): Promise<number | null> {
  const known = sql`kind = ${kind} and answered <= ${tick}`;
  return readNumber(
    db,
    sql`
      select max(answered) from sightings
      where ${known} and sweep = (select min(sweep) from sightings where ${known})`,
  );
}

/** An invalid sweep proves no end of the list; its sightings stay true. */
export async function voidEnds(tx: Transaction, kind: string, sweep: number): Promise<void> {
  await tx.query(sql`update sightings set end_rows = null where kind = ${kind} and sweep = ${sweep}`);
}

/** The tick up to which sightings are to be removed, those before the last three sweeps; null if there are none. */
export async function oldSightings(db: Queryable, kind: string): Promise<number | null> {
  const oldest = sql`
    select min(sweep) from (
      select distinct sweep from sightings where kind = ${kind} and sweep is not null
      order by sweep desc limit ${SWEEPS_KEPT}) as kept`;
  return readNumber(db, oldest);
}

/** Removes the sightings from before the last three sweeps of a kind. */
export async function pruneSightings(tx: Transaction, kind: string): Promise<void> {
  const oldest = await oldSightings(tx, kind);
  if (oldest === null) return;
  await tx.query(sql`delete from sightings where kind = ${kind} and answered <= ${oldest}`);
}

/** Stores those of these ids that have a live row: the rows are ours, although soon no kept list response shows them. */
export async function saveUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`
      insert into unlisted_rows (kind, record_id)
      select ${kind}, cast(k.id as text) from ${sql.identifier(kind)} as k
      where k.id in (${sqlList(some)}) and k._deleted_at is null
      on conflict do nothing`);
}

/** Removes ids that a list shows again, or whose rows have become tombstones. */
export async function forgetUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`delete from unlisted_rows where kind = ${kind} and record_id in (${sqlList(some)})`);
}

export async function readUnlisted(db: Queryable, kind: string): Promise<string[]> {
  return readTexts(db, sql`select record_id from unlisted_rows where kind = ${kind}`);
}
