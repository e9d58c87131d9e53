import { isRecordId } from '../diff/compare-page.ts';
import type { Kind } from '../catalog/kind.ts';
import { formatInstant } from '../lib/time/clock.ts';
import { asOfInstant, openExport } from '../report/export/export-source.ts';
import { readKnownPast } from '../views/as-of.ts';
import { findRecords } from '../store/records/find-records.ts';
import { recordName } from '../store/records/record-name.ts';
import { readRecordStory, type RecordStory } from '../store/records/record-story.ts';
import type { Findings } from './answer.ts';
import type { ToolContext } from './context.ts';

/** What `record` is asked: an id, or words to search for. */
export interface RecordInput {
  readonly id?: string | undefined;
  readonly text?: string | undefined;
  readonly at?: string | undefined;
}

const MOST_HITS = 50;
const MOST_EVENTS = 50;

/** Finds a record with its history, or the records that a text finds. @throws {UsageError} `usage.as_of` for an unknown past. */
export async function readRecord(context: ToolContext, kind: Kind, input: RecordInput): Promise<Findings> {
  const { id = '', text, at } = input;
  if (text === undefined && isRecordId(id)) return readOne(context, kind, id, at);
  const wanted = text ?? id;
  const found = await findRecords(context.session, kind, { text: wanted, limit: MOST_HITS + 1 });
  const hits = found.slice(0, MOST_HITS);
  const isTruncated = found.length > MOST_HITS;
  return {
    columns: ['id', 'state', 'name'],
    rows: hits.map((hit) => [hit.id, hit.deletedAt === null ? 'live' : 'deleted', recordName(hit.raw)]),
    isTruncated,
    totalRows: isTruncated ? null : hits.length,
    kinds: [kind.name],
  };
}

/** Reads a record as its view shows it, at an instant or now, with its history; decimals have all their digits. */
async function readOne(
  context: ToolContext,
  kind: Kind,
  id: string,
  at: string | undefined,
): Promise<Findings> {
  const { session, timezone } = context;
  const now = context.clock.now();
  const story = await readRecordStory(session, kind, id);
  const { firstSeenAt } = await readKnownPast(session, kind.name, formatInstant(now));
  const shown =
    at === undefined && firstSeenAt === null
      ? { columns: [], rows: [], remark: null } // Nothing was ever read: that is the answer, and no fault.
      : await readState(context, kind, id, { asOf: at ?? now.toISOString(), now });
  const { remark, ...table } = shown;
  return {
    ...table,
    isTruncated: false,
    totalRows: table.rows.length,
    kinds: [kind.name],
    ...(at !== undefined && { asOf: formatInstant(asOfInstant(at, now, timezone).at) }),
    more: { ...historyOf(story), ...(remark !== null && { remark }) },
  };
}

async function readState(
  { session, kinds, timezone }: ToolContext,
  kind: Kind,
  id: string,
  instants: { readonly asOf: string; readonly now: Date },
) {
  const wish = { what: kind.name, ids: [id], timezone, isRaw: true, ...instants };
  const { source, remark } = await openExport(session, kinds, wish);
  const rows: (string | null)[][] = [];
  for await (const batch of source.batches)
    rows.push(...batch.map((row) => row.map((value) => (value === null ? null : String(value)))));
  return { columns: source.columns.map(({ name }) => name), rows, remark };
}

function historyOf(story: RecordStory | null) {
  if (story === null) return { state: 'unknown', history: [] };
  const events = story.events.slice(-MOST_EVENTS);
  return {
    state: story.state,
    history: events.map(({ seq, change, observedAt, origin, fields }) => ({
      seq: String(seq),
      change,
      observedAt,
      origin,
      fields,
    })),
    historyTruncated: events.length < story.events.length,
  };
}
