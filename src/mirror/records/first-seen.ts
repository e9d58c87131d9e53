import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';
import { text } from '../tables/engine-column.ts';
import { hasRow, readRows } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** A watermark: records first seen at or before it are not new. */
export interface Watermark {
  readonly tick: number;
  readonly at: string;
}

const SEEN_RECORD = [text('id'), text('raw')];

/** Live records first seen after a watermark that no entry of the outbox is linked to. */
export async function rowsFirstSeenAfter(
  db: Queryable,
  kind: string,
  { tick, at }: Watermark,
): Promise<RowOf<typeof SEEN_RECORD>[]> {
  const seen = sql`
    select cast(k.id as text) as id, k._raw as raw from ${sql.identifier(kind)} as k
    where k._deleted_at is null and (k._listed > ${tick} or (k._listed is null and k._first_seen_at >= ${at}))
      and not exists (select 1 from links as l where l.kind = ${kind} and l.record_id = cast(k.id as text))
    order by k.id`;
  return readRows(db, SEEN_RECORD, seen);
}

/** Whether a live record was first seen at or before a watermark. */
export async function wasSeenBefore(
  db: Queryable,
  kind: string,
  { id, tick, at }: Watermark & { readonly id: string },
): Promise<boolean> {
  const seen = sql`
    select 1 from ${sql.identifier(kind)} as k
    where k.id = ${id} and (k._listed <= ${tick} or (k._listed is null and k._first_seen_at < ${at}))`;
  return hasRow(db, seen);
}

/** Whether a list has shown, since an instant, a record that could not become a row. */
export async function hasQuarantinedSince(db: Queryable, kind: string, at: string): Promise<boolean> {
  const quarantined = sql`
    select 1 from issues where kind = ${kind} and closed_at is null and field is null
      and code in ('no_id', 'id_not_an_integer', 'id_too_large', 'too_deep', 'two_versions') and first_seen_at >= ${at}
    limit 1`;
  return hasRow(db, quarantined);
}
