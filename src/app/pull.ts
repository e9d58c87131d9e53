import type { ListedKind } from '../catalog/kind.ts';
import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { TABLE_OWNERS } from '../feature-hooks.ts';
import { systemClock } from '../lib/time/clock.ts';
import { isFirstReading, readOffKinds, readUncertified } from '../store/kinds/status-store.ts';
import { driftSince } from '../store/kinds/drift-store.ts';
import { readDisappeared } from '../store/records/deletion-store.ts';
import { countSuppressed } from '../store/records/erasure-store.ts';
import type { Session } from '../db/session/session.ts';
import type { PullReport } from '../pull/sweep/pull-kinds.ts';
import { THIS_PROCESS } from '../lib/owner.ts';
import type { PullParts, PullSettings } from '../pull/parts.ts';
import { delegatePull } from '../runs/delegate-pull.ts';
import { createPing, pullAndPing } from '../runs/ping.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';
import { schedulesOf } from './schedules.ts';

/** The outcome of a pull, and the deletions that are about to happen: the document of `pull --json`. */
export type PullSummary = Awaited<ReturnType<typeof pullOnce>>;

interface PullCommand extends Pick<PullParts, 'logger' | 'onProgress' | 'signal'> {
  /** Names of the kinds; none means all. */
  readonly kinds: readonly string[];
  readonly acceptNewSource: boolean;
}

/**
 * Pulls once: through the background service if one is running, otherwise in this process.
 * @throws {OtherSourceError} If the mirror holds another source's data. @throws {SyncError} `run.failed` if the run in the
 * background service failed.
 */
export async function pullOnce(config: Config, { kinds, acceptNewSource, ...command }: PullCommand) {
  const wanted = requireListedKinds(config, kinds);
  const startedAt = systemClock.now();
  await using source = openConfiguredSource(config, { clock: systemClock, logger: command.logger });
  await using session = await openMirror(config, { removesExcluded: true });
  const parts = { session, source, clock: systemClock, owner: THIS_PROCESS, ...command };
  const request = { kinds: wanted, acceptNewSource, ...pullSettings(config) };
  const monitor = { ping: createPing(config.monitor.pingUrl, parts), schedules: schedulesOf(config) };
  const report = (await delegatePull(parts, request)) ?? (await pullAndPing(parts, request, monitor));
  // Fields that came, went or were emptied meanwhile, and other changes in the answers; left out where there are none.
  const drift = await driftSince(session, startedAt);
  return { ...(await addStanding(session, report, wanted)), ...(drift.length > 0 && { drift }) };
}

async function addStanding(session: Session, report: PullReport, wanted: readonly ListedKind[]) {
  const names = new Set(report.kinds.map((kindReport) => kindReport.kind));
  const firsts = new Set(
    (await readUncertified(session)).filter(isFirstReading).map((uncertifiedKind) => uncertifiedKind.kind),
  );
  const suppressed = await countSuppressed(session);
  const off = await readOffKinds(
    session,
    wanted.map((kind) => kind.name),
  );
  return {
    ...report,
    /**
     * `isFirst` for a first reading that is not certified: the next one can prove that no row is missing. `suppressed`: records that
     * are kept out.
     */
    kinds: report.kinds.map((kind) => ({
      ...kind,
      isFirst: firsts.has(kind.kind),
      suppressed: suppressed.get(kind.kind) ?? 0,
    })),
    /** Records of these kinds that disappeared and are not proven to be gone. */
    disappeared: (await readDisappeared(session)).filter((hold) => names.has(hold.kind)),
    /** Optional kinds that the service does not show, with the reason; left out where there are none. */
    ...(off.length > 0 && { off: off.map(({ kind, reason }) => ({ kind, reason })) }),
  };
}

/** The settings of every pull and backfill. */
export function pullSettings(config: Config): PullSettings {
  const { source, deletions, sweep, diff, retention } = config;
  return {
    baseUrl: source.baseUrl ?? '',
    deletions,
    repeatBelowPages: sweep.repeatBelowPages,
    ignoreFields: diff.ignoreFields,
    retention: { ...retention, owners: TABLE_OWNERS },
  };
}
