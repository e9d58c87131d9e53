import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { readTexts } from '../../db/rows/rows.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { writeMeta } from './meta.ts';

/** The mark of a column of ours that rows of an older release lack: up to which id they have it. */
export const fillMark = (kind: Kind, column: string) => `filled.${kind.name}.${column}` as const;

/** Notes that no row of a kind has a column yet. */
export const noteUnfilled = (tx: Transaction, kind: Kind, column: string): Promise<void> =>
  writeMeta(tx, fillMark(kind, column), '0');

/** Reads which columns some rows of a kind lack still. */
export async function readUnfilled(db: Queryable, kind: Kind): Promise<ReadonlySet<string>> {
  const start = fillMark(kind, '');
  const columns = sql`
    select substr(key, ${start.length + 1}) from mirror_meta where substr(key, 1, ${start.length}) = ${start}`;
  return new Set(await readTexts(db, columns));
}
