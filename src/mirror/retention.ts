import { sql } from 'drizzle-orm';
import { instantText } from '../lib/clock.ts';
import { pruneChanges } from './change-store.ts';
import type { Transaction } from './session.ts';

export interface Retention {
  /** Runs that ended longer ago are forgotten; null keeps all. */
  readonly keepRunsDays: number | null;
  /** Change events that are older are forgotten; null keeps all. */
  readonly keepChangesDays: number | null;
  readonly now: Date;
}

/** Forgets what nobody wants to keep any longer. */
export async function forgetOld(
  tx: Transaction,
  { keepRunsDays, keepChangesDays, now }: Retention,
): Promise<void> {
  if (keepChangesDays !== null) await pruneChanges(tx, daysBefore(now, keepChangesDays));
  if (keepRunsDays === null) return;
  const oldest = instantText(daysBefore(now, keepRunsDays));
  await tx.query(
    sql`delete from run_kinds where run_id in (select id from runs where finished_at < ${oldest})`,
  );
  await tx.query(sql`delete from runs where finished_at < ${oldest}`);
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);
