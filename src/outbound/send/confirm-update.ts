import { sentField, type Kind } from '../../catalog/kind.ts';
import { mayBeMadeOf } from '../../diff/rule-out.ts';
import { isBlank, isSameInAnySpelling, readBack } from '../../diff/written.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { hasDrift, saveDrift } from '../../store/kinds/drift-store.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { dropBlock } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { finishAs, tryLater, waitAfter } from '../attempt/conclude.ts';
import { grade } from '../attempt/grade.ts';
import { closeWith } from '../attempt/journal.ts';
import { landOwn } from '../attempt/land-own.ts';
import type { OutboundParts } from '../parts.ts';
import { unprovenFields } from './base.ts';
import { readRemote } from './read-remote.ts';

/** An update in work, with the record as the service has it. */
export interface Updating {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly remote: JsonObject;
}

interface WrittenUpdate extends Updating {
  /** The written fields, by the names of a write. */
  readonly body: JsonObject;
  readonly answer: WriteAnswer;
}

/** Accepted writes that may leave a field unchanged before a person must look. */
const ROUNDS = 2;

/** Reads a record back after a write: only this, never the answer to the write, proves whether the write was done. */
export async function confirmUpdate(parts: OutboundParts, written: WrittenUpdate): Promise<void> {
  const { kind, entry } = written;
  const after = await readRemote(parts, kind, entry.recordId ?? '').catch((error: unknown) => {
    if (error instanceof SourceError) return undefined; // It is unknown.
    throw error;
  });
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    if (written.answer.is === 'answered') await dropBlock(tx, kind.name, now);
    // A record that is not there is looked for again before the next write.
    if (after === undefined || after === null) return retryUnconfirmed(tx, parts, written, 'unreachable');
    return conclude(tx, parts, written, after);
  });
}

async function retryUnconfirmed(
  tx: Transaction,
  parts: OutboundParts,
  { entry, answer }: WrittenUpdate,
  verdict: 'unreachable' | 'no_answer' | 'not_applied',
): Promise<void> {
  const now = parts.clock.now();
  await closeWith(tx, entry, { grade: verdict === 'not_applied' ? verdict : 'ambiguous', answer, now });
  await tryLater(tx, entry, { verdict, now, waitMs: waitAfter(entry, parts, null) });
}

async function conclude(
  tx: Transaction,
  parts: OutboundParts,
  written: WrittenUpdate,
  after: JsonObject,
): Promise<void> {
  const { kind, entry, remote, body, answer } = written;
  const now = parts.clock.now();
  const { missed, others } = readBack({ kind, body, before: remote, after });
  const isAccepted = grade(answer).is === 'accepted';
  const otherwise = missed.filter(
    (states) => !isSameInAnySpelling(kind, states.field, states.wanted, states.remote),
  );
  // Where the service has not said that it took them, another person may have written what looks like our values.
  if (otherwise.length > 0 && !isAccepted) return retryUnconfirmed(tx, parts, written, 'no_answer');
  // The service keeps some values in a form of its own: a change to what it may have made of the sent value counts as taken.
  const lost = otherwise.filter((states) => {
    const isAsBefore = JSON.stringify(remote[states.field] ?? null) === JSON.stringify(states.remote);
    return isAsBefore || !mayBeMadeOf(sentField(kind, states.field), states.wanted, states.remote);
  });
  // A person's request for another try allows one more round.
  const rounds = (await readAttempts(tx, entry.id)).filter(
    (attempt) => attempt.grade === 'not_applied',
  ).length;
  if (lost.length > 0 && rounds + 1 < ROUNDS) return retryUnconfirmed(tx, parts, written, 'not_applied');

  const taken = isAccepted ? 'done' : 'ambiguous';
  await closeWith(tx, entry, { grade: lost.length > 0 ? 'not_applied' : taken, answer, now });
  // Land the reading before the write with origin `service`, then the reading after it with ours.
  await landOwn(tx, parts, { kind, record: remote, origin: 'service', mayBeNew: false });
  await landOwn(tx, parts, { kind, record: after, origin: `outbox:${entry.id}`, mayBeNew: false });
  const isCleared = (name: string): boolean =>
    !isBlank(undefined, remote[name]) && isBlank(undefined, after[name]);
  await tellReplaced(tx, parts, kind.name, others.filter(isCleared));
  const fields = missed.map((field) => ({ ...field }));
  if (lost.length > 0)
    return finishAs(tx, entry, { state: 'parked', verdict: 'not_applied', result: { fields }, now });
  const settlement = await unprovenFields(tx, kind, entry);
  const result = {
    ...(others.length > 0 && { alsoChanged: others }),
    ...settlement,
    ...(fields.length > 0 && { normalized: fields }),
  };
  return finishAs(tx, entry, { state: 'done', verdict: 'sent', result, settlement, now });
}

/** A service that empties the fields which an update does not name replaces whole records: told once for each kind. */
async function tellReplaced(
  tx: Transaction,
  parts: OutboundParts,
  kind: string,
  others: readonly string[],
): Promise<void> {
  const drift = { kind, code: 'update_replaces', field: null } as const;
  if (others.length === 0 || (await hasDrift(tx, drift))) return;
  await saveDrift(tx, [{ ...drift, detail: others.join(', ') }], parts.clock.now());
  const hint = 'Name all fields of a record in its updates, until the service is known to keep the others.';
  parts.logger.warn(
    { event: 'drift.found', ...drift, hint },
    `an update of ${kind} emptied fields that it did not name: ${others.join(', ')}`,
  );
}
