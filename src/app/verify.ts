import type { AuditParts } from '../audit/read-kind.ts';
import { verifyKind } from '../audit/verify-kind.ts';
import type { KindVerdict, PullOutcome } from '../audit/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { finishRun, startRun } from '../mirror/run-store.ts';
import type { RunState } from '../mirror/run-store.ts';
import { claimSource } from '../mirror/source-binding.ts';
import { createOwner } from '../pull/owner.ts';
import type { PullParts } from '../pull/parts.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import { listedKinds } from './kinds.ts';
import { openExistingMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { pullSettings } from './pull.ts';
import type { PullSettings } from './pull.ts';

export type { KindVerdict } from '../audit/verify-kind.ts';

export interface VerifyCommand extends Pick<AuditParts, 'onProgress' | 'signal'> {
  readonly logger: Logger;
  /** Names of the kinds; none means all. */
  readonly kinds: readonly string[];
}

export interface VerifyReport {
  readonly runId: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly kinds: readonly KindVerdict[];
}

/**
 * Compares the mirror with the service by a reader of its own, kind by kind, as one run; a kind that cannot be read never
 * stops the others. What differs is pulled, as a run of its own, and looked at again.
 *
 * @throws {SyncError} `mirror.absent`; {OtherSourceError} where the mirror holds another source's data.
 */
export async function verify(
  config: Config,
  { logger, kinds, ...follow }: VerifyCommand,
): Promise<VerifyReport> {
  const wanted = listedKinds(config, kinds);
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  await using session = await openExistingMirror(config);
  const parts = { session, source, clock: systemClock, logger, owner: createOwner(), ...follow };
  const [startedAt, startMs] = [systemClock.now(), systemClock.monotonicMs()];
  const runId = await beginRun(parts, wanted, startedAt);
  const settings = pullSettings(config);
  const end = (state: RunState, reason: string | null): Promise<void> =>
    finishRun(session, runId, { state, reason, now: systemClock.now(), ...settings });
  try {
    const verdicts = await verifyAll(parts, wanted, settings);
    await end(runState(verdicts), null);
    const durationMs = Math.round(systemClock.monotonicMs() - startMs);
    return { runId, startedAt: startedAt.toISOString(), durationMs, kinds: verdicts };
  } catch (error) {
    await end('failed', error instanceof Error ? error.message : String(error)).catch((second: unknown) => {
      logger.error({ err: second, runId }, 'run could not be closed'); // The first error is the one to report.
    });
    throw error;
  }
}

function beginRun({ session, owner }: PullParts, kinds: readonly ListedKind[], now: Date): Promise<number> {
  const names = kinds.map(({ name }) => name);
  return startRun(session, { command: 'verify', kinds: names, owner: owner.name, now, isDead: owner.isDead });
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
      isStopped ? notReached(kind) : await verifyKind(parts, kind, (one) => pullOne(parts, one, settings)),
    );
  }
  return verdicts;
}

/** Pulls a kind as `bms-sync pull` does. */
async function pullOne(parts: PullParts, kind: ListedKind, settings: PullSettings): Promise<PullOutcome> {
  const { kinds } = await pullKinds(parts, { kinds: [kind], acceptNewSource: false, ...settings });
  const failed = kinds.find(({ state }) => state === 'invalid' || state === 'aborted');
  return { reason: failed?.reason ?? null, detail: failed?.detail ?? null };
}

function notReached({ name }: ListedKind): KindVerdict {
  const none = { same: 0, moved: 0, differs: 0, missing: 0, surplus: 0, quarantined: 0 };
  const detail = 'The run was interrupted before this kind.';
  return { kind: name, ...none, reason: 'interrupted', detail, differences: [] };
}

function runState(verdicts: readonly KindVerdict[]): RunState {
  if (verdicts.some(({ reason }) => reason === 'interrupted')) return 'interrupted';
  return verdicts.every(({ reason, differs }) => reason === null && differs === 0) ? 'done' : 'incomplete';
}
