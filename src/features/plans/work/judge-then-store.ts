import { sql } from 'drizzle-orm';
import type { Kind } from '../../../catalog/kind.ts';
import type { Queryable, Session, Transaction } from '../../../db/session/session.ts';
import { readTexts } from '../../../db/rows/rows.ts';
import { excludedSince, refuseExcluded } from '../../../store/kinds/exclusions.ts';
import { readMeta } from '../../../store/kinds/meta.ts';
import { mirrorInstant } from '../../../store/kinds/mirror-clock.ts';

/** Rows that are compared between two turns of the event loop. */
export const ROWS_A_SLICE = 200;

/**
 * Compares without the write lock, slice by slice, then stores the result in one short transaction. If content was removed
 * meanwhile, it compares again: removed content must not come back.
 *
 * @param judge Returns null if nothing is to be stored.
 * @param store Gets the instant since when the comparison may have missed changes.
 * @throws {MirrorError} `mirror.excluded_since`
 */
export async function judgeThenStore<Judged, Result>(
  session: Session,
  { kind, now }: { readonly kind: Kind; readonly now: Date },
  judge: () => Promise<Judged | null>,
  store: (tx: Transaction, judged: Judged, since: string) => Promise<Result>,
): Promise<Result | null> {
  for (;;) {
    const removed = await readRemovals(session, kind);
    const since = await mirrorInstant(session, now);
    const judged = await judge();
    if (judged === null) return null;
    const outcome = await session.atomically(async (tx) => {
      if ((await readRemovals(tx, kind)) !== removed) return null;
      if ((await readMeta(tx, 'privacy.excluding')) !== null)
        refuseExcluded(kind, await excludedSince(tx, kind));
      return { result: await store(tx, judged, since) };
    });
    if (outcome !== null) return outcome.result;
  }
}

/** Reads a mark of all removals from the mirror: fields by settings, records by `forget`. */
const readRemovals = async (db: Queryable, kind: Kind): Promise<string> =>
  JSON.stringify(
    await readTexts(
      db,
      sql`select value from mirror_meta where key in ('privacy.excluded', 'privacy.excluding')
        union all select cast(max(id) as text) from erasures where kind = ${kind.name}`,
    ),
  );
