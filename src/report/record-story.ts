import type { Kind } from '../catalog/kind.ts';
import { isArray, isNumber, parseObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { linkedEntry } from '../mirror/outbox/link-store.ts';
import { endedEntriesOf } from '../mirror/outbox/ended-entries.ts';
import type { EndedEntry } from '../mirror/outbox/ended-entries.ts';
import { entriesOfRecord } from '../mirror/outbox/record-entries.ts';
import type { TriedEntry } from '../mirror/outbox/record-entries.ts';
import { readRecordAbsence, readRecordEvents, readRecordIssues } from '../mirror/records/record-history.ts';
import type { RecordAbsence, RecordEvent, RecordIssue } from '../mirror/records/record-history.ts';
import { findRecord } from '../mirror/records/record-store.ts';
import type { MirroredRecord } from '../mirror/records/record-store.ts';
import type { Queryable } from '../mirror/session/session.ts';

/** Everything that the mirror knows of one record. */
export interface RecordStory {
  readonly kind: string;
  readonly id: string;
  /** `absent`: there is no row, only traces; else as its row and its absence from the list say. */
  readonly state: 'live' | 'deleted' | 'absent' | Exclude<RecordAbsence['state'], 'deleted'>;
  readonly row: MirroredRecord | null;
  readonly absence: RecordAbsence | null;
  readonly events: readonly RecordEvent[];
  readonly issues: readonly RecordIssue[];
  readonly entries: readonly TriedEntry[];
  /** Entries that ended long ago. */
  readonly endedEntries: readonly EndedEntry[];
  /** The entry of the outbox that created the record; null = none. */
  readonly createdBy: number | null;
  /** Records of other kinds that its fields name. */
  readonly refersTo: readonly RecordReference[];
}

interface RecordReference {
  readonly field: string;
  readonly kind: string;
  readonly id: string;
}

/** Reads a record's story; null where the mirror has no trace of the record. */
export async function readRecordStory(db: Queryable, kind: Kind, id: string): Promise<RecordStory | null> {
  const { name } = kind;
  const row = await findRecord(db, name, id);
  const absence = await readRecordAbsence(db, name, id);
  const traces = {
    events: await readRecordEvents(db, name, id),
    issues: await readRecordIssues(db, name, id),
    entries: await entriesOfRecord(db, name, id),
    endedEntries: await endedEntriesOf(db, name, id),
  };
  if (row === null && absence === null && Object.values(traces).every(({ length }) => length === 0))
    return null;
  return {
    ...{ kind: name, id, state: stateOf(row, absence), row, absence, ...traces },
    createdBy: await linkedEntry(db, name, id),
    refersTo: row === null ? [] : referencesIn(kind, parseObject(row.raw)),
  };
}

function stateOf(row: MirroredRecord | null, absence: RecordAbsence | null): RecordStory['state'] {
  if (row === null) return 'absent';
  if (row.deletedAt !== null) return 'deleted';
  return absence === null || absence.state === 'deleted' ? 'live' : absence.state;
}

/** The records that a record's own fields name; those of nested lists are left out. */
function referencesIn({ fields, hints }: Kind, record: JsonObject): RecordReference[] {
  return [...fields, ...hints].flatMap(({ name, refersTo }) => {
    const id = refersTo === undefined ? null : idIn(record[name]);
    return refersTo === undefined || id === null ? [] : [{ field: name, kind: refersTo, id }];
  });
}

function idIn(value: Json | undefined): string | null {
  if (value === undefined || isArray(value)) return null;
  const text = isNumber(value) || typeof value === 'string' ? String(value) : '';
  return /^[1-9]\d*$/.test(text) ? text : null;
}
