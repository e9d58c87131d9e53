import type { AuditParts } from '../audit/read-kind.ts';
import { verifyKind } from '../audit/verify-kind.ts';
import type { KindVerdict } from '../audit/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { RunState } from '../mirror/runs/run-store.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { createOwner } from '../pull/run/owner.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { recordRun } from '../pull/run/record-run.ts';
import type { RunFacts } from '../pull/run/record-run.ts';
import { listedKinds } from './kinds.ts';
import { openExistingMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { pullBetween } from './pull-between.ts';
import { pullSettings } from './pull.ts';
import type { PullSettings } from './pull.ts';

export type { KindVerdict } from '../audit/verify-kind.ts';

interface VerifyCommand extends Pick<AuditParts, 'onProgress' | 'signal'> {
  readonly logger: Logger;
  /** Names of the kinds; none means all. */
  readonly kinds: readonly string[];
}

export interface VerifyReport extends RunFacts {
  readonly kinds: readonly KindVerdict[];
}

/**
 * Compares the mirror with the service by a reader of its own, kind by kind, as one run; a kind that cannot be read never
 * stops the others. Differing records are pulled, as a run of its own, and compared again.
 *
 * @throws {SyncError} `mirror.absent`; {OtherSourceError} if the mirror holds another source's data.
 */
export async function verify(
  config: Config,
  { logger, kinds, ...follow }: VerifyCommand,
): Promise<VerifyReport> {
  const wanted = listedKinds(config, kinds);
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  await using session = await openExistingMirror(config);
  const parts = { session, source, clock: systemClock, logger, owner: createOwner(), ...follow };
  const settings = pullSettings(config);
  const { result, ...facts } = await recordRun(
    parts,
    { ...settings, command: 'verify', kinds: wanted },
    async () => {
      const verdicts = await verifyAll(parts, wanted, settings);
      return { state: runState(verdicts), result: verdicts };
    },
  );
  return { ...facts, kinds: result };
}

async function verifyAll(
  parts: PullParts,
  kinds: readonly ListedKind[],
  settings: PullSettings,
): Promise<KindVerdict[]> {
  const verdicts: KindVerdict[] = [];
  await claimSource(parts.session, { baseUrl: settings.baseUrl, acceptNew: false });
  for (const kind of kinds) {
    const isStopped = parts.signal?.aborted ?? false;
    verdicts.push(
      isStopped
        ? notReached(kind)
        : (await verifyKind(parts, kind, (one) => pullBetween(parts, one, settings))).verdict,
    );
  }
  return verdicts;
}

function notReached({ name }: ListedKind): KindVerdict {
  const none = { same: 0, moved: 0, differs: 0, missing: 0, surplus: 0, quarantined: 0 };
  const detail = 'The run was interrupted before this kind.';
  return { kind: name, ...none, reason: 'interrupted', detail, repair: null, differences: [] };
}

function runState(verdicts: readonly KindVerdict[]): RunState {
  if (verdicts.some(({ reason }) => reason === 'interrupted')) return 'interrupted';
  return verdicts.every(({ reason, differs }) => reason === null && differs === 0) ? 'done' : 'incomplete';
}
