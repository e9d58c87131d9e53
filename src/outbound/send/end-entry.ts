import { compactJson, isArray, isObject, type Json } from '../../lib/json/json.ts';
import { backoffMs } from '../../lib/time/backoff.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { changeEntry, type Entry, type EntryPatch } from '../../store/outbox/outbox-store.ts';
import type { SettlementNotes } from '../../store/outbox/settlement.ts';
import {
  countOthersReady,
  countRefused,
  hasWrittenOther,
  isOtherForbidden,
  wakeWaiting,
  readBlock,
  saveBlock,
} from '../../store/outbox/outbox-queue.ts';
import { noteRefusal } from '../../store/runs/run-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { addNotification, entryNotification } from '../../store/notifications/notifications.ts';
import type { OutboundParts } from '../parts.ts';
import { isSuppressed } from '../../store/records/erasure-store.ts';

/** Another process took the entry over while we worked on it; our pending changes must not be stored. */
export class ClaimLostError extends SyncError {
  override readonly name = 'ClaimLostError';

  constructor(id: number) {
    super(`Entry ${id} of the outbox was taken over by another process.`, {
      code: 'outbox.claim_lost',
      hint: 'Nothing is lost: that process continues from the journal.',
    });
  }
}

/**
 * Releases an entry in a new state. The epoch rises, so that no process continues the earlier claim.
 * @throws {ClaimLostError} If this process no longer holds the entry; the transaction must not commit.
 */
export async function releaseEntry(
  tx: Transaction,
  entry: Entry,
  { now, ...patch }: EntryPatch & { readonly now: Date },
): Promise<void> {
  const { id, epoch } = entry;
  const { sameSince } = entry.settlement;
  const kept = patch.settlement &&
    sameSince !== undefined && { settlement: { ...patch.settlement, sameSince } };
  const released = { ...patch, ...kept, owner: null };
  const isOurs = await changeEntry(tx, { id, epoch, now, patch: released, raises: true });
  if (!isOurs) throw new ClaimLostError(id);
}

/** An entry that is done, or waits for a person: entries waiting for it may continue. */
export async function finishEntry(
  tx: Transaction,
  entry: Entry,
  end: {
    readonly state: 'done' | 'parked' | 'rejected';
    readonly verdict: string;
    readonly result?: Json;
    readonly settlement?: SettlementNotes;
    readonly recordId?: string;
    readonly now: Date;
  },
): Promise<void> {
  const { state, verdict, result = null, settlement = {}, recordId, now } = end;
  await releaseEntry(tx, entry, {
    state,
    verdict,
    now,
    result: result === null ? null : compactJson(await storableResult(tx, entry, result)),
    settlement,
    nextAttemptAt: null,
    ...(recordId !== undefined && { recordId }),
  });
  const ended = { ...entry, verdict, recordId: recordId ?? entry.recordId };
  if (state !== 'parked') await wakeWaiting(tx, entry, now);
  await addNotification(tx, entryNotification(state, ended, now));
}

/** Parks a create beside the records that it may double, or may have made. */
export const parkBeside = (
  tx: Transaction,
  { entry, now }: { readonly entry: Entry; readonly now: Date },
  verdict: string,
  ids: readonly string[],
): Promise<void> =>
  finishEntry(tx, entry, { state: 'parked', verdict, result: { ids }, settlement: { ids }, now });

/** Puts an entry back for a later try. */
export async function scheduleRetry(
  tx: Transaction,
  entry: Entry,
  later: {
    readonly verdict: string;
    readonly settlement?: SettlementNotes;
    readonly now: Date;
    readonly waitMs: number;
  },
): Promise<void> {
  const { verdict, settlement, now, waitMs } = later;
  const nextAttemptAt = formatInstant(new Date(now.getTime() + waitMs));
  const noted = settlement && { settlement, result: null };
  await releaseEntry(tx, entry, { state: 'ready', verdict, ...noted, nextAttemptAt, now });
}

const LOOK_AGAIN_MS = 3_600_000;

/** Puts back an entry whose fields the service does not show: no conflict, success or double of it could be seen. */
export function awaitFields(tx: Transaction, entry: Entry, fields: readonly string[], now: Date) {
  const settlement = { hidden: fields };
  return scheduleRetry(tx, entry, { verdict: 'field_not_shown', settlement, now, waitMs: LOOK_AGAIN_MS });
}

const PROBE_AFTER_MS = 300_000;

/** A request of a blocked kind is about to be sent: later entries wait for its outcome. */
export async function postponeProbe(tx: Transaction, kind: string, now: Date): Promise<void> {
  const block = await readBlock(tx, kind);
  if (block === null) return;
  await saveBlock(tx, { ...block, now, probeAt: new Date(now.getTime() + PROBE_AFTER_MS) });
}

/** Whether our token may not write the kind, and it is too early to try again; the entry is then put back. */
export async function postponeIfBlocked(tx: Transaction, entry: Entry, now: Date): Promise<boolean> {
  const block = await readBlock(tx, entry.kind);
  const waitMs = block === null ? 0 : parseInstant(block.probeAt).getTime() - now.getTime();
  if (waitMs <= 0) return false;
  await scheduleRetry(tx, entry, { verdict: 'kind_blocked', now, waitMs });
  return true;
}

/** Blocks a kind that our token may not write, and puts the entry behind the waiting ones, because its attempt has just failed. */
export async function blockKind(tx: Transaction, entry: Entry, reason: string, now: Date): Promise<void> {
  const probeAt = new Date(now.getTime() + PROBE_AFTER_MS);
  const { kind, id: entryId, recordId } = entry;
  if ((await readBlock(tx, kind)) === null)
    await addNotification(tx, { type: 'kind.blocked', kind, facts: { reason, entryId, recordId }, now });
  await saveBlock(tx, { kind, reason, now, probeAt });
  const settlement = { refusedSince: refusedSince(entry) ?? formatInstant(now) };
  const waitMs = PROBE_AFTER_MS * (1 + Math.min(MAX_ENTRIES_AHEAD, await countOthersReady(tx, entry)));
  await scheduleRetry(tx, entry, { verdict: 'kind_blocked', settlement, now, waitMs });
}

const MAX_ENTRIES_AHEAD = 287; // With it, a day passes.

const TRY_TOKEN_AFTER_MS = 60_000;

/** Puts back an entry because the service refuses our token, for every kind. One entry a minute tries for all. */
export async function postponeRefused(tx: Transaction, entry: Entry, now: Date): Promise<void> {
  await noteRefusal(tx, now.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length), now);
  const waitMs = TRY_TOKEN_AFTER_MS * (1 + Math.min(MAX_ENTRIES_AHEAD, await countRefused(tx)));
  await scheduleRetry(tx, entry, { verdict: 'token_refused', now, waitMs });
}

/**
 * Puts back an entry whose record alone we may not read or write; another record that is refused, too, blocks the kind, which a
 * person is notified of. The entry is parked once it is known that the token may write others (another write has succeeded since,
 * or `isAlone`: others can be read), or if nothing else of its kind has shown anything for the whole patience.
 */
export async function postponeForbidden(
  tx: Transaction,
  { rules }: Pick<OutboundParts, 'rules'>,
  entry: Entry,
  { reason, isAlone, now }: { readonly reason: string; readonly isAlone: boolean; readonly now: Date },
): Promise<void> {
  const since = refusedSince(entry) ?? formatInstant(now);
  const park = { state: 'parked', verdict: 'forbidden', result: { reason }, now } as const;
  if (isAlone || (await hasWrittenOther(tx, entry, since))) return finishEntry(tx, entry, park);
  if ((await readBlock(tx, entry.kind)) !== null || (await isOtherForbidden(tx, entry, now)))
    return blockKind(tx, entry, reason, now);
  const isOver = now.getTime() - parseInstant(since).getTime() >= rules.patienceSeconds * 1000;
  if (isOver) return finishEntry(tx, entry, park);
  const later = { verdict: 'forbidden', settlement: { refusedSince: since }, now, waitMs: PROBE_AFTER_MS };
  return scheduleRetry(tx, entry, later);
}

/** Since when the service has refused an entry, without another outcome in between; null = it has not. */
function refusedSince(entry: Entry): string | null {
  const isRefused = entry.verdict === 'forbidden' || entry.verdict === 'kind_blocked';
  return (isRefused ? entry.settlement.refusedSince : null) ?? null;
}

const BACKOFF = { firstMs: 10_000, mostMs: 600_000, fixedShare: 0.5 };

/** How long an entry waits after an inconclusive attempt: as long as the service asks, or longer with each attempt. */
export function retryDelayMs(parts: OutboundParts, attempts: number, requestedMs: number | null): number {
  return requestedMs ?? backoffMs(BACKOFF, attempts, parts.waits.random);
}

type EntryRecord = Pick<Entry, 'kind' | 'recordId'>;

/** The part of an answer to a write that may be stored: nothing of a record that `forget --suppress` keeps out of the mirror. */
export async function storableAnswer(tx: Transaction, record: EntryRecord, start: string): Promise<string> {
  const isSuppressedRecord = start !== '' && (await isSuppressed(tx, record.kind, record.recordId));
  return isSuppressedRecord ? '(not shown: forget --suppress)' : start;
}

/** The details of a verdict that may be stored: of a record that is kept out, the names of fields without their values. */
async function storableResult(tx: Transaction, record: EntryRecord, result: Json): Promise<Json> {
  return (await isSuppressed(tx, record.kind, record.recordId)) ? withoutValues(result) : result;
}

/** Members of a result that hold values of the service. */
const VALUES: ReadonlySet<string> = new Set(['base', 'remote', 'wanted', 'answer']);

function withoutValues(result: Json): Json {
  if (isArray(result)) return result.map(withoutValues);
  if (!isObject(result)) return result;
  const members = Object.entries(result).filter(([name]) => !VALUES.has(name));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutValues(value)]));
}
