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
 * Pulls once: has the background service do it where one is at work, else does it in this process.
 *
 * @throws {OtherSourceError} Where the mirror holds another source's data. @throws {SyncError} `run.failed` where the run
 * that the service worked has failed.
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

/** The settings that every reading goes by. */
export function pullSettings({ source, sweep, deletions, diff, retention }: Config): PullSettings {
  return {
    baseUrl: source.baseUrl ?? '',
    deletions,
    repeatBelowPages: sweep.repeatBelowPages,
    ignoreFields: diff.ignoreFields,
    // What a token may see is its user's right; the digest tells tokens apart without keeping any.
    digestScope: createHash('sha256')
      .update(source.token ?? '')
      .digest('hex'),
    retention,
  };
}

export type PullSettings = Omit<PullRequest, 'kinds' | 'acceptNewSource'>;
