import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { orNull, readRows } from '../db/rows/rows.ts';
import type { Queryable } from '../db/session/session.ts';
import { inChunks } from '../db/session/sql-text.ts';
import { sqlList } from '../db/session/sql-list.ts';
import { isRecordId } from '../diff/compare-page.ts';
import { recordName } from '../store/records/record-name.ts';

/** The mirror's copy of a record. */
export interface MirrorRow {
  /** The record as compact JSON, by the names of a read. */
  readonly raw: string;
  readonly isLive: boolean;
  /** `forget --suppress` keeps it out of the mirror: `raw` has its id alone. */
  readonly isSuppressed: boolean;
  /** Its list has shown it: `raw` is what the list shows. */
  readonly isListed: boolean;
  readonly changedAt: string;
}

/** Says why the mirror has no live row of `record 17 of clients`. */
export function describeAbsent(row: MirrorRow | null | undefined, record: string): string {
  if (!row) return `the mirror does not have ${record}`;
  return row.isSuppressed
    ? `${record} is kept out of the mirror: forgotten`
    : `the mirror holds ${record} as deleted`;
}

const MIRROR_ROW = {
  id: String,
  raw: String,
  changedAt: String,
  deletedAt: orNull(String),
  listed: orNull(Number),
  suppressed: orNull(Number),
};

/** Reads the mirror's copies of these records; a record without a row is absent from the map. */
export async function readOwnRows(db: Queryable, kind: string, ids: readonly string[]) {
  const copies = new Map<string, MirrorRow>();
  for (const chunk of inChunks(ids.filter(isRecordId))) {
    const rows = sql`
      select cast(id as text) as id, _raw as raw, _changed_at as changed_at, _deleted_at as deleted_at, _listed as listed,
        (select max(suppressed) from erasures where kind = ${kind} and record_id = cast(k.id as text)) as suppressed
      from ${sql.identifier(kind)} as k where id in (${sqlList(chunk)})`;
    for (const { id, deletedAt, listed, suppressed, ...row } of await readRows(db, MIRROR_ROW, rows)) {
      const isSuppressed = suppressed === 1;
      copies.set(id, { ...row, isLive: deletedAt === null, isSuppressed, isListed: listed !== null });
    }
  }
  return copies;
}

export type NameOf = (kind: string, id: string | null) => string;

/** Reads the names of records of these kinds; any other record, and one without a row, has an empty one. */
export async function readNames(
  db: Queryable,
  kinds: readonly Pick<Kind, 'name'>[],
  records: readonly { readonly kind: string; readonly recordId: string | null }[],
): Promise<NameOf> {
  const names = new Map<string, string>();
  for (const { name } of kinds) {
    const ids = records.flatMap((record) => (record.kind === name ? (record.recordId ?? []) : []));
    const rows = await readOwnRows(db, name, ids);
    for (const [id, { raw }] of rows) names.set(`${name} ${id}`, recordName(raw));
  }
  return (kind, id) => names.get(`${kind} ${id ?? ''}`) ?? '';
}
