import { hostname, userInfo } from 'node:os';
import { kindNamed } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { recordId } from '../../diff/judge-page.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { sqlitePath } from '../../mirror/open-session.ts';
import { openEntries } from '../../mirror/records/erasure-store.ts';
import { forgetRecord, recordStanding } from '../../mirror/records/forget-record.ts';
import type { Forgotten, RecordStanding } from '../../mirror/records/forget-record.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { scrubFile } from '../../mirror/sqlite/scrub.ts';
import { readRecordStory } from '../../mirror/records/record-story.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { presentSnapshot, renewSnapshot } from '../snapshot-file.ts';
import type { RenewedSnapshot } from '../snapshot-file.ts';

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

/** What there is to forget. */
export interface ForgetPlan {
  readonly standing: RecordStanding;
  readonly events: number;
  readonly issues: number;
  readonly entries: number;
}

/**
 * Says what would be forgotten, and refuses what must not be; changes nothing.
 *
 * @throws {UsageError} For an unknown kind or an impossible id. @throws {SyncError} `forget.listed` while the service lists the
 * record, `forget.entries_open` while entries of the outbox are under way, `record.absent` without a trace of it.
 */
export async function planForgetting(config: Config, request: ForgetRequest): Promise<ForgetPlan> {
  const kind = kindNamed(config, request.kind);
  refuseImpossible(request);
  await using session = await openExistingMirror(config);
  const standing = await session.atomically((tx) => checkedStanding(config, tx, request));
  const story = await readRecordStory(session, kind, request.id);
  if (story === null)
    throw new SyncError(`The mirror has no trace of record ${request.id} of ${kind.name}.`, {
      code: 'record.absent',
      hint: 'Nothing needs to be forgotten.',
    });
  const entries = story.entries.length + story.endedEntries.length;
  return { standing, events: story.events.length, issues: story.issues.length, entries };
}

function refuseImpossible({ kind, id }: ForgetRequest): void {
  if (!('fault' in recordId({ id }))) return;
  throw new UsageError(
    `"${id}" is no id of a record: expected a whole number from 1 to 9223372036854775807.`,
    {
      code: 'usage.record',
      hint: `For example: bms-sync forget ${kind} 17`,
    },
  );
}

async function checkedStanding(
  config: Config,
  tx: Transaction,
  request: ForgetRequest,
): Promise<RecordStanding> {
  const { id, suppress } = request;
  const kind = kindNamed(config, request.kind);
  const standing = await recordStanding(tx, kind, id);
  if (standing === 'live' && !suppress)
    throw new SyncError(`Record ${id} of ${kind.name} is live: the next pull would read it again.`, {
      code: 'forget.listed',
      hint: 'Delete it at the service and pull until the mirror has its deletion, or add --suppress to keep it out.',
    });
  const open = await openEntries(tx, { kind: kind.name, id });
  if (open.length > 0)
    throw new SyncError(
      `Entries of the outbox for record ${id} of ${kind.name} are open: ${open.join(', ')}.`,
      {
        code: 'forget.entries_open',
        hint: 'Wait for their end, or decide: bms-sync outbox show ID, then abandon ID.',
      },
    );
  return standing;
}

/** Removes the content of a record wherever the mirror has it. @throws As `planForgetting`. */
export async function forget(config: Config, request: ForgetRequest): Promise<ForgetReport> {
  const kind = kindNamed(config, request.kind);
  refuseImpossible(request);
  const { id, suppress } = request;
  const erased = await eraseRecord(config, request);
  const mirror = sqlitePath(config.database.url);
  const scrubbed = mirror === null ? null : scrubFile(mirror) === null;
  const snapshot = await rewriteSnapshot(config);
  return { kind: kind.name, id, suppressed: suppress, erased, scrubbed, snapshot };
}

/** With a session of its own: the file is rewritten without one. */
async function eraseRecord(config: Config, request: ForgetRequest): Promise<Forgotten> {
  const kind = kindNamed(config, request.kind);
  await using session = await openExistingMirror(config);
  await session.makeDurable(); // What was reported as forgotten must not come back after a power cut.
  return await session.atomically(async (tx) => {
    await checkedStanding(config, tx, request);
    const by = `${userInfo().username}@${hostname()}`;
    const { id, suppress } = request;
    return forgetRecord(tx, { kind, id, suppress, by, now: systemClock.now() });
  });
}

async function rewriteSnapshot(config: Config): Promise<RenewedSnapshot | null> {
  const file = presentSnapshot(config);
  if (file === null) return null;
  await using session = await openExistingMirror(config);
  return await renewSnapshot(session, config, file);
}
