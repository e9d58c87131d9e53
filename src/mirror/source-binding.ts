import { sql } from 'drizzle-orm';
import { OtherSourceError } from './errors.ts';
import { dropMeta, readMeta, writeMeta } from './meta.ts';
import type { Queryable, Session, Transaction } from './session.ts';

/** Whose data a run reads; the mirror is bound to it by the first answer that lands, not by a mistyped address. */
export interface SourceClaim {
  readonly baseUrl: string;
  /** The operator said that the source is new: what the old one showed counts no more. */
  readonly isNew: boolean;
  /** The company as the service numbers it; null while neither the mirror nor a record has named it. */
  systemId: string | null;
  /** False while the mirror does not know what is said here. */
  isBound: boolean;
  /** What the old source had shown is forgotten: once is enough. */
  isReset: boolean;
}

/**
 * Compares a source with the one that the mirror is bound to.
 *
 * @throws {OtherSourceError} Where the mirror holds the data of another base URL and `acceptNew` is not set.
 */
export async function claimSource(
  session: Session,
  { baseUrl, acceptNew }: { baseUrl: string; acceptNew: boolean },
): Promise<SourceClaim> {
  const bound = await boundUrl(session);
  if (bound === null || acceptNew)
    return { baseUrl, isNew: acceptNew, systemId: null, isBound: false, isReset: false };
  if (bound === baseUrl)
    return { baseUrl, isNew: false, systemId: await boundSystem(session), isBound: true, isReset: false };
  throw new OtherSourceError(`This mirror holds the data of ${bound}, and source.baseUrl is ${baseUrl}.`, {
    code: 'mirror.other_source',
    hint: 'Set DATABASE_URL to a mirror of its own for this source; --new-source accepts it for this mirror.',
  });
}

/** Binds the mirror to its source, within the transaction that lands the first of its answers. */
export async function bindSource(
  tx: Transaction,
  { baseUrl, isNew, isReset, systemId }: SourceClaim,
): Promise<void> {
  await writeMeta(tx, 'source.base_url', baseUrl);
  if (isNew && !isReset) {
    await dropMeta(tx, 'source.system_id');
    await tx.query(sql`delete from sightings`); // What the old source showed says nothing about the new one.
    for (const table of ['pages', 'touched', 'deletions'])
      await tx.query(sql`delete from ${sql.identifier(table)}`);
    await tx.query(
      sql`update kind_state set complete_sweeps = 0, certified_at = null, baseline_at = null, control_failures = 0,
        last_complete_sweep = null, uncertified_sweeps = 0, held_since = null, held_records = null, known_from = tick`,
    );
  }
  if (systemId !== null) await writeMeta(tx, 'source.system_id', systemId);
}

/** The company whose data the mirror holds, as the service numbers it (`system_id`); null while no record named it. */
export async function boundSystem(db: Queryable): Promise<string | null> {
  return readMeta(db, 'source.system_id');
}

/** The base URL whose data the mirror holds; null before the first answer has landed. */
export async function boundUrl(db: Queryable): Promise<string | null> {
  return readMeta(db, 'source.base_url');
}
