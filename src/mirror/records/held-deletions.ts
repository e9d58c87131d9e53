import { SyncError } from '../../lib/sync-error.ts';
import { decideHold, readHeldIds, readHolds } from './deletion-store.ts';
import type { Hold } from './deletion-store.ts';
import type { Queryable, Session } from '../session/session.ts';

/** A mass disappearance with some of its records. */
export interface ShownHold extends Hold {
  readonly ids: readonly string[];
}

export type HoldDecision = 'approved' | 'rejected';

export interface DecidedHold {
  readonly kind: string;
  readonly decision: HoldDecision;
  readonly records: number;
}

const IDS_SHOWN = 20;

/** Lists mass disappearances, whether they wait for a person or a person has decided them. */
export async function readShownHolds(db: Queryable): Promise<readonly ShownHold[]> {
  const holds: ShownHold[] = [];
  for (const hold of await readHolds(db))
    holds.push({ ...hold, ids: await readHeldIds(db, hold, IDS_SHOWN) });
  return holds;
}

/**
 * Records a person's decision on a kind's hold. An approved deletion still needs the service's own proof.
 *
 * @throws {SyncError} `deletions.none` if nothing of the kind is held.
 */
export async function decideHeld(
  session: Session,
  kind: string,
  decision: HoldDecision,
): Promise<DecidedHold> {
  const records = await session.atomically((tx) => decideHold(tx, kind, decision));
  if (records > 0) return { kind, decision, records };
  throw new SyncError(`Nothing of ${kind} is held.`, {
    code: 'deletions.none',
    hint: 'bms-sync deletions lists what waits for a decision.',
  });
}
