import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable } from '../session/session.ts';
import { integer, optionalBigint } from '../tables/engine-column.ts';
import { readRow, readTexts } from '../tables/rows.ts';

/** How far a run is with the list that it reads now, by the rows that its process leaves. */
interface ListProgress {
  readonly kind: string;
  /** Pages that have landed. */
  readonly pages: number;
  readonly rows: number;
  /** The highest page that has landed; null while it may be the first one only. A sweep reads the last page second. */
  readonly lastPage: number | null;
}

/** Reads the progress of a run that any process works; null where it reads no list at the moment. */
export async function readProgress(db: Queryable, runId: number, now: Date): Promise<ListProgress | null> {
  const [kind] = await readTexts(
    db,
    sql`select kind from kind_state
      where owner = (select owner from runs where id = ${runId} and state = 'running')
        and lease_yields is null and lease_until > ${instantText(now)} order by lease_until desc, kind limit 1`,
  );
  if (kind === undefined) return null;
  const landed = sql`
    select count(*) as pages, sum(rows) as rows, max(page) as last_page
    from (select page, max(rows) as rows from sightings where kind = ${kind} and run_id = ${runId} and rows > 0
      group by page)
      as landed`;
  const seen = await readRow(
    db,
    [integer('pages'), optionalBigint('rows'), optionalBigint('last_page')],
    landed,
  );
  const { pages = 0, rows = null, lastPage = null } = seen ?? {};
  return { kind, pages, rows: rows ?? 0, lastPage: pages > 1 ? lastPage : null };
}
