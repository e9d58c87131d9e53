import { createHash } from 'node:crypto';
import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { createOwner } from '../pull/run/owner.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullReport } from '../pull/pull-kinds.ts';
import { delegatePull } from '../runs/delegate-pull.ts';
import type { PullSettings } from '../runs/pull-between.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';

export type { Progress } from '../pull/run/parts.ts';
export type { PullReport } from '../pull/pull-kinds.ts';
export type { KindReport } from '../mirror/runs/run-store.ts';

interface PullCommand extends Pick<PullParts, 'logger' | 'onProgress' | 'signal'> {
  /** Names of the kinds; none means all. */
  readonly kinds: readonly string[];
  readonly acceptNewSource: boolean;
}

/**
 * Pulls once: through the background service if one is running, otherwise in this process.
 *
 * @throws {OtherSourceError} If the mirror holds another source's data. @throws {SyncError} `run.failed` if the run in the
 * background service failed.
 */
export async function pull(
  config: Config,
  { kinds, acceptNewSource, ...command }: PullCommand,
): Promise<PullReport> {
  const wanted = listedKinds(config, kinds);
  await using source = openConfiguredSource(config, { clock: systemClock, logger: command.logger });
  await using session = await openMirror(config);
  const parts = { session, source, clock: systemClock, owner: createOwner(), ...command };
  const request = { kinds: wanted, acceptNewSource, ...pullSettings(config) };
  const handed = await delegatePull(parts, request);
  return 'report' in handed ? handed.report : await pullKinds(parts, { ...request, ...handed });
}

/** The settings by which every pull and backfill reads. */
export function pullSettings({ source, sweep, deletions, diff, retention }: Config): PullSettings {
  return {
    baseUrl: source.baseUrl ?? '',
    deletions,
    repeatBelowPages: sweep.repeatBelowPages,
    ignoreFields: diff.ignoreFields,
    // A token sees as much as its user may; the digest distinguishes tokens without storing any.
    digestScope: createHash('sha256')
      .update(source.token ?? '')
      .digest('hex'),
    retention,
  };
}
