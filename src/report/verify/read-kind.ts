import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ListedKind } from '../../catalog/kind.ts';
import { splitPage, type IncomingRecord } from '../../diff/compare-page.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { readRecordsWithoutRow } from '../../store/records/issue-store.ts';
import { isSearchPrepared } from '../../store/kinds/search-state.ts';
import { compareElements } from './compare-elements.ts';
import type { ParentRecord } from '../../store/records/nested-rows.ts';
import type { Row, Session } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { Source } from '../../source/source.ts';
import { recordComparer, type Difference } from './compare-record.ts';
import { readLiveIds, readComparedRows } from './mirror-rows.ts';

export interface AuditParts {
  readonly session: Session;
  readonly source: Source;
  /** `lastPage` is the last page that the service has named; null = unknown. */
  readonly onProgress?: (progress: { kind: string; pages: number; lastPage: number | null }) => void;
  readonly signal?: AbortSignal;
}

/** One difference between mirror and service at one reading; not a fault yet. */
export interface AuditFinding extends Difference {
  readonly id: string;
  /** `missing`: the record has no row. `surplus`: a live row has no record. `value`: they differ. */
  readonly is: 'missing' | 'surplus' | 'value';
}

type OnFinding = (finding: AuditFinding) => void;

/** One reading of a whole list beside the mirror. */
export type KindReading = Awaited<ReturnType<typeof readKind>>;

/**
 * Reads the whole list of a kind, page by page, and reports every difference from the mirror. Changes nothing and needs no
 * lease. A fault of the source ends the reading and is part of its result.
 * @throws {MirrorError} If the database fails.
 */
export async function readKind(parts: AuditParts, kind: ListedKind, onFinding: OnFinding) {
  const reading = await openReading(parts.session, kind, onFinding);
  const live = await readLiveIds(parts.session, kind.name); // Before the reading: records created meanwhile are not surplus.
  let fault: SourceError | null = null;
  try {
    let ticks = 0;
    let pages = 0;
    const options = { thorough: true, tick: () => ++ticks, ...(parts.signal && { signal: parts.signal }) };
    for await (const response of parts.source.sweep(reading.kind, options)) {
      await comparePage(reading, response);
      parts.onProgress?.({ kind: kind.name, pages: ++pages, lastPage: response.walk.lastPage });
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    fault = error;
  }
  if (fault === null) await findSurplus(reading, live);
  return { compared: reading.compared, quarantined: reading.quarantined.size, fault };
}

type OpenReading = Awaited<ReturnType<typeof openReading>>;

async function openReading(session: Session, listed: ListedKind, onFinding: OnFinding) {
  const kind = await readMirroredKind(session, listed);
  const hasSearch = await isSearchPrepared(session, kind);
  return {
    session,
    kind,
    hasSearch,
    compare: recordComparer(kind, session.dialect, hasSearch),
    /** Ids with an open issue about the whole record. */
    recordsWithoutRow: await readRecordsWithoutRow(session, kind.name),
    /** Ids of records that are kept out of the mirror on purpose: they are not compared. */
    suppressed: await readSuppressed(session, kind.name),
    /** Every id that some page showed. */
    shown: new Set<string>(),
    compared: new Set<string>(),
    /** Records that can have no row, or have none by an open issue: by their ids, or by their texts where they have none. */
    quarantined: new Set<string>(),
    onFinding,
  };
}

async function comparePage(reading: OpenReading, response: ListResponse): Promise<void> {
  const { kind, session, recordsWithoutRow, suppressed, shown, compared, quarantined } = reading;
  const sorted = splitPage(response.read());
  for (const { id, raw } of sorted.quarantined) {
    quarantined.add(id ?? raw);
    if (id !== null) shown.add(id);
  }
  const comparable: IncomingRecord[] = [];
  for (const incoming of sorted.incoming) {
    const { id } = incoming;
    shown.add(id);
    if (suppressed.has(id)) continue;
    if (recordsWithoutRow.has(id)) quarantined.add(id);
    else comparable.push(incoming);
  }
  const ids = comparable.map((incoming) => incoming.id);
  const rows = await readComparedRows(session, kind, ids);
  const live: ParentRecord[] = [];
  for (const incoming of comparable) {
    const { id } = incoming;
    const content = compareRow(reading, incoming, rows.get(id));
    if (content !== null) live.push({ id, record: content });
  }
  await compareNested(reading, live);
  for (const id of ids) compared.add(id);
}

/** Returns the content that the elements must be decoded from; null where there is no live row. */
function compareRow(reading: OpenReading, incoming: IncomingRecord, row: Row | undefined): JsonObject | null {
  const { compare, onFinding } = reading;
  const { id } = incoming;
  if (row === undefined) {
    onFinding({ id, is: 'missing', field: 'id', service: id, mirror: null });
    return null;
  }
  const deletedAt = row['_deleted_at'] ?? null;
  if (deletedAt !== null) {
    onFinding({ id, is: 'value', field: '_deleted_at', service: null, mirror: String(deletedAt) });
    return null; // The last content of a deleted row is not a claim about the present.
  }
  const { differences, content } = compare(incoming, row);
  for (const difference of differences) onFinding({ id, is: 'value', ...difference });
  return content;
}

const PARENTS_AT_ONCE = 100;

async function compareNested(reading: OpenReading, live: readonly ParentRecord[]): Promise<void> {
  const { session, kind, hasSearch, onFinding } = reading;
  for (const parents of inChunks(live, PARENTS_AT_ONCE)) {
    for await (const difference of compareElements(session, kind, parents, hasSearch))
      onFinding({ is: 'value', ...difference });
    await yieldToEventLoop();
  }
}

const ROWS_AT_ONCE = 1_000;

/** Rows that were live during the whole reading and that no page showed. */
async function findSurplus(reading: OpenReading, live: ReadonlySet<string>): Promise<void> {
  const unseen = [...live].filter((id) => !reading.shown.has(id));
  for (const ids of inChunks(unseen, ROWS_AT_ONCE))
    for (const [id, row] of await readComparedRows(reading.session, reading.kind, ids))
      if (row['_deleted_at'] === null)
        reading.onFinding({ id, is: 'surplus', field: 'id', service: null, mirror: id });
}
