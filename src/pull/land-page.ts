import { setImmediate as breathe } from 'node:timers/promises';
import type { ListedKind } from '../catalog/kind.ts';
import { decodeRecord } from '../diff/decode-record.ts';
import { valueDrift } from '../diff/field-drift.ts';
import { isOvertaken, judge, sortPage } from '../diff/judge-page.ts';
import type { Incoming, Quarantined, Stored } from '../diff/judge-page.ts';
import { observeFields } from '../diff/observe-fields.ts';
import type { SeenField } from '../diff/observe-fields.ts';
import { instantText } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { saveDrift } from '../mirror/drift-store.ts';
import { saveFields } from '../mirror/field-store.ts';
import { issueKey, saveFieldIssues, saveQuarantined } from '../mirror/issue-store.ts';
import type { Issue } from '../mirror/issue-store.ts';
import type { KindLease } from '../mirror/kind-lease.ts';
import { writtenColumns } from '../mirror/kind-table.ts';
import type { SqlValue, Transaction, Values } from '../mirror/session.ts';
import { saveSighting } from '../mirror/sighting-store.ts';
import type { SourceClaim } from '../mirror/source-binding.ts';
import type { ListResponse } from '../source/source.ts';

/** What stays the same for all pages of a sweep. */
export interface Sweep {
  readonly kind: ListedKind;
  readonly lease: KindLease;
  readonly runId: number;
  readonly claim: SourceClaim;
  /** Live rows before the sweep. */
  readonly knownRows: number;
  /** What the fields have shown so far; landing adds to it. */
  readonly fields: Map<string, SeenField>;
  /** Keys of the open issues about whole records; landing adds to it. */
  readonly quarantined: Set<string>;
}

/** A response, and the instant at which it lands. */
export interface Arrival {
  readonly response: ListResponse;
  readonly now: Date;
}

/** What became of a page, by record id. */
export interface Landing {
  readonly response: ListResponse;
  readonly seen: readonly string[];
  readonly created: readonly string[];
  readonly changed: readonly string[];
  /** Fields that some record had. */
  readonly fields: ReadonlySet<string>;
  /** Keys of the records that no row could be made of. */
  readonly quarantined: readonly string[];
}

const ROWS_A_SLICE = 50; // A turn of the event loop after each keeps requests leaving while a page lands.
const STORED_COLUMNS = ['_raw', '_response', '_first_seen_at', '_listed'] as const;

/** Lands one list response within a transaction: changed rows, issues, new fields, the sighting. */
export async function landPage(tx: Transaction, sweep: Sweep, { response, now }: Arrival): Promise<Landing> {
  const { incoming, quarantined } = sortPage(response.records);
  const issues = quarantined.map(quarantineIssue);
  const fresh = issues.filter((issue) => !sweep.quarantined.has(issueKey(issue)));
  const created: string[] = [];
  const changed: string[] = [];

  for (let from = 0; from < incoming.length; from += ROWS_A_SLICE) {
    const records = incoming.slice(from, from + ROWS_A_SLICE);
    const news = await landSlice(tx, sweep, { records, response, now });
    for (const { id, stored } of news) (stored === undefined ? created : changed).push(id);
    await breathe();
  }
  await saveQuarantined(tx, sweep.kind.name, { issues: fresh, now });
  for (const issue of fresh) sweep.quarantined.add(issueKey(issue));

  const seen = incoming.map(({ id }) => id);
  const unclear = quarantined.flatMap(({ id, code }) => (id !== null && code === 'two_versions' ? [id] : []));
  await saveSighting(tx, sightingOf(sweep, response, { ids: [...seen, ...unclear], now }));
  const fields = new Set(incoming.flatMap(({ record }) => Object.keys(record)));
  return { response, seen, created, changed, fields, quarantined: issues.map(issueKey) };
}

interface Slice extends Arrival {
  readonly records: readonly Incoming[];
}

interface News extends Incoming {
  readonly stored: StoredRow | undefined;
}

interface StoredRow extends Stored {
  readonly firstSeenAt: SqlValue;
  readonly listed: SqlValue;
}

/** Lands some records of a page and returns those that were new or different. */
async function landSlice(
  tx: Transaction,
  sweep: Sweep,
  { records, response, now }: Slice,
): Promise<readonly News[]> {
  const { kind } = sweep;
  const rows = await tx.rowsById(
    kind.name,
    STORED_COLUMNS,
    records.map(({ id }) => id),
  );
  const news = records
    .map((record): News => ({ ...record, stored: storedRow(rows.get(record.id)) }))
    .filter((record) => !isOvertaken(record.stored, response.sent))
    .filter((record) => judge(kind, record.stored, record) !== 'unchanged');
  if (news.length === 0) return news;

  const at = instantText(now);
  const found: Issue[] = [];
  const values = news.map(({ id, raw, record, stored }) => {
    const decoded = decodeRecord(kind, record);
    found.push(...decoded.misfits.map((misfit) => ({ recordId: id, ...misfit })));
    const [firstSeenAt, listed] = [stored?.firstSeenAt ?? at, stored?.listed ?? response.answered];
    return [...decoded.values, raw, firstSeenAt, at, null, response.answered, listed];
  });
  await tx.putRows({ table: kind.name, columns: writtenColumns(kind), rows: values });
  await saveFieldIssues(tx, { kind: kind.name, recordIds: news.map(({ id }) => id), found, now });

  await landFields(tx, sweep, { records: news.map(({ record }) => record), now });
  return news;
}

/** Notes fields that came for the first time, or as another type; the first reading is what later ones differ from. */
async function landFields(
  tx: Transaction,
  { kind, lease, fields }: Sweep,
  { records, now }: { readonly records: readonly JsonObject[]; readonly now: Date },
): Promise<void> {
  const seen = observeFields(kind, fields, records);
  await saveFields(tx, kind, { fields: seen, now });
  const drifts = lease.completeSweeps === 0 ? [] : valueDrift(fields, seen);
  await saveDrift(
    tx,
    drifts.map((drift) => ({ kind: kind.name, ...drift })),
    now,
  );
  for (const [field, shown] of seen) fields.set(field, shown);
}

function storedRow(values: Values | undefined): StoredRow | undefined {
  if (values === undefined) return undefined;
  const [raw, response, firstSeenAt = null, listed = null] = values;
  return { raw: String(raw), response: Number(response), firstSeenAt, listed };
}

function quarantineIssue({ id, code, raw }: Quarantined): Issue {
  return { recordId: id, field: null, code, detail: raw };
}

function sightingOf(
  { kind, runId }: Sweep,
  response: ListResponse,
  { ids, now }: { ids: readonly string[]; now: Date },
) {
  const { page, sent, answered, records, end, meta } = response;
  return {
    kind: kind.name,
    runId,
    page,
    sent,
    answered,
    ids,
    rows: records.length,
    endRows: end?.rows ?? null,
    total: meta?.total ?? null,
    now,
  };
}
