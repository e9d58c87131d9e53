import { askableKind, isListed, sentField } from '../../catalog/kind.ts';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/judge-page.ts';
import { MOST_CONTROL_FAILURES } from '../../diff/plan-deletions.ts';
import { mayBeMadeOf } from '../../diff/rule-out.ts';
import { isBlank, readBack } from '../../diff/written.ts';
import { isObject } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { hasDrift, saveDrift } from '../../mirror/kinds/drift-store.ts';
import { readStanding } from '../../mirror/kinds/kind-standing.ts';
import { readAttempts } from '../../mirror/outbox/attempts-and-links.ts';
import { dropBlock } from '../../mirror/outbox/outbox-queue.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { readPageOf } from '../../mirror/sightings/page-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { PageRange } from '../../source/paging/sweep-plan.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { finishAs, tryLater, waitAfter } from '../attempt/conclude.ts';
import { grade } from '../attempt/grade.ts';
import { closeWith } from '../attempt/journal.ts';
import { landOwn } from '../attempt/land-own.ts';
import type { OutboundParts } from '../parts.ts';

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
    if (after === undefined) return retryUnconfirmed(tx, parts, written, 'unreachable');
    if (after !== null) return conclude(tx, parts, written, after);
    await closeWith(tx, entry, { grade: 'ambiguous', answer: written.answer, now });
    return finishAs(tx, entry, { state: 'parked', verdict: 'gone', now });
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
  // Where the service has not said that it took them, another person may have written what looks like our values.
  if (missed.length > 0 && grade(answer).is !== 'accepted')
    return retryUnconfirmed(tx, parts, written, 'no_answer');
  // The service keeps some values in a form of its own: a change to what it may have made of the sent value counts as taken.
  const lost = missed.filter(({ field, remote: present, wanted }) => {
    const isAsBefore = JSON.stringify(remote[field] ?? null) === JSON.stringify(present);
    return isAsBefore || !mayBeMadeOf(sentField(kind, field), wanted, present);
  });
  // A person's request for another try allows one more round.
  const rounds = (await readAttempts(tx, entry.id)).filter(
    (attempt) => attempt.grade === 'not_applied',
  ).length;
  if (lost.length > 0 && rounds + 1 < ROUNDS) return retryUnconfirmed(tx, parts, written, 'not_applied');

  await closeWith(tx, entry, { grade: lost.length > 0 ? 'not_applied' : 'done', answer, now });
  // Land the reading before the write with origin `service`, then the reading after it with ours.
  await landOwn(tx, parts, { kind, record: remote, origin: 'service', mayBeNew: false });
  await landOwn(tx, parts, { kind, record: after, origin: `outbox:${entry.id}`, mayBeNew: false });
  const isCleared = (name: string): boolean =>
    !isBlank(undefined, remote[name]) && isBlank(undefined, after[name]);
  await tellReplaced(tx, parts, kind.name, others.filter(isCleared));
  const fields = missed.map((field) => ({ ...field }));
  if (lost.length > 0)
    return finishAs(tx, entry, { state: 'parked', verdict: 'not_applied', result: { fields }, now });
  const result = {
    ...(others.length > 0 && { alsoChanged: others }),
    ...(fields.length > 0 && { normalized: fields }),
  };
  return finishAs(tx, entry, { state: 'done', verdict: 'sent', result, now });
}

/** A service that empties the fields which an update does not name replaces whole records: told once for each kind. */
async function tellReplaced(
  tx: Transaction,
  { logger, clock }: OutboundParts,
  kind: string,
  others: readonly string[],
): Promise<void> {
  const drift = { kind, code: 'update_replaces', field: null } as const;
  if (others.length === 0 || (await hasDrift(tx, drift))) return;
  await saveDrift(tx, [{ ...drift, detail: others.join(', ') }], clock.now());
  const hint = 'Name all fields of a record in its updates, until the service is known to keep the others.';
  logger.warn(
    { event: 'drift.found', ...drift, hint },
    `an update of ${kind} emptied fields that it did not name: ${others.join(', ')}`,
  );
}

/** This reading does not land, so no counter needs its ticks. */
const NO_TICKS = { tick: (): number => 0 };

/** Rows move between pages while a list is read, so that a moving row may be on none of the pages read. */
const MOST_READINGS = 3;

/**
 * Reads the service's present record: by its path, or in its list if the path cannot be relied on.
 *
 * @returns Null if the service has no such record.
 * @throws {SourceError} If no answer settles the question.
 */
export async function readRemote(parts: OutboundParts, kind: Kind, id: string): Promise<JsonObject | null> {
  const askable = askableKind(kind);
  const { controlFailures } = await readStanding(parts.session, kind.name);
  if (askable !== null && controlFailures < MOST_CONTROL_FAILURES) {
    const { record } = await parts.source.retrieve(askable, id);
    if (record !== null) return record;
  }
  if (!isListed(kind)) return null;
  const page = await readPageOf(parts.session, kind.name, id); // The page that showed it last.
  let found = page === null ? null : await findOnPages(parts, kind, id, { from: page, to: page });
  for (let reading = 0; reading < MOST_READINGS && found === null; reading++)
    found = await findOnPages(parts, kind, id, { from: 1, to: Infinity });
  return found;
}

async function findOnPages(
  { source }: OutboundParts,
  kind: ListedKind,
  id: string,
  range: PageRange,
): Promise<JsonObject | null> {
  for await (const response of source.pages(kind, range, NO_TICKS)) {
    const found = response.read().find((record) => {
      const read = recordId(record);
      return 'id' in read && read.id === id;
    });
    if (isObject(found)) return found;
  }
  return null;
}
