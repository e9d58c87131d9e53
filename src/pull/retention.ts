import { sql } from 'drizzle-orm';
import { formatInstant } from '../lib/time/clock.ts';
import { daysBefore } from '../lib/time/zone-offset.ts';
import { archiveEndedEntries } from '../store/outbox/ended-entries.ts';
import { pruneChanges } from '../store/records/change-store.ts';
import type { Session } from '../db/session/session.ts';
import type { KeptDays, TableOwner } from '../store/records/table-owner.ts';

/** How long history is kept, and the owners of tables beside those of the store. */
export interface Retention extends KeptDays {
  readonly owners: readonly TableOwner[];
}

/** Removes history that is older than the settings under `retention` keep. */
export async function applyRetention(session: Session, keep: Retention, now: Date): Promise<void> {
  const { changesDays, runsDays, outboxDays, issuesDays, owners } = keep;
  await session.atomically(async (tx) => {
    if (changesDays !== null) await pruneChanges(tx, daysBefore(now, changesDays));
    if (runsDays !== null) {
      const oldest = formatInstant(daysBefore(now, runsDays));
      await tx.query(
        sql`delete from run_kinds where run_id in (select id from runs where finished_at < ${oldest})`,
      );
      await tx.query(sql`delete from runs where finished_at < ${oldest}`);
    }
    for (const owner of owners) await owner.prune(tx, keep, now);
    if (issuesDays !== null) {
      const oldest = formatInstant(daysBefore(now, issuesDays));
      await tx.query(sql`delete from issues where closed_at < ${oldest}`);
      await tx.query(sql`delete from drift where seen_at < ${oldest}`);
      await tx.query(sql`delete from deletions where concluded_at < ${oldest}`);
    }
  });
  if (outboxDays !== null) await archiveEndedEntries(session, daysBefore(now, outboxDays));
}
