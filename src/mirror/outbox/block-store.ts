import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';

/** A kind that the service does not allow us to write, and when to try again. */
export interface WriteBlock {
  readonly kind: string;
  readonly reason: string;
  readonly since: string;
  readonly probeAt: string;
}

export async function readBlocks(db: Queryable): Promise<WriteBlock[]> {
  const rows = await db.query(sql`select * from write_blocks order by kind`);
  return rows.map((row) => ({
    kind: String(row['kind']),
    reason: String(row['reason']),
    since: String(row['since']),
    probeAt: String(row['probe_at']),
  }));
}

export async function readBlock(db: Queryable, kind: string): Promise<WriteBlock | null> {
  return (await readBlocks(db)).find((block) => block.kind === kind) ?? null;
}

interface Blocking {
  readonly kind: string;
  readonly reason: string;
  readonly now: Date;
  readonly probeAt: Date;
}

/** Blocks a kind, or postpones the next try of a blocked one. */
export async function saveBlock(tx: Transaction, { kind, reason, now, probeAt }: Blocking): Promise<void> {
  await tx.query(sql`
    insert into write_blocks (kind, reason, since, probe_at)
    values (${kind}, ${reason}, ${instantText(now)}, ${instantText(probeAt)})
    on conflict (kind) do update set reason = excluded.reason, probe_at = excluded.probe_at`);
}

/** Unblocks a kind, and makes the entries due that waited for it. */
export async function dropBlock(tx: Transaction, kind: string, now: Date): Promise<void> {
  const dropped = await tx.query(sql`delete from write_blocks where kind = ${kind} returning kind`);
  if (dropped.length === 0) return;
  await tx.query(sql`
    update outbox set next_attempt_at = ${instantText(now)}
    where kind = ${kind} and state = 'ready' and verdict = 'kind_blocked'`);
}
