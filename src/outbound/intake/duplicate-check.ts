import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { createRecordDecoder } from '../../diff/decode-record.ts';
import { hasNaturalKeyOf, keyFields, keyText } from '../../diff/match.ts';
import { shownValue, valueIn } from '../../diff/shown-value.ts';
import { isObject, parseObject, tryParseJson } from '../../lib/json/json.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { readListView, readMirroredKind } from '../../store/kinds/field-store.ts';
import { entriesWithKeys, openCreatesByKey, type OpenCreates } from '../../store/outbox/outbox-queue.ts';
import { OPEN_STATES, type Entry } from '../../store/outbox/outbox-store.ts';
import { readUnreadable } from '../../store/records/issue-store.ts';
import { liveColumns, liveRecordsWhere, type LiveRecord } from '../../store/records/record-store.ts';
import { KEY_COLUMN, keyedFields } from '../../store/tables/key-column.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { readOwnRows } from '../mirror-rows.ts';
import type { CheckedEntry } from './entry-request.ts';

/** A live record with the natural key of a create, perhaps but for upper and lower case. */
interface Holder extends LiveRecord {
  readonly isByCaseAlone: boolean;
}

/** Finds live records of the mirror with the natural key of a create. */
export async function findRecordsWithKey(db: Queryable, kind: Kind, payload: string) {
  const alike = (await findRecordsWithKeys(db, kind, [payload])).get(payload) ?? [];
  return alike.filter((record) => !record.isByCaseAlone);
}

/** The same for many creates, by payload, with records whose key differs by case alone. */
export async function findRecordsWithKeys(db: Queryable, kind: Kind, payloads: readonly string[]) {
  const mirrored = await readMirroredKind(db, kind);
  const wanted = [...new Set(payloads)].map(searchOf(mirrored));
  const found = new Map<string, Holder[]>();
  for (const [names, alike] of Map.groupBy(wanted, ({ fields }) => namesOf(fields))) {
    const fields = alike[0]?.fields ?? [];
    const byKey = Map.groupBy(alike, ({ key }) => key);
    const isWhole = names !== '' && names === namesOf(keyedFields(mirrored));
    const records = isWhole ? withKeys(db, kind.name, [...byKey.keys()]) : scan(db, kind.name, fields, byKey);
    const decode = createRecordDecoder({ fields });
    for await (const record of records) {
      const content = parseObject(record.raw);
      const shown = fields.map(({ name }) => [name, shownValue(mirrored, content, name) ?? null] as const);
      const creates = byKey.get(keyText(decode(Object.fromEntries(shown)).values)) ?? [];
      const holders = creates.map(({ payload, sent }) => {
        return { payload, isByCaseAlone: !hasNaturalKeyOf(mirrored, sent, content) };
      });
      for (const { payload, isByCaseAlone } of holders.filter((one) => isWhole || !one.isByCaseAlone))
        found.set(payload, [...(found.get(payload) ?? []), { ...record, isByCaseAlone }]);
    }
  }
  return found;
}

const namesOf = (fields: readonly Field[]): string => fields.map((field) => field.name).join();

/** Returns what a create is searched by: the fields of its natural key that have columns, and their values as one text. */
function searchOf(mirrored: Kind) {
  const whole = keyedFields(mirrored);
  const decodeWhole = createRecordDecoder({ fields: whole }); // Made once for a thousand creates.
  return (payload: string) => {
    const sent = parseObject(payload);
    const shown = Object.fromEntries(keyFields(mirrored, sent, {}).map((field) => [field.name, field.sent]));
    const key = keyText(decodeWhole(shown).values);
    if (key !== '') return { payload, sent, fields: whole, key };
    const keyOf = (fields: readonly Field[]) => keyText(createRecordDecoder({ fields })(shown).values);
    const fields = mirrored.fields.filter((field) => field.type !== 'json' && keyOf([field]) !== '');
    return { payload, sent, fields, key: keyOf(fields) };
  };
}

/** Yields live records by the index of their natural keys, with those that have none yet. */
async function* withKeys(db: Queryable, kind: string, keys: readonly string[]) {
  const column = sql.identifier(KEY_COLUMN);
  yield* await liveRecordsWhere(db, kind, sql`${column} is null`);
  for (const some of inChunks(keys))
    yield* await liveRecordsWhere(db, kind, sql`${column} in (${sqlList(some)})`);
}

/** Yields live records whose columns have one of these keys: a create that has only a part of the natural key, or none, is rare. */
async function* scan(
  db: Queryable,
  kind: string,
  fields: readonly Field[],
  keys: ReadonlyMap<string, unknown>,
) {
  for await (const rows of liveColumns(
    db,
    kind,
    fields.map((field) => field.name),
  )) {
    const alike = rows.filter((row) => keys.has(keyText(fields.map((field) => row[field.name] ?? null))));
    for (const some of inChunks(alike))
      yield* await liveRecordsWhere(db, kind, sql`k.id in (${sqlList(some.map((row) => row.id))})`);
  }
}

/** Finds what a create that is about to be sent would double: no duplicate check has seen an entry that was inserted by SQL. */
export async function findHolders(db: Queryable, kind: Kind, entry: Entry): Promise<readonly string[]> {
  const { payload, naturalKey, allowsDouble } = entry;
  if (kind.repeats === true || allowsDouble) return [];
  const ids = (await findRecordsWithKey(db, kind, payload)).map((record) => record.id);
  if (ids.length > 0) return ids;
  const made = (await entriesWithKeys(db, kind.name, [naturalKey ?? ''], ['done'])).get(naturalKey);
  const madeId = made && (await madeRecord(db, kind.name, made));
  if (madeId) return [madeId];
  return readUnreadable(db, kind.name, ({ code, detail }) => {
    const record = tryParseJson(detail);
    if (record === undefined) return code !== 'two_versions'; // It is cut: its key was not read.
    return isObject(record) && hasNaturalKeyOf(kind, parseObject(payload), record);
  });
}

/** Finds what a create is compared by, and its list does not show: a field of its natural key, or all that it sends beside such fields. */
export async function findHiddenKey(db: Queryable, kind: Kind, entry: Entry, rows: number) {
  if (kind.repeats === true || entry.allowsDouble || rows === 0) return []; // A list without rows hides nothing.
  const view = await readListView(db, kind.name);
  const names = keyFields(kind, parseObject(entry.payload), {}).map((field) => field.name);
  const hidden = names.filter((name) => valueIn(kind, {}, name, view) === undefined);
  const isNamed = names.some((name) => kind.naturalKey.includes(name));
  return isNamed || hidden.length === names.length ? hidden : [];
}

/**
 * The same of a create that a person retries. Beside the records that it was parked for, those count until they are deleted, or change
 * and lose its natural key. Parked for another reason, it is searched for first, but not among the records that were shown: these count.
 */
export async function findHoldersNow(db: Queryable, kind: Kind, entry: Entry): Promise<readonly string[]> {
  const { operation, verdict, updatedAt, settlement } = entry;
  if (operation === 'update') return [];
  const shown = settlement.ids ?? [];
  const holders = await findHolders(db, kind, entry);
  if (verdict !== 'existed') return holders.filter((id) => shown.includes(id));
  const rows = await readOwnRows(db, kind.name, shown);
  const asNoted = [...rows].filter(([, row]) => row.isLive && row.changedAt <= updatedAt);
  return [...new Set([...asNoted.map(([id]) => id), ...holders])];
}

/**
 * Refuses creates whose natural key something has: an open entry, an earlier one of these, a record, or the record that an earlier
 * entry with the same key made, even if the service gave it another key. Of some kinds equal records are legitimate.
 * @returns Notes about those whose key a record has but for case.
 * @throws {UsageError} `outbox.double` with the holders of their keys.
 */
export async function refuseDuplicates(
  tx: Transaction,
  entries: readonly CheckedEntry[],
): Promise<ReadonlyMap<CheckedEntry, string>> {
  const messages: string[] = [];
  const notes = new Map<CheckedEntry, string>();
  const creates = entries.filter(({ kind, naturalKey }) => kind.repeats !== true && naturalKey !== null);
  for (const [kind, ofKind] of Map.groupBy(creates, (entry) => entry.kind)) {
    const open = await openCreatesByKey(tx, kind.name);
    const checked = ofKind.filter((entry) => !entry.allowsDouble);
    const keys = checked.map((entry) => entry.naturalKey ?? '');
    const made = await entriesWithKeys(tx, kind.name, keys, [...OPEN_STATES, 'done']);
    const payloads = checked.map((entry) => entry.payload);
    const records = await findRecordsWithKeys(tx, kind, payloads);
    const firsts = new Map(ofKind.toReversed().map((entry) => [entry.naturalKey, entry]));
    for (const entry of checked) {
      const { naturalKey, payload, where } = entry;
      const first = firsts.get(naturalKey) ?? entry;
      const alike = records.get(payload) ?? [];
      const record = alike.find((one) => !one.isByCaseAlone);
      for (const note of caseNotes(entry, alike, open)) notes.set(entry, note);
      open.set(naturalKey?.toLowerCase(), { key: naturalKey, by: nameRequest(entry) });
      const holder =
        first === entry
          ? await describeHolder(tx, kind.name, made.get(naturalKey), record)
          : `${nameRequest(first)} creates a record of ${kind.name} with`;
      if (holder !== null)
        messages.push(`${where === null ? '' : `${where}: `}${holder} the same natural key.`);
    }
  }
  if (messages.length > 0)
    throw new UsageError(messages.join('\n  '), {
      code: 'outbox.double',
      hint: 'Nothing was stored. An operator can create a second record anyway: --allow-double, or "allowDouble": true.',
    });
  return notes;
}

const nameRequest = ({ where }: CheckedEntry): string => where ?? 'Another of these requests';

/** Notes the record that has the natural key of a create but for case, where none has the key itself; else what creates such a one. */
export function caseNotes(entry: CheckedEntry, alike: readonly Holder[], open: OpenCreates): string[] {
  const { kind, naturalKey, allowsDouble } = entry;
  if (allowsDouble || kind.repeats === true || !alike.every((one) => one.isByCaseAlone)) return [];
  const [record] = alike;
  const other = open.get(naturalKey?.toLowerCase());
  if (record === undefined && (other === undefined || other.key === naturalKey)) return [];
  const holder = record ? `record ${record.id} of ${kind.name} has` : `${other?.by} creates a record with`;
  return [`${holder} the same natural key but for upper and lower case`];
}

/** Names what has a natural key, as the beginning of a sentence; null if nothing has it. */
async function describeHolder(
  tx: Transaction,
  kind: string,
  earlier: Entry | undefined,
  record: Holder | undefined,
): Promise<string | null> {
  if (earlier !== undefined && earlier.state !== 'done')
    return earlier.recordId === null
      ? `Entry ${earlier.id} of the outbox creates a record of ${kind} with`
      : `Record ${earlier.recordId} of ${kind}, made by entry ${earlier.id} of the outbox, has`;
  if (record !== undefined) return `Record ${record.id} of ${kind} has`;
  const madeId = earlier === undefined ? null : await madeRecord(tx, kind, earlier);
  return madeId && `Record ${madeId} of ${kind}, made by entry ${earlier?.id} of the outbox, has`;
}

/** The record that a done create made, while it is there: not known yet, or with a key that the service has altered. */
async function madeRecord(db: Queryable, kind: string, { recordId, verdict }: Entry) {
  const row = (await readOwnRows(db, kind, [recordId ?? ''])).get(recordId ?? '');
  return row === undefined || (row.isLive && verdict === 'altered') ? recordId : null;
}
