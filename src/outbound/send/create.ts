import { withUsableRetrieve, type Kind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/compare-page.ts';
import { alteredFields, hasOtherKey } from '../../diff/match.ts';
import { readNameOf } from '../../diff/merge-update.ts';
import { shownValue } from '../../diff/shown-value.ts';
import { canComeFrom, showsSentValue } from '../../diff/rule-out.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { readMeta, writeMeta } from '../../store/kinds/meta.ts';
import { readAttempts, saveLink } from '../../store/outbox/attempts-and-links.ts';
import { dropBlock } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { findDuplicates } from '../../store/records/duplicates.ts';
import type { SettlementNotes } from '../../store/outbox/settlement.ts';
import { openIssues } from '../../store/records/issue-store.ts';
import { wasLiveAt } from '../../store/records/record-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { finishEntry, parkBeside, releaseEntry } from './end-entry.ts';
import { grade, hasFailed, isCreated, isProvenCreated } from './grade.ts';
import {
  recordFailure,
  closeWithAnswer,
  payloadOf,
  sendJournalled,
  watermarkOf,
  type JournalledRequest,
} from './journal.ts';
import { landOwnWrite } from './land-own-write.ts';
import type { OutboundParts } from '../parts.ts';
import { startElapsed } from '../stopwatch.ts';
import { firstSearchMs } from './decide-settlement.ts';

/** Sends a journalled create, once, and stores the result. */
export async function sendCreate(parts: OutboundParts, kind: Kind, journalled: JournalledRequest) {
  const { entry } = journalled;
  const answer = await sendJournalled(parts, kind, journalled);
  const graded = grade(answer);
  const named = await readNamedRecord(parts, kind, entry, answer);
  if (named !== null && 'shown' in named) return finishAccepted(parts, { kind, entry, answer, ...named });
  const isMade = named !== null || isProvenCreated(answer);
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    if (graded.is !== 'accepted' && graded.is !== 'ambiguous')
      return recordFailure(tx, parts, entry, { answer, graded, now });
    await closeWithAnswer(tx, entry, { grade: isMade ? 'made' : 'ambiguous', answer, now });
    // The mirror is searched, and the create is not sent again until its absence is certain.
    const noted = { ...(named && { named: named.id }), ...(hasFailed(answer) && { hasFailed: true }) };
    await releaseEntry(tx, entry, { ...unsettledNow(parts, noted), now });
  });
}

/** The state of an entry whose send has just been lost. Notes about an earlier send do not apply to this one. */
export function unsettledNow({ clock, rules, waits }: OutboundParts, settlement: SettlementNotes) {
  const nextAttemptAt = formatInstant(new Date(clock.now().getTime() + firstSearchMs(rules)));
  const unknown = { state: 'unsettled', verdict: 'ambiguous', result: null } as const;
  return { ...unknown, settlement, nextAttemptAt, ...startElapsed(waits.stopwatch) };
}

/** The record that an answer names. Without `shown` it is an id alone: a record's, or a job's. */
type NamedRecord =
  { readonly id: string } | { readonly id: string; readonly shown: JsonObject; readonly isWhole: boolean };

async function readNamedRecord(
  parts: OutboundParts,
  kind: Kind,
  entry: Entry,
  answer: WriteAnswer,
): Promise<NamedRecord | null> {
  const shown = shownIn(answer);
  const read = recordId(shown);
  if (shown === null || 'fault' in read) return null;
  const { id } = read;
  const full = await readFullRecord(parts, kind, entry, { id, shown });
  const isNamed =
    locationOf(answer) === id ||
    (full === undefined && isCreated(answer)) ||
    showsWhatWasSent(kind, payloadOf(entry), shown, full);
  return isNamed ? { id, shown: full ?? shown, isWhole: Boolean(full) } : { id };
}

/** What was retrieved may be another record, of the same number: it must show what was sent as it was, unless the answer did. */
function showsWhatWasSent(
  kind: Kind,
  payload: JsonObject,
  shown: JsonObject,
  full: JsonObject | null | undefined,
): boolean {
  const isLike = showsSentValue(kind, payload, shown, canComeFrom) ? canComeFrom : undefined;
  return showsSentValue(kind, payload, full ?? shown, isLike);
}

function shownIn(answer: WriteAnswer): JsonObject | null {
  const graded = grade(answer);
  const location = locationOf(answer);
  if (graded.is === 'accepted' && graded.record !== null) return graded.record;
  return location === null ? null : { id: location };
}

const locationOf = (answer: WriteAnswer): string | null =>
  (answer.is === 'answered' ? answer.locationId : null) ?? null;

/**
 * The created record: from the answer if it shows all sent fields, else retrieved. Null = the service shows none; undefined =
 * it cannot be asked.
 */
async function readFullRecord(
  parts: OutboundParts,
  kind: Kind,
  entry: Entry,
  { id, shown }: { readonly id: string; readonly shown: JsonObject },
): Promise<JsonObject | null | undefined> {
  const names = Object.keys(payloadOf(entry)).map((name) => readNameOf(kind, name));
  if (names.every((name) => shownValue(kind, shown, name) !== undefined)) return shown;
  const askable = withUsableRetrieve(kind);
  if (askable === null) return undefined;
  try {
    return (await parts.source.retrieve(askable, id)).record;
  } catch (error) {
    if (error instanceof SourceError) return undefined; // Its list will show it.
    throw error;
  }
}

/**
 * Stores that a create was accepted: the record that the answer names is linked and landed.
 *
 * Only an answer with a record that was there before proves nothing: the service may have made none.
 */
async function finishAccepted(
  parts: OutboundParts,
  created: {
    readonly kind: Kind;
    readonly entry: Entry;
    readonly id: string;
    readonly shown: JsonObject;
    readonly answer: WriteAnswer;
    readonly isWhole: boolean;
  },
): Promise<void> {
  const { kind, entry, answer, id, shown, isWhole } = created;
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    await dropBlock(tx, kind.name, now);
    const wasThere = await wasLiveAt(tx, kind.name, { id, ...watermarkOf(entry) });
    await closeWithAnswer(tx, entry, { grade: wasThere ? 'ambiguous' : 'done', answer, now });
    if (wasThere) return parkBeside(tx, { entry, now }, 'existed', [id]);
    if (!(await saveLink(tx, { kind: kind.name, recordId: id, outboxId: entry.id }, now)))
      return parkBeside(tx, { entry, now }, 'twins', [id]);
    if (isWhole)
      await landOwnWrite(tx, parts, { kind, record: shown, origin: `outbox:${entry.id}`, canBeNew: true });
    const twins = (await findDuplicates(tx, kind, id)).map((issue) => ({ ...issue, code: 'twins' }));
    await openIssues(tx, kind.name, twins, now); // Each complete pull finds these, too, and closes them.
    const altered = await readAltered(tx, { kind, entry, shown }, now);
    const wasLost = (await readAttempts(tx, entry.id)).some((attempt) => attempt.grade === 'ambiguous');
    return finishEntry(tx, entry, {
      state: 'done',
      verdict: altered.length > 0 ? 'altered' : wasLost ? 'resent' : 'sent',
      recordId: id,
      result: { recordId: id, ...(altered.length > 0 && { altered }) },
      now,
    });
  });
}

/** The fields that the created record shows otherwise than sent. A natural key among them is remembered for its kind. */
export async function readAltered(
  tx: Transaction,
  { kind, entry, shown }: { readonly kind: Kind; readonly entry: Entry; readonly shown: JsonObject },
  now: Date,
) {
  const payload = payloadOf(entry);
  if (hasOtherKey(kind, payload, shown)) await noteAlteredKeys(tx, kind.name, now);
  return alteredFields(kind, payload, shown);
}

/** Remembers that the service alters natural keys of a kind. */
export async function noteAlteredKeys(tx: Transaction, kind: string, now: Date): Promise<void> {
  if (!(await hasAlteredKeys(tx, kind))) await writeMeta(tx, `outbox.alters.${kind}`, formatInstant(now));
}

/** Whether the service has ever altered a natural key of this kind in an answer: a record may be there in another spelling. */
export async function hasAlteredKeys(tx: Transaction, kind: string): Promise<boolean> {
  return (await readMeta(tx, `outbox.alters.${kind}`)) !== null;
}
