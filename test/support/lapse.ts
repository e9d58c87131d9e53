import { hostname } from 'node:os';
import { sql, type SQL } from 'drizzle-orm';
import { processNamespace } from '../../src/lib/process-id.ts';
import type { Session } from '../../src/db/session/session.ts';

/** A process of this host that is gone, as its name shows to everybody: an earlier one with our own number. */
export const deadOwner = (label = 'dead'): string =>
  [hostname(), process.pid, processNamespace() ?? 'unknown', label].join(':');

/** Lets time pass for the leases and heartbeats of an owner, or of all: the database's own clock judges them, and cannot be set. */
export async function passLeases(session: Session, seconds: number, owner = '%'): Promise<void> {
  const earlier = (column: string): SQL => {
    const at = sql.identifier(column);
    return session.dialect === 'sqlite'
      ? sql`strftime('%Y-%m-%d %H:%M:%f', ${at}, ${`${-seconds} seconds`})`
      : sql`${at} - make_interval(secs => ${seconds})`;
  };
  await session.atomically(async (tx) => {
    await tx.query(sql`update workers set seen_at = ${earlier('seen_at')} where owner like ${owner}`);
    for (const table of ['kind_state', 'runs'])
      await tx.query(
        sql`update ${sql.identifier(table)} set lease_until = ${earlier('lease_until')} where owner like ${owner}`,
      );
  });
}

/** Lets a process look as if it had not been heard of for as long as a lease lasts. */
export const endLeases = (session: Session, owner?: string): Promise<void> => passLeases(session, 46, owner);
