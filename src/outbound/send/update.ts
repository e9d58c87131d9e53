import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { readNameOf, merge } from '../../diff/written.ts';
import { compactJson, isArray, isObject, parseJson } from '../../lib/json/json.ts';
import type { JsonObject, Json } from '../../lib/json/json.ts';
import { readAttempts } from '../../mirror/outbox/attempts-and-links.ts';
import { updatesSince } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { SourceError } from '../../source/http/errors.ts';
import { blockKind, finishAs, tryLater, waitAfter, waitsForBlock } from '../attempt/conclude.ts';
import { grade, mayHaveArrived } from '../attempt/grade.ts';
import { closeFailed, journal, payloadOf, sendJournalled } from '../attempt/journal.ts';
import { landOwn } from '../attempt/land-own.ts';
import type { OutboundParts } from '../parts.ts';
import { confirmUpdate, readRemote } from './confirm-update.ts';
import type { Updating } from './confirm-update.ts';

/**
 * Reads, merges, writes the differences and reads back; after any failure the next attempt starts with the reading.
 */
export async function update(
  parts: OutboundParts,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
): Promise<void> {
  const remote = await readOrLater(parts, kind, entry);
  if (remote === null) return;
  const base = await baseOf(parts.session, kind, entry);
  const merged = merge({ kind, wanted: payloadOf(entry), base, remote });
  if (merged.is === 'set') return write(parts, { kind, entry, remote }, merged.body);
  await parts.session.atomically(async (tx) => {
    const now = parts.clock.now();
    if (merged.is === 'conflict') {
      const conflicts = merged.conflicts.map((conflict) => ({ ...conflict }));
      return finishAs(tx, entry, { state: 'parked', verdict: 'conflict', result: { conflicts }, now });
    }
    // An earlier attempt without an answer caused this state.
    const isOurs = (await readAttempts(tx, entry.id)).some(mayHaveArrived);
    const origin = isOurs ? `outbox:${entry.id}` : 'service';
    await landOwn(tx, parts, { kind, record: remote, origin, mayBeNew: false });
    return finishAs(tx, entry, { state: 'done', verdict: isOurs ? 'sent' : 'already_so', now });
  });
}

/** Reads the record; if that fails, puts the entry into its next state and returns null. */
async function readOrLater(parts: OutboundParts, kind: Kind, entry: Entry): Promise<JsonObject | null> {
  try {
    const record = await readRemote(parts, kind, entry.recordId ?? '');
    if (record !== null) return record;
    await parts.session.atomically((tx) =>
      finishAs(tx, entry, { state: 'parked', verdict: 'gone', now: parts.clock.now() }),
    );
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    await parts.session.atomically((tx) => {
      const now = parts.clock.now();
      const { reason, passing } = error;
      if (reason === 'unauthorized' || reason === 'forbidden') return blockKind(tx, entry, reason, now);
      // No request was sent, so the attempts do not count its failures.
      const noted = entry.verdict === 'unreachable' && entry.result !== null ? objectOf(entry.result) : null;
      const failedReads = Number(noted?.['failedReads'] ?? 0) + 1;
      const tries = { attempts: entry.attempts + failedReads };
      const waitMs = waitAfter(tries, parts, passing?.waitMs ?? null);
      return tryLater(tx, entry, { verdict: 'unreachable', result: { failedReads }, now, waitMs });
    });
  }
  return null;
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

/**
 * The state that the author of an update saw, by the names of a read; null = unknown.
 *
 * A base taken from the mirror includes the effects of our own earlier updates of the record, since no other writer
 * made them. A base that the author gave is used as it is.
 */
async function baseOf(db: Queryable, kind: Kind, entry: Entry): Promise<JsonObject | null> {
  const told = entry.base === null ? null : objectOf(entry.base);
  if (told === null || entry.baseAt === null) return told;
  let base = told;
  for (const earlier of await updatesSince(db, entry, entry.baseAt))
    base = { ...base, ...(await madeBy(db, kind, earlier)) };
  return base;
}

/**
 * The effect of an update on the fields that it wrote: as the service showed them, or as sent if no event shows more.
 * A field that already had the wanted value is not ours, nor is any other change.
 */
async function madeBy(db: Queryable, kind: Kind, update: Entry): Promise<JsonObject> {
  const made = new Map<string, Json>();
  for (const { grade, request } of await readAttempts(db, update.id)) {
    if (grade === null || !TAKEN.has(grade)) continue;
    const body = objectOf(request.slice(request.indexOf('\n') + 1)) ?? {};
    for (const [name, value] of Object.entries(body)) made.set(readNameOf(kind, name), value);
  }
  const events = await db.query(sql`
    select fields from changes
    where kind = ${kind.name} and record_id = ${update.recordId} and origin = ${`outbox:${update.id}`} order by seq`);
  for (const { fields } of events)
    for (const [name, pair] of Object.entries(objectOf(String(fields)) ?? {}))
      if (made.has(name)) made.set(name, (isArray(pair) ? pair[1] : undefined) ?? null); // The second of `[old, new]`.
  return Object.fromEntries(made);
}

/** Grades of attempts that may have led to a finished update; an attempt may lack an answer or some fields. */
const TAKEN: ReadonlySet<string> = new Set(['done', 'ambiguous', 'not_applied']);

function objectOf(text: string): JsonObject | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}
