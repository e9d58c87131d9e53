import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { splitPage, withoutSuppressed } from '../../diff/compare-page.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readListView, readMirroredKind } from '../../store/kinds/field-store.ts';
import { excludedSince } from '../../store/kinds/exclusions.ts';
import { readStanding, jumpTick } from '../../store/kinds/kind-standing.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { compareRetrieved, readStoredRows, writeRows } from '../../store/records/stored-rows.ts';
import { optionalBigint, optionalTimestamp, textColumn } from '../../db/rows/engine-column.ts';
import { readRows } from '../../db/rows/rows.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks, sqlList } from '../../db/session/sql-text.ts';
import type { OutboundParts } from '../parts.ts';

export interface OwnRecord {
  readonly kind: Kind;
  readonly record: JsonObject;
  /** `service` for the record before our write, `outbox:<id>` for the record after it. */
  readonly origin: string;
  /** A record that the mirror does not know gets a row. */
  readonly canBeNew: boolean;
}

/**
 * Lands a record from the answer to our own write at once, with its event.
 *
 * It counts as newer than every list response requested until now, so that no page read earlier reverts it.
 */
export async function landOwnWrite(tx: Transaction, parts: OutboundParts, reading: OwnRecord): Promise<void> {
  const { kind, record, origin, canBeNew } = reading;
  // The outcome is stored in any case; a process with the present exclusions lands the record.
  if ((await excludedSince(tx, kind)).length > 0) return;
  const page = withoutSuppressed(splitPage([record]), await readSuppressed(tx, kind.name));
  const [incoming] = page.incoming;
  if (incoming === undefined) return; // It cannot become a row (the next sweep opens the issue), or is kept out on purpose.
  const mirrored = await readMirroredKind(tx, kind);
  const stored = (await readStoredRows(tx, mirrored, [incoming.id])).get(incoming.id);
  const isListedNow = stored !== undefined && stored.listed !== null && !stored.isDeleted;
  if (stored === undefined ? !canBeNew : canBeNew && isListedNow) return;

  const response = await jumpTick(tx, kind.name);
  const list = await readListView(tx, kind.name);
  const judged = compareRetrieved({ kind: mirrored, list }, stored, incoming, response);
  await writeRows(tx, {
    kind: mirrored,
    records: [judged],
    isListed: false,
    origin,
    runId: null,
    now: parts.clock.now(),
    standing: await readStanding(tx, kind.name),
    ignoredFields: new Set(parts.rules.ignoreFields[kind.name] ?? []),
  });
}

/** The mirror's copy of a record. */
export interface MirrorRow {
  /** The record as compact JSON, by the names of a read. */
  readonly raw: string;
  readonly isLive: boolean;
  /** `forget --suppress` keeps it out of the mirror: `raw` has its id alone. */
  readonly isSuppressed: boolean;
  /** Its list has shown it: `raw` is what the list shows. */
  readonly isListed: boolean;
}

/** Says why the mirror has no live row of `record 17 of clients`. */
export function describeAbsent(row: MirrorRow | null | undefined, record: string): string {
  if (!row) return `the mirror does not have ${record}`;
  return row.isSuppressed
    ? `${record} is kept out of the mirror: forgotten`
    : `the mirror holds ${record} as deleted`;
}

const MIRROR_ROW = [
  textColumn('id'),
  textColumn('raw'),
  optionalTimestamp('deleted_at'),
  optionalBigint('listed'),
  optionalBigint('suppressed'),
];

/** Reads the mirror's copies of these records; a record without a row is absent from the map. */
export async function readOwnRows(db: Queryable, kind: string, ids: readonly string[]) {
  const copies = new Map<string, MirrorRow>();
  for (const chunk of inChunks(ids)) {
    const rows = sql`
      select cast(id as text) as id, _raw as raw, _deleted_at as deleted_at, _listed as listed,
        (select max(suppressed) from erasures where kind = ${kind} and record_id = cast(k.id as text)) as suppressed
      from ${sql.identifier(kind)} as k where id in (${sqlList(chunk)})`;
    for (const { id, raw, deletedAt, listed, suppressed } of await readRows(db, MIRROR_ROW, rows)) {
      const isSuppressed = suppressed === 1;
      copies.set(id, { raw, isLive: deletedAt === null, isSuppressed, isListed: listed !== null });
    }
  }
  return copies;
}
