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
 * What the author of an update saw, by the names of a read; null where nobody knows.
 *
 * A base that was taken from the mirror goes on with what our own earlier updates of the record have made of it since:
 * those are nobody else's work. A base that the author told is taken at their word.
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
 * What an update has made of the fields that it wrote: as the service showed them, or as they were sent where no event says
 * more. A field that was as wanted already is not ours, nor is what changed beside it.
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

/** Grades of attempts that an update which is done has come of: one without an answer, or without all fields, too. */
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
