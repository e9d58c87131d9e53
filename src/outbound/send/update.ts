import type { Kind } from '../../catalog/kind.ts';
import { compactJson, type JsonObject } from '../../lib/json/json.ts';
import type { Transaction } from '../../db/session/session.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { SettlementNotes } from '../../store/outbox/settlement.ts';
import { SourceError } from '../../source/http/errors.ts';
import {
  awaitFields,
  blockKind,
  finishEntry,
  postponeForbidden,
  postponeRefused,
  scheduleRetry,
  retryDelayMs,
  postponeIfBlocked,
} from './end-entry.ts';
import { grade, canHaveArrived } from './grade.ts';
import { recordFailure, journalRequest, sendJournalled } from './journal.ts';
import { landOwnWrite } from './land-own-write.ts';
import { findOtherTarget } from './other-record.ts';
import type { OutboundParts } from '../parts.ts';
import { mergeUpdate, readDoubtfulFields, readEffects, readFilledSince, readUnprovenFields } from './base.ts';
import { completeRecord } from './shown-fields.ts';
import { confirmUpdate, type UpdateInWork } from './confirm-update.ts';
import { isNoSuchRecord, readControl, readFailure, readRemote } from './read-remote.ts';

/** Reads, merges, writes the differences and reads back; after any failure the next attempt starts with the reading. */
export async function updateRecord(parts: OutboundParts, kind: Kind, entry: Entry): Promise<void> {
  const seen = await readOrPostpone(parts, kind, entry);
  if (seen === null) return;
  const { record: remote, hidden } = seen;
  const otherSigns = await findOtherTarget(parts.session, kind, entry, remote);
  if (otherSigns === null && hidden.length > 0)
    return parts.session.atomically((tx) => awaitFields(tx, entry, hidden, parts.clock.now()));
  const merged = await mergeUpdate(parts.session, kind, entry, seen);
  if (merged.is === 'set' && otherSigns === null)
    return writeUpdate(parts, { kind, entry, remote }, merged.body);
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    const park = (verdict: string, conflicts: readonly JsonObject[]): Promise<void> =>
      finishEntry(tx, entry, { state: 'parked', verdict, result: { conflicts }, now });
    if (otherSigns !== null) return park('other_record', otherSigns);
    // An earlier attempt without an answer caused this state, unless others have written since.
    const isOurs = merged.is === 'nothing' && (await readAttempts(tx, entry.id)).some(canHaveArrived);
    const origin = isOurs ? `outbox:${entry.id}` : 'service';
    const sent = isOurs ? await readEffects(tx, kind, entry) : new Set<string>();
    await landOwnWrite(tx, parts, { kind, record: remote, origin, canBeNew: false, sent });
    if (merged.is === 'conflict') return park('conflict', merged.conflicts);
    const noted = isOurs ? await readUnprovenFields(tx, kind, entry) : {};
    const result = 'unproven' in noted ? noted : null;
    const verdict = isOurs ? 'sent' : 'already_so';
    return finishEntry(tx, entry, { state: 'done', verdict, result, settlement: noted, now });
  });
}

/** Reads the record; if that fails, puts the entry into its next state and returns null. */
async function readOrPostpone(parts: OutboundParts, kind: Kind, entry: Entry) {
  try {
    const id = entry.recordId ?? '';
    if (entry.attempts === 0 && (await isNoSuchRecord(parts, kind, id))) {
      const end = { state: 'parked', verdict: 'no_such_record', now: parts.clock.now() } as const;
      await parts.session.atomically((tx) => finishEntry(tx, entry, end));
      return null;
    }
    const record = await readRemote(parts, kind, id);
    if (record !== null) {
      const names = await readDoubtfulFields(parts.session, kind, entry, record);
      const completed = await completeRecord(parts, kind, { id, record, names });
      return { ...completed, blank: await readFilledSince(parts, kind, entry, completed.record) };
    }
    await concludeGone(parts, kind, entry);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const { reason } = error;
    const control = reason === 'forbidden' ? await readControl(parts, kind, entry.recordId ?? '') : null;
    await parts.session.atomically((tx) => {
      const now = parts.clock.now();
      if (reason === 'unauthorized') return postponeRefused(tx, entry, now);
      if (control === 'forbidden') return blockKind(tx, entry, reason, now);
      if (reason === 'forbidden')
        return postponeForbidden(tx, parts, entry, { reason, isAlone: control === 'answers', now });
      return postponeRead(tx, parts, entry, readFailure(error));
    });
  }
  return null;
}

/**
 * A record is gone if sweeps have proven its deletion; else only if it does not answer twice, a grace period apart, while another
 * one of its kind does. One that no list has ever shown may wait for an approval in the service.
 */
async function concludeGone(parts: OutboundParts, kind: Kind, entry: Entry): Promise<void> {
  const id = entry.recordId ?? '';
  const rows = await parts.session.atomically((tx) =>
    tx.readRowsById(kind.name, ['_deleted_at', '_listed'], [id]),
  );
  const [deletedAt = null, listed] = rows.get(id) ?? [];
  const isDeleted = deletedAt !== null;
  const control = isDeleted ? 'answers' : await readControl(parts, kind, id);
  const isSound = control === 'answers' || control === 'none';
  await parts.session.atomically((tx) => {
    const now = parts.clock.now();
    if (!isSound) return postponeRead(tx, parts, entry, { verdict: 'unreachable', requestedMs: null });
    const goneSince = readNotes(entry).goneSince ?? formatInstant(now);
    const forMs = now.getTime() - parseInstant(goneSince).getTime();
    const isOver = forMs > 0 && forMs >= parts.rules.graceSeconds * 1000;
    if (isDeleted || (isOver && listed !== null))
      return finishEntry(tx, entry, { state: 'parked', verdict: 'gone', now });
    return postponeRead(tx, parts, entry, {
      verdict: 'gone',
      requestedMs: isOver ? HOUR_MS : null,
      goneSince,
    });
  });
}

const HOUR_MS = 3_600_000;

/** What earlier readings of the record have noted. */
const readNotes = (entry: Entry): SettlementNotes =>
  ['unreachable', 'busy', 'gone'].includes(entry.verdict ?? '') ? entry.settlement : {};

/** Puts off an entry whose record could not be read, or was not there. No request was sent, so the attempts do not count that. */
async function postponeRead(
  tx: Transaction,
  parts: OutboundParts,
  entry: Entry,
  later: { readonly verdict: string; readonly requestedMs: number | null; readonly goneSince?: string },
): Promise<void> {
  const { verdict, requestedMs, ...noted } = later;
  const notes = readNotes(entry);
  const failedReads = (notes.failedReads ?? 0) + 1;
  const waitMs = retryDelayMs(parts, entry.attempts + failedReads, requestedMs);
  const settlement = { ...notes, ...noted, failedReads };
  await scheduleRetry(tx, entry, { verdict, settlement, now: parts.clock.now(), waitMs });
}

/** Writes of the same fields that may have arrived before a person must look. */
const MAX_ATTEMPTS = 10;

async function writeUpdate(parts: OutboundParts, updating: UpdateInWork, body: JsonObject): Promise<void> {
  const { session, clock } = parts;
  const { kind, entry, remote } = updating;
  // A person requested another attempt: until it ends there is no verdict.
  const attempts = entry.verdict === null ? [] : await readAttempts(session, entry.id);
  if (attempts.filter(canHaveArrived).length >= MAX_ATTEMPTS) {
    return session.atomically((tx) =>
      finishEntry(tx, entry, { state: 'parked', verdict: 'no_answer', now: clock.now() }),
    );
  }
  const journalled = await session.atomically(async (tx) => {
    if (await postponeIfBlocked(tx, entry, clock.now())) return null; // Another update has just tried, in vain or not yet.
    return journalRequest(tx, parts, updating, compactJson(body));
  });
  if (journalled === null) return;
  const answer = await sendJournalled(parts, kind, journalled);
  const graded = grade(answer);
  if (graded.is === 'accepted' || graded.is === 'ambiguous')
    return confirmUpdate(parts, { kind, entry: journalled.entry, remote, body, answer });
  await session.atomically((tx) =>
    recordFailure(tx, parts, journalled.entry, { answer, graded, now: clock.now() }),
  );
}
