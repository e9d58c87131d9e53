import type { Config } from '../../config/settings.ts';
import { listedKinds } from '../../config/known-kinds.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { PullParts } from '../../pull/run/parts.ts';
import { createOwner } from '../../pull/run/parts.ts';
import { verifyKinds } from '../../runs/verify-kinds.ts';
import type { VerifyReport } from '../../runs/verify-kinds.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { openConfiguredSource } from '../open-source.ts';
import { pullSettings } from '../pull.ts';

export type { KindComparison } from '../../audit/verify-kind.ts';
export type { VerifyReport } from '../../runs/verify-kinds.ts';

interface VerifyCommand extends Pick<PullParts, 'logger' | 'onProgress' | 'signal'> {
  /** Names of the kinds; none means all. */
  readonly kinds: readonly string[];
}

/**
 * Compares the mirror with the service by a reader of its own, as one run.
 *
 * @throws {SyncError} `mirror.absent`; {OtherSourceError} if the mirror holds another source's data.
 */
export async function verify(config: Config, { kinds, ...command }: VerifyCommand): Promise<VerifyReport> {
  const wanted = listedKinds(config, kinds);
  const { logger } = command;
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  await using session = await openExistingMirror(config);
  const parts = { session, source, clock: systemClock, owner: createOwner(), ...command };
  return await verifyKinds(parts, wanted, pullSettings(config));
}
