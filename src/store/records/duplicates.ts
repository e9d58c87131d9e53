import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { hasAllSentValues, hasNaturalKeyOf } from '../../diff/match.ts';
import { parseObject } from '../../lib/json/json.ts';
import type { Transaction } from '../../db/session/session.ts';
import { readRows } from '../../db/rows/rows.ts';
import { newRecordsSince } from './record-store.ts';
import { entriesWhere } from '../outbox/outbox-store.ts';
import { KEY_COLUMN, keyedFields } from '../tables/key-column.ts';

const PAIR = { recordId: String, raw: String, otherId: String, otherRaw: String };

/**
 * Finds the live records that our creates made (or one of them), and beside which others live that may be the same: another user, a late
 * request or the service made these. They are returned as issues. A second record that was wanted (`allow_double`) is none.
 */
export async function findDuplicates(tx: Transaction, kind: Kind, id?: string) {
  if (keyedFields(kind).length === 0) return id === undefined ? findLate(tx, kind) : [];
  const [rows, key] = [sql.identifier(kind.name), sql.identifier(KEY_COLUMN)];
  const isWanted = (id: SQL): SQL => sql`exists (
    select 1 from links as w join outbox as e on e.id = w.outbox_id
    where w.kind = ${kind.name} and w.record_id = ${id} and e.allow_double = 1)`;
  const pairs = sql`
    select l.record_id, own._raw as raw, cast(other.id as text) as other_id, other._raw as other_raw
    from links as l join ${rows} as own on own.id = cast(l.record_id as bigint) and own._deleted_at is null
      join ${rows} as other on other.${key} = own.${key} and other.id <> own.id and other._deleted_at is null
    where l.kind = ${kind.name}${id === undefined ? sql`` : sql` and l.record_id = ${id}`} and own.${key} <> '' and not ${isWanted(sql`l.record_id`)}
      and not ${isWanted(sql`cast(other.id as text)`)} order by own.id, other.id`;
  const same = (await readRows(tx, PAIR, pairs)).filter(({ raw, otherRaw }) =>
    hasNaturalKeyOf(kind, parseObject(raw), parseObject(otherRaw)),
  );
  return [...Map.groupBy(same, (pair) => pair.recordId)].map(([recordId, others]) =>
    toIssue(
      recordId,
      others.map((other) => other.otherId),
    ),
  );
}

const toIssue = (recordId: string, others: readonly string[]) => ({
  recordId,
  field: null,
  detail: JSON.stringify(others),
});

/** In a kind without a natural key, equal records are usual: those alone count that a lost request of ours may have made since. */
async function findLate(tx: Transaction, kind: Kind) {
  const isLost = sql`exists (select 1 from outbox_attempts as a where a.outbox_id = outbox.id and a.grade = 'ambiguous')`;
  const made = sql`kind = ${kind.name} and operation = 'create' and state = 'done' and record_id is not null`;
  const issues = [];
  for (const entry of await entriesWhere(tx, sql`${made} and ${isLost}`)) {
    const late = (await newRecordsSince(tx, kind.name, entry.createdAt)).filter(({ raw }) =>
      hasAllSentValues(kind, parseObject(entry.payload), parseObject(raw)),
    );
    const ids = late.map((record) => record.id);
    if (ids.length > 0) issues.push(toIssue(entry.recordId ?? '', ids));
  }
  return issues;
}

/** The ids of the other records in the detail of such an issue. */
export const duplicateIds = (detail: string | null): readonly string[] => detail?.match(/\d+/g) ?? [];
