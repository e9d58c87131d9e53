import type { Kind } from '../../catalog/kind.ts';
import { compactJson, type JsonObject } from '../../lib/json/json.ts';
import type { Transaction } from '../../db/session/session.ts';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { SettlementNotes } from '../../store/outbox/settlement.ts';
import { SourceError } from '../../source/http/errors.ts';
import { blockKind, finishAs, stepBack, tryLater, waitAfter, waitsForBlock } from '../attempt/conclude.ts';
import { grade, mayHaveArrived } from '../attempt/grade.ts';
import { closeFailed, journal, sendJournalled } from '../attempt/journal.ts';
import { landOwn } from '../attempt/land-own.ts';
import { findOtherTarget } from '../attempt/other-record.ts';
import type { OutboundParts } from '../parts.ts';
import { mergeOwn, unprovenFields } from './base.ts';
import { confirmUpdate, type Updating } from './confirm-update.ts';
import { readControl, readRemote } from './read-remote.ts';

/**
 * Reads, merges, writes the differences and reads back; after any failure the next attempt starts with the reading.
 */
export async function update(
  parts: OutboundParts,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
): Promise<void> {
  const remote = await readOrLater(parts, kind, entry);
  if (remote === null) return;
  const others = await findOtherTarget(parts.session, kind, entry, remote);
  const merged = await mergeOwn(parts.session, kind, entry, remote);
  if (merged.is === 'set' && others === null) return write(parts, { kind, entry, remote }, merged.body);
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    const park = (verdict: string, differing: readonly JsonObject[]): Promise<void> =>
      finishAs(tx, entry, { state: 'parked', verdict, result: { conflicts: differing }, now });
    if (others !== null)
      return park(
        'other_record',
        others.map((sign) => ({ ...sign })),
      );
    if (merged.is === 'conflict')
      return park(
        'conflict',
        merged.conflicts.map((conflict) => ({ ...conflict })),
      );
    // An earlier attempt without an answer caused this state.
    const isOurs = (await readAttempts(tx, entry.id)).some(mayHaveArrived);
    const origin = isOurs ? `outbox:${entry.id}` : 'service';
    await landOwn(tx, parts, { kind, record: remote, origin, mayBeNew: false });
    const noted = isOurs ? await unprovenFields(tx, kind, entry) : {};
    const result = 'unproven' in noted ? noted : null;
    const verdict = isOurs ? 'sent' : 'already_so';
    return finishAs(tx, entry, { state: 'done', verdict, result, settlement: noted, now });
  });
}

/** Reads the record; if that fails, puts the entry into its next state and returns null. */
async function readOrLater(parts: OutboundParts, kind: Kind, entry: Entry): Promise<JsonObject | null> {
  try {
    const record = await readRemote(parts, kind, entry.recordId ?? '');
    if (record === null) await concludeGone(parts, kind, entry);
    return record;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const { reason, passing } = error;
    const control = reason === 'forbidden' ? await readControl(parts, kind, entry.recordId ?? '') : null;
    await parts.session.atomically((tx) => {
      const now = parts.clock.now();
      if (reason === 'unauthorized' || control === 'forbidden') return blockKind(tx, entry, reason, now);
      if (reason === 'forbidden') return stepBack(tx, entry, { reason, isAlone: control === 'answers' }, now);
      return readLater(tx, parts, entry, { verdict: 'unreachable', askedMs: passing?.waitMs ?? null });
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
    tx.rowsById(kind.name, ['_deleted_at', '_listed'], [id]),
  );
  const [deletedAt = null, listed] = rows.get(id) ?? [];
  const isDeleted = deletedAt !== null;
  const control = isDeleted ? 'answers' : await readControl(parts, kind, id);
  const isSound = control === 'answers' || control === 'none';
  await parts.session.atomically((tx) => {
    const now = parts.clock.now();
    if (!isSound) return readLater(tx, parts, entry, { verdict: 'unreachable', askedMs: null });
    const goneSince = readNotes(entry).goneSince ?? instantText(now);
    const forMs = now.getTime() - instantOf(goneSince).getTime();
    const isOver = forMs > 0 && forMs >= parts.rules.graceSeconds * 1000;
    if (isDeleted || (isOver && listed !== null))
      return finishAs(tx, entry, { state: 'parked', verdict: 'gone', now });
    return readLater(tx, parts, entry, { verdict: 'gone', askedMs: isOver ? HOUR_MS : null, goneSince });
  });
}

const HOUR_MS = 3_600_000;

/** What earlier readings of the record have noted. */
const readNotes = (entry: Entry): SettlementNotes =>
  entry.verdict === 'unreachable' || entry.verdict === 'gone' ? entry.settlement : {};

/** Puts off an entry whose record could not be read, or was not there. No request was sent, so the attempts do not count that. */
async function readLater(
  tx: Transaction,
  parts: OutboundParts,
  entry: Entry,
  later: { readonly verdict: string; readonly askedMs: number | null; readonly goneSince?: string },
): Promise<void> {
  const { verdict, askedMs, ...noted } = later;
  const notes = readNotes(entry);
  const failedReads = (notes.failedReads ?? 0) + 1;
  const waitMs = waitAfter({ attempts: entry.attempts + failedReads }, parts, askedMs);
  const settlement = { ...notes, ...noted, failedReads };
  await tryLater(tx, entry, { verdict, settlement, now: parts.clock.now(), waitMs });
}

/** Writes of the same fields before a person must look. */
const MOST_ATTEMPTS = 10;

async function write(parts: OutboundParts, updating: Updating, body: JsonObject): Promise<void> {
  const { session, clock } = parts;
  const { kind, entry, remote } = updating;
  // A person requested another attempt: until it ends there is no verdict.
  if (entry.attempts >= MOST_ATTEMPTS && entry.verdict !== null) {
    await session.atomically((tx) =>
      finishAs(tx, entry, { state: 'parked', verdict: 'no_answer', now: clock.now() }),
    );
    return;
  }
  const path = (kind.update?.path ?? '').replace(':id', entry.recordId ?? '');
  const journalled = await session.atomically(async (tx) => {
    if (await waitsForBlock(tx, entry, clock.now())) return null; // Another update has just tried, in vain or not yet.
    return journal(tx, entry, { body: compactJson(body), path, clock });
  });
  if (journalled === null) return;
  const answer = await sendJournalled(parts, kind, journalled);
  const graded = grade(answer);
  if (graded.is === 'accepted' || graded.is === 'ambiguous')
    return confirmUpdate(parts, { kind, entry: journalled.entry, remote, body, answer });
  await session.atomically((tx) =>
    closeFailed(tx, parts, journalled.entry, { answer, graded, now: clock.now() }),
  );
}
