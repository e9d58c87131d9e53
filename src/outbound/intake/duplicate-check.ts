import type { Kind } from '../../catalog/kind.ts';
import { decodeField } from '../../diff/decode-record.ts';
import { hasNaturalKeyOf, keyFields } from '../../diff/match.ts';
import { parseObject, type Json } from '../../lib/json/json.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { entriesWithKeys } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { liveRecords, liveRecordsWith, type LiveRecord } from '../../store/records/record-store.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { readOwnRows } from '../attempt/land-own-write.ts';
import type { CheckedEntry } from './entry-request.ts';

/** Finds live records of the mirror with the natural key of a create. */
export async function findRecordsWithKey(
  db: Queryable,
  kind: Kind,
  payload: string,
): Promise<readonly LiveRecord[]> {
  return (await findRecordsWithKeys(db, kind, [payload])).get(payload) ?? [];
}

/** The same for many creates, by payload. Natural keys have no index: the table is searched for hundreds at once. */
async function findRecordsWithKeys(db: Queryable, kind: Kind, payloads: readonly string[]) {
  const mirrored = await readMirroredKind(db, kind);
  const wanted = [...new Set(payloads)].map((payload) => toSearch(mirrored, payload));
  const found = new Map<string, LiveRecord[]>();
  for (const alike of Map.groupBy(wanted, ({ columns }) => [...columns.keys()].join()).values())
    for (const some of inChunks(alike))
      for await (const { payload, record } of findTogether(db, mirrored, some))
        found.set(payload, [...(found.get(payload) ?? []), record]);
  return found;
}

/** What a create is searched by: the columns of its natural key with their values. */
function toSearch(mirrored: Kind, payload: string) {
  const valueOf = columnReader(mirrored);
  const sent = parseObject(payload);
  const values = keyFields(mirrored, sent, {}).flatMap((field) => {
    const value = valueOf(field.name, field.sent);
    return value === null ? [] : [[field.name, value] as const];
  });
  const columns = new Map(values.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_COLUMNS));
  return { payload, sent, columns };
}

/** Searches for several creates that are searched by the same columns, and yields each record that one of them would double. */
async function* findTogether(db: Queryable, mirrored: Kind, some: readonly ReturnType<typeof toSearch>[]) {
  const valueOf = columnReader(mirrored);
  const names = [...(some[0]?.columns.keys() ?? [])];
  const byValues = Map.groupBy(some, ({ columns }) => JSON.stringify([...columns.values()].map(String)));
  const tests = names.map((column) => {
    return { column, values: some.map(({ columns }) => columns.get(column) ?? '') };
  });
  const records =
    names.length > 0 ? await liveRecordsWith(db, mirrored.name, tests) : liveRecords(db, mirrored.name);
  for await (const record of records) {
    const content = parseObject(record.raw);
    const values = JSON.stringify(names.map((name) => String(valueOf(name, content[name]))));
    for (const { payload, sent } of byValues.get(values) ?? [])
      if (hasNaturalKeyOf(mirrored, sent, content)) yield { payload, record };
  }
}

const MOST_COLUMNS = 30; // With a list of values for each, a statement has as many parameters as SQLite allows.

/** Reads values as the columns of the mirror hold them; null for a field that no column can be searched by. */
function columnReader({ fields }: Kind) {
  return (name: string, value: Json | undefined): string | number | null => {
    const field = fields.find((each) => each.name === name);
    return field === undefined || field.type === 'json' ? null : decodeField(field, value, () => undefined);
  };
}

/**
 * Refuses creates whose natural key something has: an open entry, an earlier one of these, a record, or the record that an earlier
 * entry with the same key made, even if the service gave it another key. Of some kinds equal records are legitimate.
 *
 * @throws {UsageError} `outbox.double` with the holders of their keys.
 */
export async function refuseDuplicates(tx: Transaction, entries: readonly CheckedEntry[]): Promise<void> {
  const messages: string[] = [];
  const creates = entries.filter(({ kind, naturalKey }) => kind.repeats !== true && naturalKey !== null);
  for (const [kind, ofKind] of Map.groupBy(creates, (entry) => entry.kind)) {
    const checked = ofKind.filter((entry) => !entry.allowsDouble);
    const keys = checked.map((entry) => entry.naturalKey ?? '');
    const made = await entriesWithKeys(tx, kind.name, keys);
    const payloads = checked.map((entry) => entry.payload);
    const records = await findRecordsWithKeys(tx, kind, payloads);
    const firsts = new Map<string | null, CheckedEntry>();
    for (const entry of ofKind) {
      const { naturalKey, payload, where, allowsDouble } = entry;
      const first = firsts.get(naturalKey);
      const earlier = made.get(naturalKey) ?? null;
      const [record] = records.get(payload) ?? [];
      const holder =
        first === undefined
          ? await describeHolder(tx, kind.name, earlier, record)
          : `${first.where ?? 'Another of these requests'} creates a record of ${kind.name} with`;
      if (holder !== null && !allowsDouble)
        messages.push(`${where === null ? '' : `${where}: `}${holder} the same natural key.`);
      firsts.set(naturalKey, first ?? entry);
    }
  }
  if (messages.length > 0)
    throw new UsageError(messages.join('\n  '), {
      code: 'outbox.double',
      hint: 'Nothing was stored. To create a second record anyway: --allow-double, or "allowDouble": true.',
    });
}

/** Names what has a natural key, as the beginning of a sentence; null if nothing has it. */
async function describeHolder(
  tx: Transaction,
  kind: string,
  earlier: Entry | null,
  record: LiveRecord | undefined,
): Promise<string | null> {
  if (earlier !== null && earlier.state !== 'done')
    return earlier.recordId === null
      ? `Entry ${earlier.id} of the outbox creates a record of ${kind} with`
      : `Record ${earlier.recordId} of ${kind}, made by entry ${earlier.id} of the outbox, has`;
  if (record !== undefined) return `Record ${record.id} of ${kind} has`;
  const madeId = earlier?.recordId ?? null;
  if (earlier === null || madeId === null) return null;
  const row = (await readOwnRows(tx, kind, [madeId])).get(madeId);
  const isThere = row === undefined || (row.isLive && earlier.verdict === 'altered');
  return isThere ? `Record ${madeId} of ${kind}, made by entry ${earlier.id} of the outbox, has` : null;
}
