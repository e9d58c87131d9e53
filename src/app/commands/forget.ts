import { hostname, userInfo } from 'node:os';
import type { Kind } from '../../catalog/kind.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { sqlitePath } from '../../mirror/open-session.ts';
import { forgetRecord, planForgetting as planOf } from '../../mirror/records/forget-record.ts';
import type { Forgotten, ForgetPlan } from '../../mirror/records/forget-record.ts';
import { scrubFile } from '../../mirror/sqlite/scrub.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { kindOfRecord } from './show.ts';
import { presentSnapshot, removeUnfinished, renewSnapshot } from '../snapshot-file.ts';
import type { RenewedSnapshot } from '../snapshot-file.ts';

export type { ForgetPlan } from '../../mirror/records/forget-record.ts';

export interface ForgetRequest {
  readonly kind: string;
  readonly id: string;
  /** Forgets a record that the service still lists, and keeps it out from now on. */
  readonly suppress: boolean;
}

/** The document of `forget --json`. */
export interface ForgetReport {
  readonly kind: string;
  readonly id: string;
  readonly suppressed: boolean;
  /** How many rows of each sort lost content. */
  readonly erased: Forgotten;
  /** Whether the free space of a SQLite file was cleared of it too; null in PostgreSQL. */
  readonly scrubbed: boolean | null;
  /** The snapshot that was rewritten, and whether that worked; null = none is set, or none was written yet. */
  readonly snapshot: RenewedSnapshot | null;
}

/**
 * Says what would be forgotten, and refuses what must not be; changes nothing.
 *
 * @throws {UsageError} For an unknown kind or an impossible id. @throws {SyncError} As `planForgetting` of the mirror.
 */
export async function planForgetting(config: Config, request: ForgetRequest): Promise<ForgetPlan> {
  const kind = kindOfRecord(config, { ...request, command: 'forget' });
  await using session = await openExistingMirror(config);
  return await planOf(session, { ...request, kind });
}

/** Removes the content of a record wherever the mirror has it. @throws As `planForgetting`. */
export async function forget(config: Config, request: ForgetRequest): Promise<ForgetReport> {
  const kind = kindOfRecord(config, { ...request, command: 'forget' });
  const { id, suppress } = request;
  const erased = await eraseRecord(config, { kind, id, suppress });
  const mirror = sqlitePath(config.database.url);
  const scrubbed = mirror === null ? null : scrubFile(mirror) === null;
  const snapshot = await rewriteSnapshot(config);
  return { kind: kind.name, id, suppressed: suppress, erased, scrubbed, snapshot };
}

/** With a session of its own: the file is rewritten without one. */
async function eraseRecord(
  config: Config,
  wanted: Omit<ForgetRequest, 'kind'> & { readonly kind: Kind },
): Promise<Forgotten> {
  await using session = await openExistingMirror(config);
  await session.makeDurable(); // What was reported as forgotten must not come back after a power cut.
  const by = `${userInfo().username}@${hostname()}`;
  return await session.atomically((tx) => forgetRecord(tx, { ...wanted, by, now: systemClock.now() }));
}

async function rewriteSnapshot(config: Config): Promise<RenewedSnapshot | null> {
  removeUnfinished(config);
  const file = presentSnapshot(config);
  if (file === null) return null;
  await using session = await openExistingMirror(config);
  return await renewSnapshot(session, config, file);
}
