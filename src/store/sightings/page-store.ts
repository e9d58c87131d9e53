import { sql, type SQL } from 'drizzle-orm';
import type { Sighting } from '../../diff/certify.ts';
import { parseIds } from '../../diff/page-ids.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { PAGES, DIRTY_ROWS } from '../tables/change-tables.ts';
import { SIGHTINGS } from '../tables/engine-tables.ts';
import { insertRows, omitColumns, readNumber, select } from '../../db/rows/rows.ts';

/**
 * The content of a page when it was last landed: the length of the records' text, their ids in their order, and the ticks between
 * which it was read; each record's row then equalled the page.
 */
export interface NewPage extends Omit<typeof PAGES.$inferSelect, 'kind' | 'page' | 'fields'> {
  /** Fields that at least one record had. */
  readonly fields: readonly string[];
}

export interface StoredPage extends NewPage {
  /** The ids as a list, split on reading: a million separate strings would use ten times the memory of one. */
  readonly keys: readonly string[];
}

/** Reads a kind's pages, or one of them, by their numbers. */
export async function readPages(
  db: Queryable,
  kind: string,
  page: number | null = null,
): Promise<Map<number, StoredPage>> {
  const some = page === null ? sql`` : sql` and page = ${page}`;
  const rows = await select(db, omitColumns(PAGES, 'kind'), sql`where kind = ${kind}${some}`);
  // Most pages of a list have the same fields, so each list of names is kept in memory once.
  const lists = new Map(rows.map((row) => [row.fields, [] as readonly string[]]));
  for (const text of lists.keys()) lists.set(text, JSON.parse(text) as string[]);
  return new Map(
    rows.map(({ page, fields, ...row }) => [
      page,
      {
        ...row,
        get keys() {
          return parseIds(this.ids);
        },
        fields: lists.get(fields) ?? [],
      },
    ]),
  );
}

/** Stores the content of pages in place of their former one; the next sweep parses a page without content. */
export async function savePages(tx: Transaction, kind: string, pages: ReadonlyMap<number, NewPage | null>) {
  if (pages.size === 0) return;
  await tx.write(sql`delete from pages where kind = ${kind} and page in (${sqlList([...pages.keys()])})`);
  const rows = [...pages].flatMap(([page, content]) =>
    content === null ? [] : [{ kind, page, ...content, fields: JSON.stringify(content.fields) }],
  );
  await insertRows(tx, PAGES, rows);
}

/** The ids that one list response showed, and when. It stays true even if its sweep turns out invalid. */
export interface NewSighting extends Sighting {
  readonly kind: string;
  readonly runId: number;
  /** When its request was sent: its content was true at this instant or later. */
  readonly sentAt: Date;
}

export async function saveSightings(tx: Transaction, sightings: readonly NewSighting[]): Promise<void> {
  const rows = sightings.map(({ sentAt, ...sighting }) => ({ ...sighting, seenAt: formatInstant(sentAt) }));
  await insertRows(tx, SIGHTINGS, rows);
}

/** Removes pages that were requested after a tick. */
export async function dropPagesAfter(tx: Transaction, kind: string, tick: number): Promise<void> {
  await tx.write(sql`delete from pages where kind = ${kind} and sent > ${tick}`);
}

/**
 * Ends a sweep that has read every page: removes the pages beyond its end and the dirty rows from before it. An unchanged page
 * keeps the ticks at which it was landed. The sweep found that none of the removed dirty rows is on it, and every later one has
 * a later tick. Raising the ticks would rewrite all pages.
 */
export async function prunePages(tx: Transaction, kind: string, lastPage: number, began: number) {
  await tx.query(sql`delete from pages where kind = ${kind} and page > ${lastPage}`);
  await tx.query(sql`delete from touched where kind = ${kind} and response < ${began}`);
}

/** The page of a kind's list that last showed a record; null if none is stored. */
export async function readPageOf(db: Queryable, kind: string, id: string): Promise<number | null> {
  return readNumber(db, sql`select min(page) from pages where kind = ${kind} and ${pageShows(id)}`);
}

/** Whether the column `ids` of a row has an id. */
const pageShows = (id: string): SQL => sql`replace(replace(ids, '[', ','), ']', ',') like ${`%,${id},%`}`;

/**
 * Dirty rows: rows rewritten since their page was landed, by the tick of the response that their present content or state is
 * from. Every write to an existing row is noted here: a page that lists the row must be parsed even if its digest is unchanged.
 */
export type DirtyRows = ReadonlyMap<string, number>;

export async function readDirtyRows(db: Queryable, kind: string, after: number) {
  const later = sql`where kind = ${kind} and response > ${after} order by response`;
  const rows = await select(db, DIRTY_ROWS, later);
  return new Map(rows.map((row) => [row.recordId, row.response]));
}

export async function saveDirtyRows(tx: Transaction, kind: string, rows: DirtyRows): Promise<void> {
  const dirtyRows = [...rows].map(([recordId, response]) => ({ kind, response, recordId }));
  await insertRows(tx, DIRTY_ROWS, dirtyRows);
}

/**
 * Removes dirty rows that were written again later: only the last write of a row counts. Complete sweeps remove the others;
 * where none comes, each row is kept once.
 */
export async function compactDirtyRows(session: Session): Promise<void> {
  const last = sql`select kind, max(response), record_id from touched group by kind, record_id`;
  await session.atomically((tx) =>
    tx.query(sql`delete from touched where (kind, response, record_id) not in (${last})`),
  );
}
