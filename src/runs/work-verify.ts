import { readKind } from '../audit/read-kind.ts';
import { verifyKind } from '../audit/verify-kind.ts';
import type { KindAudit } from '../audit/verify-kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { describe } from '../lib/sync-error.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { sweptKinds } from '../mirror/kinds/status-store.ts';
import { putRunBack } from '../mirror/runs/run-requests.ts';
import { findRun, saveKindReport } from '../mirror/runs/run-store.ts';
import type { KindReport, RunState } from '../mirror/runs/run-store.ts';
import { isIdle } from '../mirror/runs/open-runs.ts';
import { LeaseError, OtherSourceError } from '../mirror/session/errors.ts';
import { backfill } from '../pull/backfill.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { recordRun } from '../pull/run/record-run.ts';
import { pullBetween } from './verify-kinds.ts';
import type { PullSettings } from './verify-kinds.ts';

interface VerifyRun {
  readonly runId: number;
  readonly kinds: readonly ListedKind[];
  /** The kinds that this run has compared already. */
  readonly done: readonly KindReport[];
}

/** Works a requested verification, kind by kind; it gives way to pulls and sends, and continues after them. */
export async function workVerify(
  parts: PullParts,
  settings: PullSettings,
  { runId, kinds, done }: VerifyRun,
): Promise<void> {
  const { session } = parts;
  const swept = await sweptKinds(session); // Kinds that were never pulled are left to pulls.
  const left = kinds.filter(({ name }) => swept.has(name) && !done.some(({ kind }) => kind === name));
  const request = { ...settings, runId, command: 'verify', kinds: left };
  const { result: end } = await recordRun(parts, request, async () => {
    const ended = await verifyUntilBusy(parts, settings, { runId, kinds: left });
    return { state: ended.state, result: ended };
  });
  if (end.makesWay) await session.atomically((tx) => putRunBack(tx, runId));
}

interface End {
  readonly state: RunState;
  readonly makesWay: boolean;
}

async function verifyUntilBusy(
  parts: PullParts,
  settings: PullSettings,
  { runId, kinds }: Pick<VerifyRun, 'runId' | 'kinds'>,
): Promise<End> {
  const { session, clock, owner, signal } = parts;
  await claimSource(session, { baseUrl: settings.baseUrl, acceptNew: false });
  for (const kind of kinds) {
    if (!(await isIdle(session, { now: clock.now(), isDead: owner.isDead })))
      return { state: 'interrupted', makesWay: true };
    const startedAt = clock.now();
    const report = await verifyAndMend(parts, { kind, runId }, settings);
    if (signal?.aborted) return { state: 'interrupted', makesWay: false };
    await session.atomically((tx) => saveKindReport(tx, { runId, owner: owner.name }, { report, startedAt }));
  }
  const reports = (await findRun(session, runId, clock.now()))?.reports ?? [];
  return { state: reports.every(isWell) ? 'done' : 'incomplete', makesWay: false };
}

const isWell = ({ reason }: KindReport): boolean => reason === null || reason === 'mended';

interface Verifying {
  readonly kind: ListedKind;
  /** The run that verifies; its pulls and backfills are runs of their own. */
  readonly runId: number;
}

/** Compares a kind with the service, reads the differing records again, and checks whether that repaired them. */
async function verifyAndMend(
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
