import { sql, type SQL } from 'drizzle-orm';
import { NOT_SHOWN, isExcludedName } from '../../catalog/exclude.ts';
import type { Kind } from '../../catalog/kind.ts';
import { naturalKeyOf } from '../../diff/match.ts';
import { compactJson, isArray, isObject, parseObject, tryParseJson, type Json } from '../../lib/json/json.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { OUTBOX, OUTBOX_ATTEMPTS } from '../tables/outbox-tables.ts';
import { OPEN_STATES } from './outbox-store.ts';
import { formatSettlement, parseSettlement } from './settlement.ts';
import { endOf, inSlices } from '../../db/rows/slices.ts';
import { assignments, pickColumns, select, type RowOf } from '../../db/rows/rows.ts';

const ENTRY = pickColumns(OUTBOX, 'id', 'state', 'payload', 'base', 'result', 'settlement', 'naturalKey');
const ATTEMPT = pickColumns(OUTBOX_ATTEMPTS, 'outboxId', 'n', 'request', 'responseStart');

/**
 * Takes a kind's excluded fields out of the outbox: out of every entry that has ended, with its attempts, and out of what the
 * mirror added to open ones. The change that an open entry asks for stays as it was given, as it may have reached the service:
 * it goes once the entry has ended. A rejected entry that loses a field is abandoned, because a retry would send something else
 * than was asked for.
 */
export async function removeFromOutbox(session: Session, kind: Kind): Promise<void> {
  const mentions = mentionsExcluded(kind, sql`concat(payload, base, result, settlement, natural_key)`);
  const attempts = mentionsExcluded(kind, sql`concat(request, response_start)`);
  const removeNext = (after: number) =>
    session.atomically(async (tx) => {
      const some = sql`
        where kind = ${kind.name} and id > ${after} and (${mentions}
          or id in (select outbox_id from outbox_attempts where ${attempts})) order by id limit ${ENTRIES_A_TRANSACTION}`;
      const entries = await select(tx, ENTRY, some);
      for (const entry of entries) await removeFromEntry(tx, kind, entry);
      return entries;
    });
  await endOf(inSlices(ENTRIES_A_TRANSACTION, removeNext, 0, (entry) => entry.id));
}

const ENTRIES_A_TRANSACTION = 500;

/** Whether a text has one of these names in quotes, as JSON writes it. */
function mentionsExcluded(kind: Kind, text: SQL): SQL {
  const tests = quotedNames(kind).map((name) => sql`${text} like ${`%${name}%`}`);
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** The names of a kind's excluded fields, those of writes too, as JSON writes them. */
const quotedNames = ({ excluded = [] }: Kind): readonly string[] =>
  excluded.flatMap(({ name, write }) => [name, write?.name ?? []].flat()).map((name) => JSON.stringify(name));

async function removeFromEntry(tx: Transaction, kind: Kind, entry: RowOf<typeof ENTRY>): Promise<void> {
  const { id, state } = entry;
  const payload = withoutNames(kind, entry.payload) ?? entry.payload;
  if (OPEN_STATES.includes(state) && payload !== entry.payload) return;
  const cleaned = {
    payload,
    base: withoutNames(kind, entry.base),
    result: withoutNames(kind, entry.result),
    settlement: notesWithout(kind, entry.settlement),
    naturalKey: withoutValues(kind, entry.naturalKey, payload),
    state: state === 'rejected' && payload !== entry.payload ? ('abandoned' as const) : state,
  };
  await tx.query(sql`update outbox set ${assignments(OUTBOX, cleaned)} where id = ${id}`);
  for (const { n, request, responseStart } of await select(tx, ATTEMPT, sql`where outbox_id = ${id}`)) {
    const [head = '', ...body] = request.split('\n');
    const attempt = {
      request: [head, withoutNames(kind, body.join('\n')) ?? ''].join('\n'),
      responseStart: isMentioned(kind, responseStart) ? null : responseStart,
    };
    const set = assignments(OUTBOX_ATTEMPTS, attempt);
    await tx.query(sql`update outbox_attempts set ${set} where outbox_id = ${id} and n = ${n}`);
  }
}

/** What the next step must know, without the names of excluded fields. */
function notesWithout(kind: Kind, text: string | null): string | null {
  const { unproven = [], ...notes } = parseSettlement(text);
  const left = unproven.filter((name) => !isExcludedName(kind, name));
  return formatSettlement({ ...notes, ...(left.length > 0 && { unproven: left }) });
}

/** The key of what is left of a create, where the key of the whole one may have an excluded value. */
function withoutValues(kind: Kind, key: string | null, payload: string): string | null {
  if (key === null || !isMentioned(kind, key)) return key;
  const value = tryParseJson(payload);
  return isObject(value) ? naturalKeyOf(kind, value) : null;
}

/**
 * Removes, once a field is newly excluded, what the service answered to writes of the kind: an answer may quote a value under any
 * name or none. Later answers are kept without it.
 */
export async function removeAnswers(tx: Transaction, kind: Kind): Promise<void> {
  await tx.write(sql`
    update outbox_attempts set response_start = null where outbox_id in (select id from outbox where kind = ${kind.name})`);
  const answered = sql`where kind = ${kind.name} and result like '%"answer":%'`;
  for (const { id, result } of await select(tx, pickColumns(OUTBOX, 'id', 'result'), answered)) {
    const cleanedResult = compactJson({ ...parseObject(result ?? ''), answer: NOT_SHOWN });
    await tx.query(sql`update outbox set result = ${cleanedResult} where id = ${id}`);
  }
}

/** A JSON text without members of these names, at any depth, and without their names in lists; another text is dropped. */
export function withoutNames(kind: Kind, text: string | null): string | null {
  if (text === null || !isMentioned(kind, text)) return text;
  const value = tryParseJson(text);
  return value === undefined ? null : compactJson(cleaned(kind, value));
}

const isMentioned = (kind: Kind, text: string | null): boolean =>
  text !== null && quotedNames(kind).some((name) => text.includes(name));

function cleaned(kind: Kind, value: Json): Json {
  /** A verdict's note about an excluded field: its name, or an object with it. */
  const isAbout = (item: Json): boolean => {
    const name = isObject(item) ? item['field'] : item;
    return typeof name === 'string' && isExcludedName(kind, name);
  };
  if (isArray(value)) return value.filter((item) => !isAbout(item)).map((item) => cleaned(kind, item));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => !isExcludedName(kind, name));
  return Object.fromEntries(members.map(([name, member]) => [name, cleaned(kind, member)]));
}
