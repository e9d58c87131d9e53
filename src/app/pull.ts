import { createHash } from 'node:crypto';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { handOver } from './hand-over.ts';
import { createOwner } from '../pull/run/owner.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { pullKinds } from '../pull/pull-kinds.ts';
import type { PullReport, PullRequest } from '../pull/pull-kinds.ts';
import { listedKinds } from './kinds.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';

export type { Progress } from '../pull/run/parts.ts';
export type { PullReport } from '../pull/pull-kinds.ts';
export type { KindReport } from '../mirror/runs/run-store.ts';

export interface PullCommand extends Pick<PullParts, 'onProgress' | 'signal'> {
  readonly logger: Logger;
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
  { logger, kinds, acceptNewSource, ...follow }: PullCommand,
): Promise<PullReport> {
  const wanted = listedKinds(config, kinds);
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  await using session = await openMirror(config);
  const parts = { session, source, clock: systemClock, logger, owner: createOwner(), ...follow };
  const request = { kinds: wanted, acceptNewSource, ...pullSettings(config) };
  const handed = await handOver(parts, request);
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

export type PullSettings = Omit<PullRequest, 'kinds' | 'acceptNewSource'>;
