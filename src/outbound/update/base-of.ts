import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { readNameOf } from '../../diff/written.ts';
import { isArray, isObject, parseJson } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { readAttempts } from '../../mirror/outbox/attempt-store.ts';
import { updatesSince } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Queryable } from '../../mirror/session/session.ts';

/**
 * The state that the author of an update saw, by the names of a read; null = unknown.
 *
 * A base taken from the mirror includes the effects of our own earlier updates of the record, since no other writer
 * made them. A base that the author gave is used as it is.
 */
export async function baseOf(db: Queryable, kind: Kind, entry: Entry): Promise<JsonObject | null> {
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
  const sent = (await readAttempts(db, update.id))
    .filter(({ grade }) => grade !== null && TAKEN.has(grade))
    .flatMap(({ request }) => Object.entries(objectOf(bodyOf(request)) ?? {}))
    .map(([name, value]) => [readNameOf(kind, name), value] as const);
  const events = await db.query(sql`
    select fields from changes
    where kind = ${kind.name} and record_id = ${update.recordId} and origin = ${`outbox:${update.id}`} order by seq`);
  const shown = events.flatMap(({ fields }) => Object.entries(objectOf(String(fields)) ?? {}).map(newValue));
  const names = new Set(sent.map(([name]) => name));
  return Object.fromEntries<Json>([...sent, ...shown.filter(([name]) => names.has(name))]);
}

/** Grades of attempts that may have led to a finished update; an attempt may lack an answer or some fields. */
const TAKEN: ReadonlySet<string> = new Set(['done', 'ambiguous', 'not_applied']);

const bodyOf = (request: string): string => request.slice(request.indexOf('\n') + 1);

/** The second of `[old, new]`. */
function newValue([name, pair]: [string, Json]): [string, Json] {
  return [name, (isArray(pair) ? pair[1] : undefined) ?? null];
}

function objectOf(text: string): JsonObject | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}
