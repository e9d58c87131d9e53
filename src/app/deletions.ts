import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { decideHeld, readShownHolds } from '../mirror/records/deletion-store.ts';
import type { DecidedHold, HoldDecision, ShownHold } from '../mirror/records/deletion-store.ts';
import { openExistingMirror } from './open-mirror.ts';

export type { HoldDecision, ShownHold } from '../mirror/records/deletion-store.ts';

/** Lists mass disappearances, whether they wait for a person or a person has decided them. */
export async function listHolds(config: Config): Promise<readonly ShownHold[]> {
  await using session = await openExistingMirror(config);
  return await readShownHolds(session);
}

/**
 * Records a person's decision on a kind's hold. An approved deletion still needs the service's own proof.
 *
 * @throws {SyncError} `deletions.none` if nothing of the kind is held.
 */
export async function decideDeletions(
  config: Config,
  kind: string,
  decision: HoldDecision,
): Promise<DecidedHold> {
  const [{ name } = { name: kind }] = listedKinds(config, [kind]);
  await using session = await openExistingMirror(config);
  return await decideHeld(session, name, decision);
}
