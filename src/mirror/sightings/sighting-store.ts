import { sql } from 'drizzle-orm';
import type { Sighting } from '../../diff/certify.ts';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Row, Transaction, Values } from '../session/session.ts';

/** The ids that one list response showed, and when. It stays true even if its sweep turns out invalid. */
export interface NewSighting {
  readonly kind: string;
  readonly runId: number;
  /** The tick at which its sweep began; null if only some pages were read. */
  readonly sweep: number | null;
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Every id on the page, those of quarantined rows too, as `idsText` writes them. */
  readonly ids: string;
  /** The number of rows on the page, including those without an id. */
  readonly rows: number;
  /** An upper bound for the number of rows in the list, if this response proves the list's end. */
  readonly endRows: number | null;
  readonly total: number | null;
  /** When its request was sent: its content was true at this instant or later. */
  readonly sentAt: Date;
}

/** A response as certification uses it, with the instant at which its request was sent. */
export interface SeenPage extends Sighting {
  readonly seenAt: string;
}

const SWEEPS_KEPT = 3;
const READ_TOGETHER = 500;

const COLUMNS = [
  ...['kind', 'answered', 'sent', 'run_id', 'sweep', 'page', 'ids', 'rows', 'end_rows', 'total'],
  'seen_at',
];

export async function saveSightings(tx: Transaction, sightings: readonly NewSighting[]): Promise<void> {
  await tx.append({ table: 'sightings', columns: COLUMNS, rows: sightings.map(valuesOf) });
}

function valuesOf({ sentAt, ...sighting }: NewSighting): Values {
  const { kind, answered, sent, runId, sweep, page, ids, rows, endRows, total } = sighting;
  return [kind, answered, sent, runId, sweep, page, ids, rows, endRows, total, instantText(sentAt)];
}

/**
 * Every kept sighting of a kind, in the order of answers.
 *
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
    const rows: readonly Row[] = await db.query(sql`
      select sweep, sent, answered, page, rows, ids, end_rows, total, seen_at from sightings
      where kind = ${kind} and answered > ${after} order by answered limit ${READ_TOGETHER}`);
    for (const row of rows) seen.push(seenPage(row, shown));
    after = rows.length < READ_TOGETHER ? null : (seen.at(-1)?.answered ?? null);
  }
  return seen;
}

/** An invalid sweep proves no end of the list; its sightings stay true. */
export async function voidEnds(tx: Transaction, kind: string, sweep: number): Promise<void> {
  await tx.query(sql`update sightings set end_rows = null where kind = ${kind} and sweep = ${sweep}`);
}

/** The tick up to which sightings are to be removed, those before the last three sweeps; null if there are none. */
export async function oldSightings(db: Queryable, kind: string): Promise<number | null> {
  const [oldest] = await db.query(sql`
    select min(sweep) as sweep from (
      select distinct sweep from sightings where kind = ${kind} and sweep is not null
      order by sweep desc limit ${SWEEPS_KEPT}) as kept`);
  return typeof oldest?.['sweep'] === 'number' ? oldest['sweep'] : null;
}

/** Removes the sightings from before the last three sweeps of a kind. */
export async function pruneSightings(tx: Transaction, kind: string): Promise<void> {
  const oldest = await oldSightings(tx, kind);
  if (oldest === null) return;
  await tx.query(sql`delete from sightings where kind = ${kind} and answered <= ${oldest}`);
}

/** @param shown The ids that each page has shown so far; updated with the present ones. */
function seenPage(row: Row, shown: Map<number, string>): SeenPage {
  const [page, text] = [Number(row['page']), String(row['ids'])];
  const before = shown.get(page);
  const ids = before === text ? before : text;
  shown.set(page, ids);
  const count = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  return {
    sweep: count('sweep'),
    sent: Number(row['sent']),
    answered: Number(row['answered']),
    page,
    rows: Number(row['rows']),
    ids,
    endRows: count('end_rows'),
    total: count('total'),
    seenAt: String(row['seen_at']),
  };
}
