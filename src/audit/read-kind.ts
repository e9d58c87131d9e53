import type { ListedKind } from '../catalog/kind.ts';
import { asMirrored } from '../mirror/kinds/field-store.ts';
import { readSuppressed } from '../mirror/records/erasure-store.ts';
import type { Row, Session } from '../mirror/session/session.ts';
import { nestedTables } from '../mirror/tables/kind-table.ts';
import type { NestedTable } from '../mirror/tables/kind-table.ts';
import { SourceError } from '../source/http/errors.ts';
import type { ListResponse } from '../source/paging/list-responses.ts';
import type { Source } from '../source/source.ts';
import { compareElements } from './compare-elements.ts';
import { compareRecord } from './compare-record.ts';
import { createIdList, hashOf } from './findings.ts';
import type { AuditFinding, IdList } from './findings.ts';
import { readElements, readLiveIds, readRows, readSetAside, readStrayParents } from './mirror-rows.ts';
import { sortRecords } from './read-value.ts';
import type { KnownRecord } from './read-value.ts';

export interface AuditParts {
  readonly session: Session;
  readonly source: Pick<Source, 'sweep'>;
  readonly onProgress?: (progress: AuditProgress) => void;
  readonly signal?: AbortSignal;
}

interface AuditProgress {
  readonly kind: string;
  readonly pages: number;
  /** The last page that the service has named; null = unknown. */
  readonly lastPage: number | null;
}

/** One reading of a whole list beside the mirror. */
export interface KindReading {
  /** Records that were compared with the mirror. */
  readonly compared: IdList;
  /** How many records can have no row, or have none by an open issue. */
  readonly quarantined: number;
  /** Why the list was not read to its end; null = it was. */
  readonly fault: SourceError | null;
}

type OnFinding = (finding: AuditFinding) => void;

/**
 * Reads the whole list of a kind, page by page, and reports every difference from the mirror. Changes nothing and
 * takes no lease.
 *
 * A fault of the source ends the reading and is part of its result.
 * @throws {MirrorError} If the database fails.
 */
export async function readKind(
  parts: AuditParts,
  kind: ListedKind,
  onFinding: OnFinding,
): Promise<KindReading> {
  const { session } = parts;
  const reading: OpenReading = {
    session,
    kind: await asMirrored(session, kind),
    setAside: await readSetAside(session, kind.name),
    suppressed: await readSuppressed(session, kind.name),
    shown: createIdList(),
    compared: createIdList(),
    quarantined: createIdList(),
    onFinding,
  };
  const live = await readLiveIds(session, kind.name); // Before the reading: records created meanwhile are not surplus.
  const fault = await readPages(parts, reading);
  if (fault === null) await findSurplus(reading, live);
  return { compared: reading.compared, quarantined: reading.quarantined.size(), fault };
}

interface OpenReading {
  readonly session: Session;
  readonly kind: ListedKind;
  /** Ids with an open issue about the whole record. */
  readonly setAside: ReadonlySet<string>;
  /** Ids of records that are kept out of the mirror on purpose: they are not compared. */
  readonly suppressed: ReadonlySet<string>;
  /** Every id that some page showed. */
  readonly shown: IdList;
  readonly compared: IdList;
  readonly quarantined: IdList;
  readonly onFinding: OnFinding;
}

/** Compares every page as it comes; returns the fault that ended the list early. */
async function readPages(
  { source, onProgress, signal }: AuditParts,
  reading: OpenReading,
): Promise<SourceError | null> {
  let [ticks, pages] = [0, 0];
  const { kind } = reading;
  const options = { thorough: true, tick: () => ++ticks, ...(signal && { signal }) };
  try {
    for await (const response of source.sweep(kind, options)) {
      await comparePage(reading, response);
      onProgress?.({ kind: kind.name, pages: ++pages, lastPage: response.plan.lastPage });
    }
    return null;
  } catch (error) {
    if (error instanceof SourceError) return error;
    throw error;
  }
}

async function comparePage(reading: OpenReading, response: ListResponse): Promise<void> {
  const { kind, session, setAside, suppressed, shown, compared, quarantined } = reading;
  const { known, unusable } = sortRecords(response.read());
  for (const { id, text } of unusable) {
    quarantined.add(id === null ? hashOf(text) : BigInt(id));
    if (id !== null) shown.add(BigInt(id));
  }
  const comparable: KnownRecord[] = [];
  for (const one of known) {
    shown.add(BigInt(one.id));
    if (suppressed.has(one.id)) continue;
    if (setAside.has(one.id)) quarantined.add(BigInt(one.id));
    else comparable.push(one);
  }
  const ids = comparable.map(({ id }) => id);
  const rows = await readRows(session, kind, ids);
  for (const one of comparable) compareKnown(reading, one, rows.get(one.id));
  const live = comparable.filter(({ id }) => rows.get(id)?.['_deleted_at'] === null);
  for (const table of nestedTables(kind)) await compareNested(reading, table, { live, rows });
  for (const id of ids) compared.add(BigInt(id));
}

function compareKnown(
  { kind, onFinding }: OpenReading,
  { id, record }: KnownRecord,
  row: Row | undefined,
): void {
  if (row === undefined) {
    onFinding({ id, is: 'missing', field: 'id', service: id, mirror: null });
    return;
  }
  const deletedAt = row['_deleted_at'] ?? null;
  if (deletedAt !== null) {
    onFinding({ id, is: 'value', field: '_deleted_at', service: null, mirror: String(deletedAt) });
    return; // The last content of a deleted row is no claim about the present.
  }
  for (const difference of compareRecord(kind, record, row)) onFinding({ id, is: 'value', ...difference });
}

async function compareNested(
  { session, onFinding }: OpenReading,
  table: NestedTable,
  { live, rows }: { readonly live: readonly KnownRecord[]; readonly rows: ReadonlyMap<string, Row> },
): Promise<void> {
  const elements = await readElements(
    session,
    table,
    live.map(({ id }) => id),
  );
  for (const { id, record } of live)
    for (const difference of compareElements(table, record, {
      row: rows.get(id),
      rows: elements.get(id) ?? [],
    }))
      onFinding({ id, is: 'value', ...difference });
}

const ROWS_AT_ONCE = 1_000;

/** Rows that were live during the whole reading and that no page showed, and elements under ids that have no row. */
async function findSurplus({ kind, session, shown, onFinding }: OpenReading, live: IdList): Promise<void> {
  const unseen: string[] = [];
  for (const id of live.values()) if (!shown.has(id)) unseen.push(String(id));
  for (let from = 0; from < unseen.length; from += ROWS_AT_ONCE) {
    const rows = await readRows(session, kind, unseen.slice(from, from + ROWS_AT_ONCE));
    for (const [id, row] of rows) {
      if (row['_deleted_at'] === null)
        onFinding({ id, is: 'surplus', field: 'id', service: null, mirror: id });
    }
  }
  for (const table of nestedTables(kind))
    for (const id of await readStrayParents(session, kind.name, table))
      onFinding({ id, is: 'surplus', field: table.array, service: null, mirror: id });
}
