import { sql } from 'drizzle-orm';
import { formatInstant } from '../lib/time/clock.ts';
import { DAY_MS } from '../lib/time/zone-offset.ts';
import { archiveEndedEntries } from '../store/outbox/ended-entries.ts';
import { deletePlans } from '../features/plans/store.ts';
import { pruneChanges } from '../store/records/change-store.ts';
import type { Session } from '../db/session/session.ts';
import { pruneDeliveries } from '../events/webhooks/delivery-queue.ts';
import { forgetExpiredSecrets } from '../events/webhooks/endpoint-store.ts';

/** How long history is kept, in days; null keeps all of it. */
export interface Retention {
  readonly changesDays: number | null;
  /** Runs, counted from their end. */
  readonly runsDays: number | null;
  /** Entries of the outbox that ended, whose keys stay; and plans. */
  readonly outboxDays: number | null;
  /** Closed issues, notes of drift and proven deletions. */
  readonly issuesDays: number | null;
  /** Webhook deliveries that are settled. */
  readonly deliveriesDays: number | null;
}

/** Removes history that is older than the settings under `retention` keep. */
export async function applyRetention(session: Session, keep: Retention, now: Date): Promise<void> {
  const { changesDays, runsDays, outboxDays, issuesDays, deliveriesDays } = keep;
  await session.atomically(async (tx) => {
    if (changesDays !== null) await pruneChanges(tx, daysBefore(now, changesDays));
    if (runsDays !== null) {
      const oldest = formatInstant(daysBefore(now, runsDays));
      await tx.query(
        sql`delete from run_kinds where run_id in (select id from runs where finished_at < ${oldest})`,
      );
      await tx.query(sql`delete from runs where finished_at < ${oldest}`);
    }
    if (deliveriesDays !== null) await pruneDeliveries(tx, daysBefore(now, deliveriesDays));
    await forgetExpiredSecrets(tx, now);
    if (outboxDays !== null)
      await deletePlans(tx, sql`created_at < ${formatInstant(daysBefore(now, outboxDays))}`);
    if (issuesDays !== null) {
      const oldest = formatInstant(daysBefore(now, issuesDays));
      await tx.query(sql`delete from issues where closed_at < ${oldest}`);
      await tx.query(sql`delete from drift where seen_at < ${oldest}`);
      await tx.query(sql`delete from deletions where concluded_at < ${oldest}`);
    }
  });
  if (outboxDays !== null) await archiveEndedEntries(session, daysBefore(now, outboxDays));
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);
