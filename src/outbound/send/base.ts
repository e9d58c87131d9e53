import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { isSameInAnySpelling, merge, readNameOf } from '../../diff/merge-update.ts';
import { shownValue, withBlanks } from '../../diff/shown-value.ts';
import { isArray, parseObject, type Json, type JsonObject } from '../../lib/json/json.ts';
import { hasRow } from '../../db/rows/rows.ts';
import { readAllowed, readListView } from '../../store/kinds/field-store.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { updatesOf, updatesSince, type Entry } from '../../store/outbox/outbox-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import type { OutboundParts } from '../parts.ts';
import { payloadOf } from './journal.ts';
import { readInList } from './read-remote.ts';

/**
 * Merges an update with the record as it is now. Our own earlier updates do not count as changes by others: neither the ones done
 * since the base was read, nor a value that our last ones made, one after the other, of the very value that an old page shows as base.
 */
export async function mergeUpdate(
  db: Queryable,
  kind: Kind,
  entry: Entry,
  { record: remote, blank = [] }: { readonly record: JsonObject; readonly blank?: readonly string[] },
) {
  const wanted = payloadOf(entry);
  const seenBase = await readBaseOfUpdate(db, kind, entry);
  const base = seenBase && withBlanks(kind, seenBase, blank, new Set(blank));
  const merged = merge({ kind, wanted, base, remote });
  if (merged.is !== 'conflict') return merged;
  const earlier: ReadonlyMap<string, Effect>[] = []; // Newest first.
  for (const update of await updatesOf(db, kind.name, entry.recordId))
    if (update.id < entry.id && update.state === 'done') earlier.push(await readEffects(db, kind, update));
  const known: Record<string, Json> = {};
  for (const { field, remote: there } of merged.conflicts) {
    const effects = earlier.flatMap((update) => update.get(field) ?? []);
    const seen = shownValue(kind, seenBase ?? {}, field);
    if (haveOnlyTheseLedFrom(seen, there, effects, (a, b) => isSameInAnySpelling(kind, field, a, b)))
      known[field] = there;
  }
  return merge({ kind, wanted, base: { ...base, ...known }, remote });
}

/**
 * The state that the author of an update saw, with the effects of our own updates since; by the names of a read, null = unknown. Of
 * a base that an application made, only the fields that it names are known.
 */
export async function readBaseOfUpdate(db: Queryable, kind: Kind, entry: Entry): Promise<JsonObject | null> {
  if (entry.base === null) return null;
  const authored = Object.entries(parseObject(entry.base)).map(([name, value]) => [
    readNameOf(kind, name),
    value,
  ]);
  let base = Object.fromEntries(authored) as JsonObject;
  if (await isListedBase(db, entry))
    base = withBlanks(kind, base, await knownNames(db, kind, entry), await readListView(db, kind.name));
  for (const earlier of await updatesSince(db, entry, entry.baseAt ?? entry.createdAt))
    for (const [name, { made }] of await readEffects(db, kind, earlier)) base = { ...base, [name]: made };
  return base;
}

const wantedNames = (kind: Kind, entry: Pick<Entry, 'payload'>): readonly string[] =>
  Object.keys(payloadOf(entry)).map((name) => readNameOf(kind, name));

/** The fields of an update without those whose values the mirror had removed, and not read again, when the base was taken. */
async function knownNames(db: Queryable, kind: Kind, entry: Entry): Promise<readonly string[]> {
  const removed = await readAllowed(db, kind.name, entry.baseAt ?? entry.createdAt);
  return wantedNames(kind, entry).filter((name) => !removed.includes(name));
}

/** Whether a base is a record as a list showed it: the mirror's, or one that equals a `_raw` of the mirror. */
async function isListedBase(db: Queryable, { kind, recordId, base, baseAt }: Entry): Promise<boolean> {
  if (base === null || parseObject(base)['id'] === undefined) return false;
  if (baseAt !== null) return true;
  const row = sql`select _raw from ${sql.identifier(kind)} where id = ${recordId} and _listed is not null`;
  if (await hasRow(db, sql`${row} and _raw = ${base}`)) return true;
  const events = sql`select 1 from changes where kind = ${kind} and record_id = ${recordId}`;
  // The answer to a create may show less than the list.
  const isAnswer = sql`${events} and change = 'created' and origin <> 'service' and after = ${base}`;
  return (
    !(await hasRow(db, isAnswer)) && hasRow(db, sql`${events} and (before = ${base} or after = ${base})`)
  );
}

/**
 * The fields of an update that a record does not show, though its author has seen a value of them or a blank, or though we have
 * written them already: they may be blank now, or nowhere to be seen any more, or shown by the list alone.
 */
export async function readDoubtfulFields(db: Queryable, kind: Kind, entry: Entry, record: JsonObject) {
  const absent = wantedNames(kind, entry).filter((name) => shownValue(kind, record, name) === undefined);
  if (absent.length === 0 || entry.attempts > 0) return absent;
  const base = (await readBaseOfUpdate(db, kind, entry)) ?? {};
  return absent.filter((name) => shownValue(kind, base, name) !== undefined);
}

/**
 * The fields of an update that its base, as a list showed it, lacks, and that the list shows now: they were blank then. A value that
 * the single record alone shows may be older.
 * @throws {SourceError} If the list cannot be read.
 */
export async function readFilledSince(parts: OutboundParts, kind: Kind, entry: Entry, record: JsonObject) {
  const base = (await readBaseOfUpdate(parts.session, kind, entry)) ?? {};
  const names = (await knownNames(parts.session, kind, entry)).filter(
    (name) => shownValue(kind, base, name) === undefined && (shownValue(kind, record, name) ?? '') !== '',
  );
  if (names.length === 0 || !(await isListedBase(parts.session, entry))) return [];
  const listed = (await readInList(parts, kind, entry.recordId ?? '')) ?? {};
  return names.filter((name) => shownValue(kind, listed, name) !== undefined);
}

/** Whether effects, newest first, made the value that is there of the seen one, each of what the one before it made. */
function haveOnlyTheseLedFrom(
  seen: Json | undefined,
  there: Json,
  effects: readonly Effect[],
  isSame: (a: Json, b: Json) => boolean,
): boolean {
  let value = there;
  for (const { old, made } of effects) {
    if (!isSame(made, value)) return false;
    if (seen === undefined) return true; // No list showed the field before our last update.
    if (old === undefined) return false;
    if (isSame(old, seen)) return true;
    value = old;
  }
  return false;
}

interface Effect {
  /** What the field was before; undefined where no event shows it. */
  readonly old?: Json;
  readonly made: Json;
}

/**
 * The effect of an update on the fields that it wrote: as the service showed them, or as sent if no event shows more.
 * A field that already had the wanted value is not our change.
 */
export async function readEffects(db: Queryable, kind: Kind, update: Entry) {
  const effects = new Map<string, Effect>();
  for (const { grade, request } of await readAttempts(db, update.id)) {
    if (grade === null || !WRITING_GRADES.has(grade)) continue;
    for (const [name, made] of Object.entries(attemptBody({ request })))
      effects.set(readNameOf(kind, name), { made });
  }
  const events = await db.query(sql`
    select fields from changes
    where kind = ${kind.name} and record_id = ${update.recordId} and origin = ${`outbox:${update.id}`} order by seq`);
  for (const { fields } of events)
    for (const [name, pair] of Object.entries(parseObject(String(fields)))) {
      const [old = null, made = null] = isArray(pair) ? pair : []; // `[old, new]`.
      if (effects.has(name)) effects.set(name, { old, made });
    }
  return effects;
}

/** Grades of attempts that may have led to a finished update; an attempt may lack an answer or some fields. */
const WRITING_GRADES: ReadonlySet<string> = new Set(['done', 'ambiguous', 'not_applied']);

/** The fields that an attempt wrote, by the names of a write. */
const attemptBody = ({ request }: { readonly request: string }): JsonObject =>
  parseObject(request.slice(request.indexOf('\n') + 1));

/** A service that answers so has put the update off: what the record shows may be another user's. */
const ACCEPTED = 202;

/** The fields of an update that the record shows though no answer says that our request made them; by their names of a read. */
export async function readUnprovenFields(
  db: Queryable,
  kind: Kind,
  entry: Entry,
): Promise<{ readonly unproven?: readonly string[] }> {
  const unproven = new Set<string>();
  for (const attempt of await readAttempts(db, entry.id)) {
    const isAnswered = attempt.grade === 'done' || attempt.grade === 'not_applied';
    const isDone = isAnswered && attempt.status !== ACCEPTED;
    for (const name of Object.keys(attemptBody(attempt)))
      if (isDone) unproven.delete(readNameOf(kind, name));
      else if (isAnswered || attempt.grade === 'ambiguous') unproven.add(readNameOf(kind, name));
  }
  return unproven.size === 0 ? {} : { unproven: [...unproven] };
}
