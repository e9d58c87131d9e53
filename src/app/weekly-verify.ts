import type { ListedKind } from '../catalog/kind.ts';
import type { Config } from '../config/settings.ts';
import { putRunBack } from '../mirror/runs/run-requests.ts';
import { findRun, saveKindReport } from '../mirror/runs/run-store.ts';
import type { KindReport, RunState } from '../mirror/runs/run-store.ts';
import { claimSource } from '../mirror/kinds/source-binding.ts';
import { isIdle } from '../mirror/runs/startable-runs.ts';
import { sweptKinds } from '../mirror/kinds/status-store.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { recordRun } from '../pull/run/record-run.ts';
import { listedKinds } from './kinds.ts';
import { pullSettings } from './pull.ts';
import { verifyAndMend } from './verify-and-mend.ts';

interface VerifyRun {
  readonly runId: number;
  readonly names: readonly string[];
}

/** Works a requested verification, kind by kind; it gives way to pulls and sends, and continues after them. */
export async function workVerify(config: Config, parts: PullParts, run: VerifyRun): Promise<void> {
  const { session, logger } = parts;
  const kinds = await kindsLeft(config, parts, run);
  const request = { ...pullSettings(config), runId: run.runId, command: 'verify', kinds };
  const { result: end } = await recordRun(parts, request, async () => {
    const ended = await verifyUntilBusy(config, parts, { runId: run.runId, kinds });
    return { state: ended.state, result: ended };
  });
  if (end.makesWay) await session.atomically((tx) => putRunBack(tx, run.runId));
  else if (end.state !== 'interrupted') logger.info({ runId: run.runId, state: end.state }, 'verified');
}

/** The kinds that this run has not compared yet, without those that were never pulled. */
async function kindsLeft(
  config: Config,
  { session, clock }: PullParts,
  { runId, names }: VerifyRun,
): Promise<readonly ListedKind[]> {
  const swept = await sweptKinds(session);
  const done = (await findRun(session, runId, clock.now()))?.reports.map(({ kind }) => kind) ?? [];
  return listedKinds(config, names).filter(({ name }) => swept.has(name) && !done.includes(name));
}

interface End {
  readonly state: RunState;
  readonly makesWay: boolean;
}

async function verifyUntilBusy(
  config: Config,
  parts: PullParts,
  { runId, kinds }: { readonly runId: number; readonly kinds: readonly ListedKind[] },
): Promise<End> {
  const { session, clock, owner, signal } = parts;
  const settings = pullSettings(config);
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
