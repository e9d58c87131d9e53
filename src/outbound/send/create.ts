import { createHash } from 'node:crypto';
import { askableKind, sentField } from '../../catalog/kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/judge-page.ts';
import { matchRecord } from '../../diff/match.ts';
import type { Marker } from '../../diff/match.ts';
import { readNameOf, shownValue, writeNameOf } from '../../diff/written.ts';
import { compactJson, isNumber } from '../../lib/json/json.ts';
import type { JsonObject, Json } from '../../lib/json/json.ts';
import { instantText } from '../../lib/time/clock.ts';
import { readAttempts, saveLink } from '../../mirror/outbox/attempts-and-links.ts';
import { dropBlock } from '../../mirror/outbox/outbox-queue.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { wasSeenBefore } from '../../mirror/records/record-store.ts';
import type { Watermark } from '../../mirror/records/record-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { finishAs, release } from '../attempt/conclude.ts';
import { grade } from '../attempt/grade.ts';
import { closeFailed, closeWith, journal, payloadOf, sendJournalled } from '../attempt/journal.ts';
import type { Journalled } from '../attempt/journal.ts';
import { landOwn } from '../attempt/land-own.ts';
import type { OutboundParts, OutboundRules } from '../parts.ts';
import { lookTimes } from './decide-settlement.ts';

/** Journals the request of a create. */
export async function journalCreate(
  tx: Transaction,
  { rules, clock }: Pick<OutboundParts, 'rules' | 'clock'>,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
): Promise<Journalled> {
  const marker = markerOf(kind, entry, rules.markerFields);
  const body = compactJson(withMarker(kind, payloadOf(entry), marker));
  return journal(tx, entry, { body, path: kind.create?.path ?? '', clock });
}

/** Sends a journalled create, once, and stores the result. */
export async function sendCreate(parts: OutboundParts, kind: Kind, journalled: Journalled): Promise<void> {
  const { entry } = journalled;
  const answer = await sendJournalled(parts, kind, journalled);
  const graded = grade(answer);
  const shown = graded.is === 'accepted' ? graded.record : null;
  const id = shown && idOf(shown);
  if (graded.is === 'accepted' && shown !== null && id !== null) {
    const full = await fullRecord(parts, { kind, entry, id, shown });
    return closeAccepted(parts, { kind, entry, answer, shown: full ?? shown, id, isWhole: full !== null });
  }
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    if (graded.is !== 'accepted' && graded.is !== 'ambiguous')
      return closeFailed(tx, parts, { entry, answer, graded, now });
    await closeWith(tx, entry, { grade: 'ambiguous', answer, now });
    await unsettle(tx, entry, { rules: parts.rules, now });
  });
}

function idOf(record: JsonObject): string | null {
  const read = recordId(record);
  return 'id' in read ? read.id : null;
}

interface Accepted {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly id: string;
  readonly shown: JsonObject;
}

/** The created record: from the answer if it shows all sent fields, else retrieved; null = unknown. */
async function fullRecord(
  parts: OutboundParts,
  { kind, entry, id, shown }: Accepted,
): Promise<JsonObject | null> {
  const names = Object.keys(payloadOf(entry)).map((name) => readNameOf(kind, name));
  if (names.every((name) => shownValue(kind, shown, name) !== undefined)) return shown;
  const askable = askableKind(kind);
  if (askable === null) return null;
  try {
    return (await parts.source.retrieve(askable, id)).record;
  } catch (error) {
    if (error instanceof SourceError) return null; // The record exists nevertheless; its list will show it.
    throw error;
  }
}

/** Whether an answer fits the request: none of its fields contradicts the sent ones. */
function isCompatible({ rules }: OutboundParts, { kind, entry, shown }: Accepted): boolean {
  const payload = Object.fromEntries(
    Object.entries(payloadOf(entry)).filter(
      ([name]) => shownValue(kind, shown, readNameOf(kind, name)) !== undefined,
    ),
  );
  const marker = markerOf(kind, entry, rules.markerFields);
  return matchRecord({ kind, payload, record: shown, marker }) !== 'none';
}

/**
 * Stores that a create was accepted: the record is linked and landed.
 *
 * An answer that shows other values than the sent ones, or a record that existed before, proves nothing.
 */
async function closeAccepted(
  parts: OutboundParts,
  created: Accepted & { readonly answer: WriteAnswer; readonly isWhole: boolean },
): Promise<void> {
  const { kind, entry, answer, id, shown, isWhole } = created;
  const { clock, session, rules } = parts;
  await session.atomically(async (tx) => {
    const now = clock.now();
    await dropBlock(tx, kind.name, now);
    const isOld = await wasSeenBefore(tx, kind.name, { id, ...watermarkOf(entry) });
    if (isOld || !isCompatible(parts, created)) {
      await closeWith(tx, entry, { grade: 'ambiguous', answer, now });
      if (!isOld) return unsettle(tx, entry, { rules, now });
      return finishAs(tx, entry, { state: 'parked', verdict: 'existed', result: { ids: [id] }, now });
    }
    await closeWith(tx, entry, { grade: 'done', answer, now });
    if (!(await saveLink(tx, { kind: kind.name, recordId: id, outboxId: entry.id }, now)))
      return finishAs(tx, entry, { state: 'parked', verdict: 'twins', result: { ids: [id] }, now });
    if (isWhole)
      await landOwn(tx, parts, { kind, record: shown, origin: `outbox:${entry.id}`, mayBeNew: true });
    const end = { state: 'done', recordId: id, result: { recordId: id }, now } as const;
    const wasLost = (await readAttempts(tx, entry.id)).some((attempt) => attempt.grade === 'ambiguous');
    // A send that was given up may still arrive, days late.
    if (wasLost) return finishAs(tx, entry, { ...end, verdict: 'resent', watchUntil: now });
    return finishAs(tx, entry, { ...end, verdict: 'sent' });
  });
}

/** The watermark of an entry's last send: records first seen at or before it are not new. */
export function watermarkOf({ preimage, createdAt }: Entry): Watermark {
  const { tick = 0, at = createdAt } = (preimage === null ? {} : JSON.parse(preimage)) as Partial<Watermark>;
  return { tick, at };
}

/** Its outcome is unknown: the mirror is searched, and the create is not sent again until its absence is certain. */
async function unsettle(
  tx: Transaction,
  entry: Entry,
  { rules, now }: { readonly rules: OutboundRules; readonly now: Date },
): Promise<void> {
  const { next } = lookTimes(0, rules);
  const nextAttemptAt = instantText(new Date(now.getTime() + next));
  // Notes about an earlier send do not apply to this one.
  await release(tx, entry, { state: 'unsettled', verdict: 'ambiguous', result: null, nextAttemptAt, now });
}

/** The mark of an entry; null where the kind's settings name no field for it. */
export function markerOf(
  { name }: Kind,
  { key }: Pick<Entry, 'key'>,
  fields: Readonly<Record<string, string>>,
): Marker | null {
  const field = fields[name];
  if (field === undefined) return null;
  return { field, text: `bms-sync:${createHash('sha256').update(key).digest('hex').slice(0, 16)}` };
}

/** Appends the marker to the field's own text. */
export function withMarker(kind: Kind, payload: JsonObject, marker: Marker | null): JsonObject {
  if (marker === null) return payload;
  const field = sentField(kind, marker.field);
  const name = field ? writeNameOf(field) : marker.field;
  const given: Json | undefined = payload[name];
  const isGiven = isNumber(given) || (typeof given === 'string' && given !== '');
  return { ...payload, [name]: isGiven ? `${String(given)} ${marker.text}` : marker.text };
}
