import { listedKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { decideHeld, readDisappearances } from '../../mirror/records/deletion-store.ts';
import type { DecidedHold, Disappearances, HoldDecision } from '../../mirror/records/deletion-store.ts';
import { openExistingMirror } from '../open-mirror.ts';

export { HOLD_WORDS, idsShown } from '../../mirror/records/deletion-store.ts';
export type { Disappearances, HoldDecision, ShownHold } from '../../mirror/records/deletion-store.ts';

/** Lists the records that disappeared and are not proven to be gone. */
export async function listDisappearances(config: Config): Promise<Disappearances> {
  await using session = await openExistingMirror(config);
  return await readDisappearances(session);
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
