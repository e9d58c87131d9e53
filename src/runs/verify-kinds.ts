import { verifyKind, type KindComparison, type PullOutcome } from '../report/verify/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { errorText } from '../lib/sync-error.ts';
import { openSourceBinding } from '../store/kinds/source-binding.ts';
import type { Retention } from '../store/runs/retention.ts';
import { isReadToEnd } from '../store/runs/run-store.ts';
import { OtherSourceError } from '../db/session/errors.ts';
import { withoutOffKinds } from '../pull/optional-kinds.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullParts, ReadingRules } from '../pull/run/parts.ts';
import { recordRun } from '../pull/run/record-run.ts';
import { OTHER_SOURCE } from '../pull/sweep/read-list.ts';

export type VerifyReport = Awaited<ReturnType<typeof verifyKinds>>;

/**
 * Compares the mirror with the service, kind by kind, as one run; a kind that cannot be read never
 * stops the others. Differing records are pulled, as a run of its own, and compared again.
 *
 * @throws {OtherSourceError} If the mirror holds another source's data.
 */
export async function verifyKinds(parts: PullParts, kinds: readonly ListedKind[], settings: PullSettings) {
  const request = { ...settings, command: 'verify', kinds };
  const { result, ...facts } = await recordRun(parts, request, async () => {
    const comparisons: KindComparison[] = [];
    await openSourceBinding(parts.session, settings.baseUrl, false);
    for (const kind of await withoutOffKinds(parts, kinds))
      if (parts.signal?.aborted === true) comparisons.push(notReached(kind));
      else comparisons.push(await verifyKind(parts, kind, () => pullBetween(parts, kind, settings)));
    const isInterrupted = comparisons.some((comparison) => comparison.reason === 'interrupted');
    const isSame = comparisons.every((comparison) => comparison.reason === null && comparison.differs === 0);
    return { state: isInterrupted ? 'interrupted' : isSame ? 'done' : 'incomplete', result: comparisons };
  });
  return { ...facts, kinds: result };
}

function notReached(kind: ListedKind): KindComparison {
  const none = { same: 0, moved: 0, differs: 0, missing: 0, surplus: 0, quarantined: 0 };
  const detail = 'The run was interrupted before this kind.';
  return { kind: kind.name, ...none, reason: 'interrupted', detail, repair: null, differences: [] };
}

/** The settings of every pull and backfill. */
export interface PullSettings extends ReadingRules {
  readonly baseUrl: string;
  readonly retention: Retention;
}

/** Pulls a kind between two readings of a verification, as `bms-sync pull` does. */
async function pullBetween(parts: PullParts, kind: ListedKind, settings: PullSettings): Promise<PullOutcome> {
  try {
    const { kinds } = await pullKinds(parts, { kinds: [kind], acceptNewSource: false, ...settings });
    const failed = kinds.find((report) => !isReadToEnd(report));
    return { reason: failed?.reason ?? null, detail: failed?.detail ?? null };
  } catch (error) {
    if (!(error instanceof OtherSourceError)) throw error;
    return { reason: OTHER_SOURCE, detail: errorText(error) }; // A list of another company stops only its own kind.
  }
}
