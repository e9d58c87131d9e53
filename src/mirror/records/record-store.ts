import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';

/** A record in the mirror. */
export interface MirroredRecord {
  /** The record as JSON text, every number as received. */
  readonly raw: string;
  readonly firstSeenAt: string;
  readonly changedAt: string;
  /** Null = live. */
  readonly deletedAt: string | null;
}

export async function findRecord(db: Queryable, kind: string, id: string): Promise<MirroredRecord | null> {
  const [row] = await db.query(sql`
    select _raw, _first_seen_at, _changed_at, _deleted_at from ${sql.identifier(kind)} where id = ${id}`);
  if (row === undefined) return null;
  const deletedAt = row['_deleted_at'] ?? null;
  return {
    raw: String(row['_raw']),
    firstSeenAt: String(row['_first_seen_at']),
    changedAt: String(row['_changed_at']),
    deletedAt: deletedAt === null ? null : String(deletedAt),
  };
}
