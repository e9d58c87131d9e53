import { readKind } from '../audit/read-kind.ts';
import { verifyKind } from '../audit/verify-kind.ts';
import type { KindAudit } from '../audit/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { describe } from '../lib/sync-error.ts';
import { LeaseError, OtherSourceError } from '../mirror/session/errors.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { backfill } from '../pull/backfill/backfill.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { pullBetween } from './pull-between.ts';
import type { PullSettings } from './pull-between.ts';

interface Verifying {
  readonly kind: ListedKind;
  /** The run that verifies; its pulls and backfills are runs of their own. */
  readonly runId: number;
}

/** Compares a kind with the service, reads the differing records again, and checks whether that repaired them. */
export async function verifyAndMend(
  parts: PullParts,
  verifying: Verifying,
  settings: PullSettings,
): Promise<KindReport> {
  const { source, clock } = parts;
  const [startMs, before] = [clock.monotonicMs(), { ...source.counts }];
  const audit = await verifyKind(parts, verifying.kind, (kind) => pullBetween(parts, kind, settings));
  const mended = await mend(parts, { ...verifying, ids: audit.mendable }, settings);
  tell(parts, { ...audit, mended, runId: verifying.runId });
  return {
    ...reportOf(audit, mended),
    requests: source.counts.requests - before.requests,
    retries: source.counts.retries - before.retries,
    durationMs: Math.round(clock.monotonicMs() - startMs),
  };
}

interface Mending extends Verifying {
  readonly ids: readonly string[];
}

/** Reads records again as `bms-sync backfill --ids` does; returns the number of records that now agree with the service. */
async function mend(
  parts: PullParts,
  { kind, runId, ids }: Mending,
  settings: PullSettings,
): Promise<number> {
  if (ids.length === 0) return 0;
  try {
    const request = `what run ${runId} found`;
    await backfill(parts, { kind, extent: { ids }, request, restart: true, ...settings });
  } catch (error) {
    if (!(error instanceof LeaseError || error instanceof OtherSourceError)) throw error;
    parts.logger.warn({ runId, kind: kind.name, code: error.code }, describe(error));
    return 0;
  }
  const wrong = new Set<string>();
  const { fault } = await readKind(parts, kind, ({ id }) => wrong.add(id));
  return fault === null ? ids.filter((id) => !wrong.has(id)).length : 0;
}

const IDS_TOLD = 20;

interface Mended extends KindAudit {
  readonly mended: number;
  readonly runId: number;
}

function tell({ logger }: PullParts, { verdict, mendable, mended, runId }: Mended): void {
  const { kind, differs } = verdict;
  if (differs === 0) return;
  const facts = { runId, kind, differs, mended, ids: mendable.slice(0, IDS_TOLD) };
  if (mended === differs) logger.warn(facts, 'records differed from the service, and are mended');
  else logger.error({ ...facts, hint: `bms-sync verify ${kind}` }, 'records differ from the service');
}

type VerifyReport = Omit<KindReport, 'requests' | 'retries' | 'durationMs'>;

function reportOf({ verdict }: KindAudit, mended: number): VerifyReport {
  const { kind, same, moved, differs, quarantined } = verdict;
  const outcome = differs === mended ? 'mended' : 'differs';
  const told = `${differs} differed from the service, ${mended} are mended`;
  return {
    kind,
    state: verdict.reason === null ? 'complete' : 'aborted',
    reason: verdict.reason ?? (differs === 0 ? null : outcome),
    detail:
      differs === 0 ? verdict.detail : [told, verdict.detail].filter((text) => text !== null).join('; '),
    ...{ certifiedAt: null, pages: 0, rows: same + moved + differs, unchanged: same, updated: mended },
    ...{ created: 0, deleted: 0, restored: 0, quarantined },
  };
}
