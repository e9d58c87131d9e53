import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { WRITE_BLOCKS } from '../tables/outbox-tables.ts';
import { hasRow, insertInto, select, selectOne } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** A kind that the service does not allow us to write, and when to try again. */
export type WriteBlock = RowOf<typeof WRITE_BLOCKS>;

export async function readBlocks(db: Queryable): Promise<WriteBlock[]> {
  return select(db, WRITE_BLOCKS, sql`order by kind`);
}

export async function readBlock(db: Queryable, kind: string): Promise<WriteBlock | null> {
  return selectOne(db, WRITE_BLOCKS, sql`where kind = ${kind}`);
}

interface Blocking {
  readonly kind: string;
  readonly reason: string;
  readonly now: Date;
  readonly probeAt: Date;
}

/** Blocks a kind, or postpones the next try of a blocked one. */
export async function saveBlock(tx: Transaction, { kind, reason, now, probeAt }: Blocking): Promise<void> {
  const block = { kind, reason, since: instantText(now), probeAt: instantText(probeAt) };
  await tx.query(sql`
    ${insertInto(WRITE_BLOCKS, block)}
    on conflict (kind) do update set reason = excluded.reason, probe_at = excluded.probe_at`);
}

/** Unblocks a kind, and makes the entries due that waited for it. */
export async function dropBlock(tx: Transaction, kind: string, now: Date): Promise<void> {
  const isDropped = await hasRow(tx, sql`delete from write_blocks where kind = ${kind} returning kind`);
  if (!isDropped) return;
  await tx.query(sql`
    update outbox set next_attempt_at = ${instantText(now)}
    where kind = ${kind} and state = 'ready' and verdict = 'kind_blocked'`);
}
