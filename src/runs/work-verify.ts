import type { ListedKind } from '../catalog/kind.ts';
import { putRunBack } from '../mirror/runs/run-requests.ts';
import { findRun, saveKindReport } from '../mirror/runs/run-store.ts';
import type { KindReport, RunState } from '../mirror/runs/run-store.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { isIdle } from '../mirror/runs/startable-runs.ts';
import { sweptKinds } from '../mirror/kinds/status-store.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { recordRun } from '../pull/run/record-run.ts';
import type { PullSettings } from './pull-between.ts';
import { verifyAndMend } from './verify-and-mend.ts';

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
