import { isListed, isRetrievable } from '../../catalog/kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { kindNamed } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { backfill } from '../../pull/backfill.ts';
import type { BackfillReport, Extent } from '../../pull/backfill.ts';
import { createOwner } from '../../pull/run/parts.ts';
import type { PullParts } from '../../pull/run/parts.ts';
import { openMirror } from '../open-mirror.ts';
import { openConfiguredSource } from '../open-source.ts';
import { pullSettings } from '../pull.ts';

export type { BackfillReport, Extent } from '../../pull/backfill.ts';

interface BackfillCommand extends Pick<PullParts, 'logger' | 'onProgress' | 'signal'> {
  readonly kind: string;
  readonly extent: Extent;
  /** The extent as the person wrote it. */
  readonly request: string;
  readonly restart: boolean;
}

/** Reads records of one kind again by hand, in this process. */
export async function backfillKind(
  config: Config,
  { kind: name, extent, request, restart, ...command }: BackfillCommand,
): Promise<BackfillReport> {
  const kind = kindNamed(config, name);
  refuseUnreadable(kind, extent);
  await using source = openConfiguredSource(config, { clock: systemClock, logger: command.logger });
  await using session = await openMirror(config);
  const parts = { session, source, clock: systemClock, owner: createOwner(), ...command };
  return await backfill(parts, { kind, extent, request, restart, ...pullSettings(config) });
}

function refuseUnreadable(kind: Kind, extent: Extent): void {
  if (isListed(kind) || ('ids' in extent && isRetrievable(kind))) return;
  const message = `The service has no list of ${kind.name}: it is read one record at a time.`;
  throw new UsageError(message, { code: 'usage.kind', hint: `bms-sync backfill ${kind.name} --ids 1,5-9` });
}
