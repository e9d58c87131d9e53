import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql, type SQL } from 'drizzle-orm';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { splitPage, withoutSuppressed, type IncomingRecord } from '../../diff/compare-page.ts';
import type { Queryable, Session, SqlValue } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { joinWithCommas } from '../../db/session/sql-list.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { readUnfilled } from '../../store/kinds/unfilled.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { readRecordsWithoutRow } from '../../store/records/issue-store.ts';
import { createElementDecoder, idsIn, type ParentRecord } from '../../store/records/nested-rows.ts';
import { liveIds } from '../../store/records/record-store.ts';
import { liveRowsOf } from '../../pull/deletions/tombstone-store.ts';
import { filledColumns, nestedColumns, nestedTables } from '../../store/tables/kind-table.ts';
import type { PullParts } from '../../pull/parts.ts';
import { recordComparer, valueText, type Difference } from './compare-record.ts';

/** A difference at one look, not a fault yet; in `id`, where a record has no row or a row no record. */
export interface Finding extends Difference {
  readonly id: string;
}

/** The records that were looked at. */
export interface Looked {
  readonly compared: Set<string>;
  /** Those that can have no row, or have none by an open issue: by their ids, or by their texts where they have none. */
  readonly quarantined: Set<string>;
}

/**
 * Reads the list of a kind, page by page, and yields every difference from the mirror. Changes nothing, needs no lease, and reads
 * outside of transactions: no writer ever waits for it.
 *
 * @param wanted Compares these records only, and reads until it has seen them all; null = all.
 * @throws {SourceError} {MirrorError}
 */
export async function* compareList(
  { session, source, signal, onProgress }: Pick<PullParts, 'session' | 'source' | 'signal' | 'onProgress'>,
  listed: ListedKind,
  looked: Looked,
  wanted: ReadonlySet<string> | null,
): AsyncGenerator<Finding> {
  const kind = await readMirroredKind(session, listed);
  const unfilled = await readUnfilled(session, kind);
  const withoutRow = await readRecordsWithoutRow(session, kind.name);
  const suppressed = await readSuppressed(session, kind.name); // Kept out on purpose.
  const unseen = new Set(wanted ?? (await readLiveIds(session, kind.name))); // Before the list: rows created meanwhile are not surplus.
  let pages = 0;
  for await (const response of source.sweep(kind, { thorough: true, signal })) {
    const { incoming, quarantined } = withoutSuppressed(splitPage(response.read()), suppressed);
    const rowless = incoming.filter(({ id }) => withoutRow.has(id));
    for (const { id, raw } of [...quarantined, ...rowless]) looked.quarantined.add(id ?? raw);
    const compared = incoming.filter(({ id }) => wanted?.has(id) !== false && !withoutRow.has(id));
    yield* compareRecords(session, kind, compared, unfilled);
    for (const { id } of compared) looked.compared.add(id);
    for (const { id } of [...incoming, ...quarantined]) unseen.delete(id ?? '');
    onProgress?.({ kind: kind.name, pages: ++pages, lastPage: response.walk.lastPage });
    if (wanted !== null && unseen.size === 0) return;
  }
  for (const { id } of await liveRowsOf(session, kind.name, [...unseen]))
    yield { id, field: 'id', service: null, mirror: id };
}

const readLiveIds = async (db: Queryable, kind: string): Promise<readonly string[]> =>
  (await Array.fromAsync(liveIds(db, kind))).flatMap((ids) => (ids === '' ? [] : ids.split(',')));

const RECORDS_AT_ONCE = 100;

/** Compares records with their rows, in several queries with a turn of the event loop after each. */
async function* compareRecords(
  db: Session,
  kind: Kind,
  records: readonly IncomingRecord[],
  unfilled: ReadonlySet<string>,
): AsyncGenerator<Finding> {
  const compare = recordComparer(kind, db.dialect, unfilled);
  const filled = filledColumns(kind, db.dialect).filter((name) => name !== 'id');
  for (const some of inChunks(records, RECORDS_AT_ONCE)) {
    const ids = some.map(({ id }) => id);
    const found = await db.query(sql`
      select cast(id as text) as id, ${columnList([...filled, '_raw', '_deleted_at'])}
      from ${sql.identifier(kind.name)} as k where k.id in ${idsIn(db, ids)}`);
    const rows = new Map(found.map((row) => [String(row['id']), row]));
    const live: ParentRecord[] = [];
    for (const incoming of some) {
      const { id } = incoming;
      const { differences, content } = compare(incoming, rows.get(id));
      for (const difference of differences) yield { id, ...difference };
      if (content !== null) live.push({ id, record: content });
    }
    yield* compareElements(db, kind, live, unfilled);
    await yieldToEventLoop();
  }
}

/** Yields the nested tables in which a record has other elements than its array, each with all elements as JSON. */
export async function* compareElements(
  db: Queryable,
  kind: Kind,
  records: readonly ParentRecord[],
  unfilled: ReadonlySet<string> = new Set(),
): AsyncGenerator<Finding> {
  for (const table of nestedTables(kind)) {
    const { read } = createElementDecoder(table, db.dialect, []);
    const columns = nestedColumns(table, db.dialect).map((column) => column.name);
    const textOf = (elements: readonly (readonly (SqlValue | undefined)[])[]): string =>
      JSON.stringify(
        elements.map((values) => values.filter((_, at) => !unfilled.has(columns[at] ?? '')).map(valueText)),
      );
    const ids = records.map((record) => record.id);
    const rows = await db.query(sql`
      select ${columnList(columns)} from ${sql.identifier(table.name)}
      where parent_id in ${idsIn(db, ids)} order by parent_id, position`);
    const held = Map.groupBy(rows, (row) => String(row['parent_id']));
    for (const parent of records) {
      const { id } = parent;
      const mirror = textOf((held.get(id) ?? []).map((row) => columns.map((name) => row[name])));
      const service = textOf(read(parent));
      if (service !== mirror) yield { id, field: table.name, service, mirror };
    }
  }
}

const columnList = (names: readonly string[]): SQL =>
  joinWithCommas(names.map((name) => sql.identifier(name)));
