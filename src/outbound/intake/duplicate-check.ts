import type { Kind } from '../../catalog/kind.ts';
import { decodeField } from '../../diff/decode-record.ts';
import { hasNaturalKeyOf, keyFields } from '../../diff/match.ts';
import { parseObject } from '../../lib/json/json.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { entryWithKey } from '../../store/outbox/outbox-queue.ts';
import { liveRecords, liveRecordsWith, type LiveRecord } from '../../store/records/record-store.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { readOwnRows } from '../attempt/land-own-write.ts';
import type { CheckedEntry } from './entry-request.ts';

/** The record or the entry that already has the natural key of a create. */
interface KeyHolder {
  readonly recordId: string | null;
  /** The entry that makes it, or made it; null where others made the record. */
  readonly entry: number | null;
}

/** Finds live records of the mirror with the natural key of a create. */
export async function findRecordsWithKey(
  db: Queryable,
  kind: Kind,
  payload: string,
): Promise<readonly LiveRecord[]> {
  const wanted = parseObject(payload);
  const mirrored = await readMirroredKind(db, kind);
  const values = keyFields(mirrored, wanted, {}).flatMap((keyField) => {
    const { name, sent } = keyField;
    const field = mirrored.fields.find((each) => each.name === name && each.type !== 'json');
    const value = field === undefined ? null : decodeField(field, sent, () => undefined);
    return value === null ? [] : [{ column: name, value }];
  });
  const matches: LiveRecord[] = [];
  const candidates =
    values.length > 0 ? await liveRecordsWith(db, kind.name, values) : liveRecords(db, kind.name);
  for await (const record of candidates)
    if (hasNaturalKeyOf(mirrored, wanted, parseObject(record.raw))) matches.push(record);
  return matches;
}

/**
 * Finds the holder of a create's natural key: an open entry, a record, or the record that an earlier entry with the same key made,
 * even if the service gave it another key. Null if nothing holds it, or equal records are legitimate.
 */
export async function findKeyHolder(tx: Transaction, entry: CheckedEntry): Promise<KeyHolder | null> {
  const { kind, payload, naturalKey } = entry;
  if (kind.repeats === true || naturalKey === null) return null;
  const earlier = await entryWithKey(tx, kind.name, naturalKey);
  if (earlier !== null && earlier.state !== 'done') return { recordId: earlier.recordId, entry: earlier.id };
  const [record] = await findRecordsWithKey(tx, kind, payload);
  if (record !== undefined) return { recordId: record.id, entry: null };
  if (earlier === null || earlier.recordId === null) return null;
  const row = (await readOwnRows(tx, kind.name, [earlier.recordId])).get(earlier.recordId);
  const isThere = row === undefined || (row.isLive && earlier.verdict === 'altered');
  return isThere ? { recordId: earlier.recordId, entry: earlier.id } : null;
}

/** A create that the duplicate check refuses, and the holder of its key. */
export interface DuplicateRefusal {
  /** Which of several it is, for messages. */
  readonly where: string | null;
  readonly kind: string;
  readonly holder: KeyHolder;
}

/** @throws {UsageError} `outbox.double` if there are any, with the holders of their keys. */
export function refuseDuplicates(refused: readonly DuplicateRefusal[]): void {
  if (refused.length === 0) return;
  const messages = refused.map(({ where, kind, holder: { recordId, entry } }) => {
    const place = where === null ? '' : `${where}: `;
    const maker = entry === null ? '' : `, made by entry ${entry} of the outbox,`;
    return recordId === null
      ? `${place}Entry ${entry ?? ''} of the outbox creates a record of ${kind} with the same natural key.`
      : `${place}Record ${recordId} of ${kind}${maker} has the same natural key.`;
  });
  throw new UsageError(messages.join('\n  '), {
    code: 'outbox.double',
    hint: 'Nothing was stored. To create a second record anyway: --allow-double, or "allowDouble": true.',
  });
}
