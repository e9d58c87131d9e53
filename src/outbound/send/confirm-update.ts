import { findSentField, type Kind } from '../../catalog/kind.ts';
import { canComeFrom } from '../../diff/rule-out.ts';
import { isSameInAnySpelling, compareReadBack, readNameOf } from '../../diff/merge-update.ts';
import { isBlank, shownValue, withBlanks } from '../../diff/shown-value.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { hasDrift, saveDrift } from '../../store/kinds/drift-store.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { dropBlock } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { awaitFields, finishEntry, scheduleRetry, retryDelayMs } from './end-entry.ts';
import { grade } from './grade.ts';
import { closeWithAnswer } from './journal.ts';
import { landOwnWrite } from './land-own-write.ts';
import type { OutboundParts } from '../parts.ts';
import { readEffects, readUnprovenFields } from './base.ts';
import { readFailure, readRemote } from './read-remote.ts';
import { completeRecord } from './shown-fields.ts';

/** An update in work, with the record as the service has it. */
export interface UpdateInWork {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly remote: JsonObject;
}

interface WrittenUpdate extends UpdateInWork {
  /** The written fields, by the names of a write. */
  readonly body: JsonObject;
  readonly answer: WriteAnswer;
}

/** Accepted writes that may leave a field unchanged before a person must look. */
const MAX_ROUNDS = 2;

/** Reads a record back after a write: only this, never the answer to the write, proves whether the write was done. */
export async function confirmUpdate(parts: OutboundParts, written: WrittenUpdate): Promise<void> {
  const { kind, entry } = written;
  const seen = await readAfter(parts, written).catch((error: unknown) => {
    if (error instanceof SourceError) return error; // It is unknown.
    throw error;
  });
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    if (written.answer.is === 'answered') await dropBlock(tx, kind.name, now);
    // A record that is not there is looked for again before the next write.
    if (seen === null) return retryUnconfirmed(tx, parts, written, { verdict: 'unreachable' });
    if (seen instanceof SourceError) return retryUnconfirmed(tx, parts, written, readFailure(seen));
    if (seen.hidden.length === 0) return concludeUpdate(tx, parts, written, seen.record);
    await closeWithAnswer(tx, entry, { grade: 'ambiguous', answer: written.answer, now });
    return awaitFields(tx, entry, seen.hidden, now);
  });
}

/** Reads the record after the write. A field that it showed before the write, and does not now, is blank. */
async function readAfter(parts: OutboundParts, written: WrittenUpdate) {
  const { kind, entry, remote, body } = written;
  const id = entry.recordId ?? '';
  const shown = await readRemote(parts, kind, id);
  if (shown === null) return null;
  const before = Object.keys(remote);
  const record = withBlanks(kind, shown, before, new Set(before));
  const names = Object.keys(body).map((name) => readNameOf(kind, name));
  const absent = names.filter((name) => shownValue(kind, record, name) === undefined);
  return completeRecord(parts, kind, { id, record, names: absent });
}

async function retryUnconfirmed(
  tx: Transaction,
  parts: OutboundParts,
  update: WrittenUpdate,
  { verdict, requestedMs = null }: { readonly verdict: string; readonly requestedMs?: number | null },
): Promise<void> {
  const { entry, answer } = update;
  const now = parts.clock.now();
  await closeWithAnswer(tx, entry, { grade: verdict === 'not_applied' ? verdict : 'ambiguous', answer, now });
  await scheduleRetry(tx, entry, { verdict, now, waitMs: retryDelayMs(parts, entry.attempts, requestedMs) });
}

async function concludeUpdate(
  tx: Transaction,
  parts: OutboundParts,
  written: WrittenUpdate,
  after: JsonObject,
): Promise<void> {
  const { kind, entry, remote, body, answer } = written;
  const now = parts.clock.now();
  const { missed, alsoChanged } = compareReadBack({ kind, body, before: remote, after });
  const isAccepted = grade(answer).is === 'accepted';
  const differing = missed.filter(
    (states) => !isSameInAnySpelling(kind, states.field, states.wanted, states.remote),
  );
  // Unless the service confirmed our values, another person may have written the same ones.
  if (differing.length > 0 && !isAccepted)
    return retryUnconfirmed(tx, parts, written, { verdict: 'no_answer' });
  // The service keeps some values in a form of its own: a change to what it may have made of the sent value counts as taken.
  const unapplied = differing.filter((states) => {
    const isAsBefore = JSON.stringify(remote[states.field] ?? null) === JSON.stringify(states.remote);
    return isAsBefore || !canComeFrom(findSentField(kind, states.field), states.wanted, states.remote);
  });
  // A person's request for another try allows one more round.
  const rounds = (await readAttempts(tx, entry.id)).filter((one) => one.grade === 'not_applied').length;
  if (unapplied.length > 0 && rounds + 1 < MAX_ROUNDS)
    return retryUnconfirmed(tx, parts, written, { verdict: 'not_applied' });

  const taken = isAccepted ? 'done' : 'ambiguous';
  await closeWithAnswer(tx, entry, { grade: unapplied.length > 0 ? 'not_applied' : taken, answer, now });
  // Land the reading before the write with origin `service`, then the reading after it with ours.
  await landOwnWrite(tx, parts, { kind, record: remote, origin: 'service', canBeNew: false });
  const ours = { kind, record: after, origin: `outbox:${entry.id}`, canBeNew: false };
  await landOwnWrite(tx, parts, { ...ours, sent: await readEffects(tx, kind, entry) });
  const isCleared = (name: string): boolean =>
    !isBlank(undefined, remote[name]) && isBlank(undefined, after[name]);
  await reportReplaced(tx, parts, kind.name, alsoChanged.filter(isCleared));
  if (unapplied.length > 0)
    return finishEntry(tx, entry, {
      state: 'parked',
      verdict: 'not_applied',
      result: { fields: missed },
      now,
    });
  const settlement = await readUnprovenFields(tx, kind, entry);
  const result = {
    ...(alsoChanged.length > 0 && { alsoChanged }),
    ...settlement,
    ...(missed.length > 0 && { normalized: missed }),
  };
  return finishEntry(tx, entry, { state: 'done', verdict: 'sent', result, settlement, now });
}

/** A service that empties the fields which an update does not name replaces whole records: reported once per kind. */
async function reportReplaced(
  tx: Transaction,
  parts: OutboundParts,
  kind: string,
  alsoChanged: readonly string[],
): Promise<void> {
  const drift = { kind, code: 'update_replaces', field: null } as const;
  if (alsoChanged.length === 0 || (await hasDrift(tx, drift))) return;
  await saveDrift(tx, [{ ...drift, detail: alsoChanged.join(', ') }], parts.clock.now());
  const hint = 'Name all fields of a record in its updates, until the service is known to keep the others.';
  parts.logger.warn(
    { event: 'drift.found', ...drift, hint },
    `an update of ${kind} emptied fields that it did not name: ${alsoChanged.join(', ')}`,
  );
}
