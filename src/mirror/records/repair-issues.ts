import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { shortened } from '../../lib/text.ts';
import type { Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** A row that another program had changed, and the repair. */
interface Repair {
  readonly id: string;
  readonly detail: string;
}

const CODE = 'mirror_touched';
const DETAIL_LENGTH = 300;
const IDS_A_QUERY = 500;

/** Opens an issue for every repair, in the repair's own transaction. An issue that is open already stays as it is. */
export async function saveRepairs(
  tx: Transaction,
  kind: string,
  { repairs, now }: { readonly repairs: readonly Repair[]; readonly now: Date },
): Promise<void> {
  if (repairs.length === 0) return;
  const open = new Set<string>();
  for (let from = 0; from < repairs.length; from += IDS_A_QUERY) {
    const ids = sqlList(repairs.slice(from, from + IDS_A_QUERY).map(({ id }) => id));
    const rows = await tx.query(sql`
      select record_id, detail from issues
      where kind = ${kind} and closed_at is null and code = ${CODE} and record_id in (${ids})`);
    for (const row of rows) open.add(`${String(row['record_id'])} ${String(row['detail'])}`);
  }
  await tx.append({
    table: 'issues',
    columns: ['kind', 'record_id', 'field', 'code', 'detail', 'first_seen_at'],
    rows: repairs
      .map(({ id, detail }) => ({ id, detail: shortened(detail, DETAIL_LENGTH) }))
      .filter(({ id, detail }) => !open.has(`${id} ${detail}`))
      .map(({ id, detail }) => [kind, id, null, CODE, detail, instantText(now)]),
  });
}

/** Closes the repair issues from before a sweep that found the mirror's live rows equal to the list. */
export async function closeRepairs(
  tx: Transaction,
  kind: string,
  { before, now }: { readonly before: Date; readonly now: Date },
): Promise<void> {
  await tx.query(sql`
    update issues set closed_at = ${instantText(now)}
    where kind = ${kind} and closed_at is null and code = ${CODE} and first_seen_at < ${instantText(before)}`);
}
