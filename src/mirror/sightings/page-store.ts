import { sql } from 'drizzle-orm';
import { betweenCommas } from '../../lib/text-list.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { Queryable, Transaction } from '../session/session.ts';

/** What a page showed when it was landed last. */
export interface StoredPage {
  readonly digest: string;
  /** Length of the records' text. */
  readonly bytes: number;
  /** Ids of the records, in their order, as `idsText` writes them. */
  readonly ids: string;
  /** The same as a list. */
  readonly keys: TextList;
  /** Fields that some record had. */
  readonly fields: readonly string[];
  /** Between these ticks it was read; each record's row was then what the page showed. */
  readonly sent: number;
  readonly response: number;
}

/** A page as it is remembered; `records` are the digests of its records in their order, where they are known. */
export interface NewPage extends Omit<StoredPage, 'keys'> {
  readonly page: number;
  readonly records?: string;
}

/** Reads a kind's pages by their numbers. */
export async function readPages(db: Queryable, kind: string): Promise<Map<number, StoredPage>> {
  const rows = await db.query(
    sql`select page, digest, bytes, ids, fields, sent, response from pages where kind = ${kind}`,
  );
  const fieldsOf = createFieldNames();
  return new Map(
    rows.map((row) => [
      Number(row['page']),
      {
        digest: String(row['digest']),
        bytes: Number(row['bytes']),
        sent: Number(row['sent']),
        response: Number(row['response']),
        ids: String(row['ids']),
        get keys() {
          return idsOf(this.ids);
        },
        fields: fieldsOf(String(row['fields'])),
      },
    ]),
  );
}

/** Most pages of a list have the same fields: each list of names is kept once. */
function createFieldNames(): (text: string) => readonly string[] {
  const lists = new Map<string, readonly string[]>();
  return (text) => {
    const list = lists.get(text) ?? (JSON.parse(text) as string[]);
    lists.set(text, list);
    return list;
  };
}

/** Remembers what a page showed. */
export async function savePage(
  tx: Transaction,
  kind: string,
  { page, digest, bytes, ids, fields, sent, response, records }: NewPage,
): Promise<void> {
  await tx.query(sql`
    insert into pages (kind, page, digest, bytes, ids, fields, sent, response, records)
    values (${kind}, ${page}, ${digest}, ${bytes}, ${ids}, ${JSON.stringify(fields)}, ${sent}, ${response},
      ${records ?? null})
    on conflict (kind, page) do update set
      digest = excluded.digest, bytes = excluded.bytes, ids = excluded.ids, fields = excluded.fields,
      sent = excluded.sent, response = excluded.response, records = excluded.records`);
}

/** Reads the digests of a page's records; null where there are none, or the page was landed anew since it was read. */
export async function readRecordDigests(
  db: Queryable,
  kind: string,
  { page, digest, response }: Pick<NewPage, 'page' | 'digest' | 'response'>,
): Promise<string | null> {
  const [row] = await db.query(sql`
    select records from pages
    where kind = ${kind} and page = ${page} and digest = ${digest} and response = ${response}`);
  return typeof row?.['records'] === 'string' ? row['records'] : null;
}

/** Forgets a page: the next sweep parses it. */
export async function dropPage(tx: Transaction, kind: string, page: number): Promise<void> {
  await tx.query(sql`delete from pages where kind = ${kind} and page = ${page}`);
}

/** Forgets pages that were asked for after a tick. */
export async function dropPagesAfter(tx: Transaction, kind: string, tick: number): Promise<void> {
  await tx.query(sql`delete from pages where kind = ${kind} and sent > ${tick}`);
}

/**
 * Ends a sweep that has read every page: those beyond its end are forgotten, and so are writes from before it.
 *
 * A page that showed the same as ever keeps the ticks at which it was landed: the sweep found that none of the writes that
 * are forgotten concerned it, and every later one comes after those ticks. To raise them would write all pages anew.
 */
export async function settlePages(
  tx: Transaction,
  kind: string,
  { lastPage, began }: { readonly lastPage: number; readonly began: number },
): Promise<void> {
  await tx.query(sql`delete from pages where kind = ${kind} and page > ${lastPage}`);
  await tx.query(sql`delete from touched where kind = ${kind} and response < ${began}`);
}

/** Ids as they stand in `pages` and `sightings`: a JSON array of numbers. */
export const idsText = (ids: Iterable<string>): string => `[${[...ids].join(',')}]`;

export const idsOf = (text: string): TextList => betweenCommas(text.slice(1, -1));
