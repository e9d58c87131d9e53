import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';

/** Ends a browser's session before its cookie expires; forgets expired ones. Times are in seconds. */
export async function endSession(tx: Transaction, id: string, untilSeconds: number, nowSeconds: number) {
  await tx.query(
    sql`delete from mirror_meta where key like 'signed_out.%' and cast(value as bigint) <= ${nowSeconds}`,
  );
  await writeMeta(tx, `signed_out.${id}`, String(untilSeconds));
}

export const isSessionEnded = async (db: Queryable, id: string): Promise<boolean> =>
  (await readMeta(db, `signed_out.${id}`)) !== null;
