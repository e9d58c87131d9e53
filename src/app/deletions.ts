import type { Config } from '../config/settings.ts';
import { SyncError } from '../lib/sync-error.ts';
import { decideHold, readHeldIds, readHolds } from '../mirror/deletion-store.ts';
import type { Hold } from '../mirror/deletion-store.ts';
import { listedKinds } from './kinds.ts';
import { openExistingMirror } from './open-mirror.ts';

export type { Hold } from '../mirror/deletion-store.ts';

/** A mass disappearance with some of its records. */
export interface ShownHold extends Hold {
  readonly ids: readonly string[];
}

export type Decision = 'approved' | 'rejected';

export interface Decided {
  readonly kind: string;
  readonly decision: Decision;
  readonly records: number;
}

const IDS_SHOWN = 20;

/** Lists mass disappearances: those that wait for a person, and those that one has decided. */
export async function listHolds(config: Config): Promise<readonly ShownHold[]> {
  await using session = await openExistingMirror(config);
  const holds: ShownHold[] = [];
  for (const hold of await readHolds(session))
    holds.push({ ...hold, ids: await readHeldIds(session, hold, IDS_SHOWN) });
  return holds;
}

/**
 * Records a person's decision on a kind's hold; what is approved still needs the service's own proof.
 *
 * @throws {SyncError} `deletions.none` where nothing of the kind is held.
 */
export async function decideDeletions(config: Config, kind: string, decision: Decision): Promise<Decided> {
  const [{ name } = { name: kind }] = listedKinds(config, [kind]);
  await using session = await openExistingMirror(config);
  const records = await session.atomically((tx) => decideHold(tx, name, decision));
  if (records > 0) return { kind: name, decision, records };
  throw new SyncError(`Nothing of ${name} is held.`, {
    code: 'deletions.none',
    hint: 'bms-sync deletions lists what waits for a decision.',
  });
}
