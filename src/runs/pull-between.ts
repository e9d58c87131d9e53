import type { PullOutcome } from '../audit/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { describe } from '../lib/sync-error.ts';
import { isRead } from '../mirror/runs/run-store.ts';
import { OtherSourceError } from '../mirror/session/errors.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullRequest } from '../pull/pull-kinds.ts';
import { OTHER_SOURCE } from '../pull/sweep/read-list.ts';

/** The settings by which every pull and backfill reads. */
export type PullSettings = Omit<PullRequest, 'kinds' | 'acceptNewSource' | 'runId'>;

/** Pulls a kind between two readings of a verification, as `bms-sync pull` does. */
export async function pullBetween(
  parts: PullParts,
  kind: ListedKind,
  settings: PullSettings,
): Promise<PullOutcome> {
  const kinds = await pullKinds(parts, { kinds: [kind], acceptNewSource: false, ...settings }).then(
    (report) => report.kinds,
    refusedKind,
  );
  const failed = kinds.find((report) => !isRead(report));
  return { reason: failed?.reason ?? null, detail: failed?.detail ?? null };
}

/** A list of another company stops only its own kind. */
function refusedKind(error: unknown): [{ state: 'invalid'; reason: string; detail: string }] {
  if (!(error instanceof OtherSourceError)) throw error;
  return [{ state: 'invalid', reason: OTHER_SOURCE, detail: describe(error) }];
}
