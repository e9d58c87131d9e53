import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { AbsenceState } from '../../diff/absence.ts';
import { isNumber, parseObject, type JsonObject } from '../../lib/json/json.ts';
import { endedEntriesOf } from '../outbox/ended-entries.ts';
import { entriesOfRecord, findCreator } from '../outbox/attempts-and-links.ts';
import type { MessageKey } from '../../lib/text/translator.ts';
import { entryOf, pushersOf } from '../outbox/outbox-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { CHANGES, DELETIONS } from '../tables/change-tables.ts';
import { ISSUES } from '../tables/engine-tables.ts';
import {
  omitColumns,
  orNull,
  pickColumns,
  readRows,
  readTexts,
  select,
  selectFrom,
  wordOf,
  type RowOf,
} from '../../db/rows/rows.ts';
import type { Proof } from './deletion-store.ts';
import { isSuppressed } from './erasure-store.ts';
import { findRecord, type MirroredRecord } from './record-store.ts';

/** Everything that the mirror knows of one record. */
export type RecordStory = NonNullable<Awaited<ReturnType<typeof readRecordStory>>>;

interface Reference {
  readonly field: string;
  readonly kind: string;
  readonly id: string;
}

/** How many referring records are shown per field. */
export const MOST_REFERRED = 20;

/** Reads a record's story; null where the mirror has no trace of the record. */
export async function readRecordStory(db: Queryable, kind: Kind, id: string) {
  const { name } = kind;
  const row = await findRecord(db, name, id);
  const isOne = sql`where kind = ${name} and record_id = ${id}`;
  const [absence = null] = await selectFrom(db, 'deletions', ABSENCE, isOne);
  const stored = await select(db, EVENT, sql`${isOne} order by observed_at, seq`);
  const createdBy = await findCreator(db, name, id); // The entry of the outbox; null = none.
  const entries = await entriesOfRecord(db, name, id);
  const endedEntries = await endedEntriesOf(db, name, id); // They ended long ago.
  const maker = [...entries.map(({ entry }) => entry), ...endedEntries].find((one) => one.id === createdBy);
  const events = maker === undefined ? stored : withMaker(stored, maker);
  // All that are kept, oldest first.
  const traces = {
    events, // `fields` is `{name: [old, new]}` as JSON text, `{}` for all but updates.
    issues: await select(db, ISSUE, sql`${isOne} order by id`), // Open while `closedAt` is null.
    entries,
    endedEntries,
  };
  if (row === null && absence === null && Object.values(traces).every(({ length }) => length === 0))
    return null;
  return {
    kind: name,
    id,
    row,
    absence,
    ...traces,
    pushers: await pushersOf(db, events), // Who has pushed the entries that the events name, by their origins.
    state: (await isSuppressed(db, name, id)) ? ('suppressed' as const) : stateOf(row, absence),
    createdBy,
    refersTo: row === null ? [] : referencesIn(kind, parseObject(row.raw)),
    referredBy: await referencesTo(db, name, id), // Live records of other kinds, at most `MOST_REFERRED` of a field, by id.
  };
}

/** Names the entry in the event of a record that was found for it only later: a stored event never changes. */
function withMaker(events: readonly RowOf<typeof EVENT>[], maker: { id: number; updatedAt: string }) {
  const origin = `outbox:${maker.id}`;
  const creations = events.filter(({ change, observedAt }) => {
    return change === 'created' && observedAt <= maker.updatedAt;
  });
  if (creations.some((event) => event.origin === origin)) return events;
  const made = creations.findLast((event) => entryOf(event.origin) === null);
  return events.map((event) => (event === made ? { ...event, origin } : event));
}

/** `absent`: there is no row, only traces; else as its row and its absence from the list say. */
function stateOf(
  row: MirroredRecord | null,
  absence: RecordAbsence | null,
): 'absent' | 'live' | RecordAbsence['state'] {
  if (row === null) return 'absent';
  if (row.deletedAt !== null) return 'deleted';
  return absence === null || absence.state === 'deleted' ? 'live' : absence.state;
}

/** The records that a record's own fields name; those of nested lists are left out. */
function referencesIn({ fields, hints }: Kind, record: JsonObject): readonly Reference[] {
  return [...fields, ...hints].flatMap(({ name: field, refersTo: kind }) => {
    const value = record[field];
    const id = isNumber(value) || typeof value === 'string' ? String(value) : '';
    return kind !== undefined && /^[1-9]\d*$/.test(id) ? [{ field, kind, id }] : [];
  });
}

const RELATION = { kind: String, field: String };

/** The records whose own fields name a record, by `bi_relations`; those of nested lists are left out. */
async function referencesTo(db: Queryable, kind: string, id: string): Promise<readonly Reference[]> {
  const relations = sql`
    select substr(r.view, 4) as kind, r."column" as field from relations r
    where r.to_view = ${`bi_${kind}`} and not exists (
      select 1 from relations p where p.view = r.view and p."column" = 'parent_id')
    order by 1, 2`;
  const references: Reference[] = [];
  for (const { kind: from, field } of await readRows(db, RELATION, relations)) {
    const naming = sql`
      select cast(id as text) from ${sql.identifier(`bi_${from}`)} v
      where ${sql.identifier(field)} = ${id} order by v.id limit ${MOST_REFERRED}`;
    const ids = await readTexts(db, naming);
    references.push(...ids.map((referrer) => ({ field, kind: from, id: referrer })));
  }
  return references;
}

/** Why no change of a record is shown: a value that was let in again makes no event, and old ones are removed. */
export function noEventWords(row: MirroredRecord | null): MessageKey {
  if (row === null) return 'The mirror has read no version of it.';
  return row.changedAt === row.firstSeenAt
    ? 'No change since the mirror first read it.'
    : 'Its last change made no event, or its events are no longer kept.';
}

/** Of an update whose fields were excluded since. */
export const FIELDS_EXCLUDED: MessageKey = 'privacy.exclude has removed what changed';

/** The state of a record in words, after "Record 17 of clients is". */
export const STORY_STATES: Readonly<Record<RecordStory['state'], MessageKey>> = {
  live: 'live',
  deleted: 'deleted: the service no longer has it',
  suppressed: 'forgotten and excluded from the mirror (forget --suppress)',
  absent: 'without a row: the mirror has only traces of it',
  suspected: 'live, but no longer in the list; its deletion is not confirmed yet',
  held: 'live, but no longer in the list; its deletion is on hold: bms-sync deletions',
  approved: 'live, but no longer in the list; its deletion was approved and waits for proof',
  rejected: 'live, but no longer in the list; a user decided to keep it',
  unlisted: 'live: no longer in the list, but the service still returns it',
};

/** How the deletion of a record was proven; null where the proof is not known, or no longer. */
export function proofWords(absence: RecordAbsence | null): MessageKey | null {
  if (!absence?.proof || absence.state !== 'deleted') return null;
  return absence.proof === 'list'
    ? 'later certified lists do not contain it'
    : 'the service answered that it is gone';
}

const EVENT = omitColumns(CHANGES, 'kind', 'recordId', 'before', 'after', 'recordNumber');

const ISSUE = pickColumns(ISSUES, 'field', 'code', 'detail', 'firstSeenAt', 'closedAt');

const ABSENCE = {
  ...pickColumns(DELETIONS, 'absentSince', 'lastSeenAt', 'concludedAt'),
  state: wordOf<AbsenceState | 'deleted'>(),
  proof: orNull(wordOf<Proof>()),
} as const;

/**
 * A record's absence from its list: suspected, held or decided by a person, or concluded with its proof. `lastSeenAt` is when a
 * list last showed the record; null = unknown.
 */
type RecordAbsence = RowOf<typeof ABSENCE>;
