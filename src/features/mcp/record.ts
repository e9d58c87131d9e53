import { isRecordId } from '../../diff/compare-page.ts';
import type { Kind } from '../../catalog/kind.ts';
import type { SqlValue } from '../../db/session/session.ts';
import { canonicalNumber } from '../../lib/json/decimal.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { asOfInstant } from '../../lib/time/as-of-instant.ts';
import { openExport } from '../export/export-source.ts';
import type { ExportType } from '../export/read-rows.ts';
import { findRecords } from '../../store/records/find-records.ts';
import { recordName } from '../../store/records/record-name.ts';
import { readRecordStory, type RecordStory } from '../../store/records/record-story.ts';
import type { Findings } from './answer.ts';
import type { ToolContext } from './context.ts';

const MOST = 50; // Records or events of an answer.

/** Finds a record with its history, or the records that a text finds. @throws {UsageError} `usage.as_of` for an unknown past. */
export async function readRecord(
  context: ToolContext,
  kind: Kind,
  { id = '', text, at }: { readonly [name in 'id' | 'text' | 'at']?: string | undefined },
): Promise<Findings> {
  if (text === undefined && isRecordId(id)) return readOne(context, kind, id, at);
  const matches = await findRecords(context.session, kind, { text: text ?? id, limit: MOST + 1 });
  const hits = matches.slice(0, MOST);
  return {
    columns: ['id', 'state', 'name'],
    rows: hits.map((hit) => [hit.id, hit.deletedAt === null ? 'live' : 'deleted', recordName(hit.raw)]),
    isTruncated: matches.length > MOST,
    kinds: [kind.name],
  };
}

/** Reads a record as its view shows it, at an instant or now, with its history. */
async function readOne(
  { session, kinds, clock, timezone }: ToolContext,
  kind: Kind,
  id: string,
  asOf?: string,
) {
  const now = clock.now();
  const story = await readRecordStory(session, kind, id);
  const request = { what: kind.name, asOf, ids: [id], now, timezone, isRaw: true };
  const { source, remark } = await openExport(session, kinds, request);
  const { columns } = source;
  const batches = await Array.fromAsync(source.batches);
  return {
    columns: columns.map((column) => column.name),
    rows: batches.flat().map((row) => row.map((value, at) => shownText(value, columns[at]?.type))),
    kinds: [kind.name],
    asOf: formatInstant(asOf === undefined ? now : asOfInstant(asOf, now, timezone).at),
    more: { ...historyOf(story), ...(remark !== null && { remark }) },
  };
}

/** A decimal in its shortest form, as a snapshot has it. */
function shownText(value: SqlValue, type: ExportType | undefined): string | null {
  if (value === null) return null;
  const text = String(value);
  return type === 'decimal' ? (canonicalNumber(text) ?? text) : text;
}

function historyOf(story: RecordStory | null) {
  if (story === null) return { state: 'unknown', history: [] };
  const events = story.events.slice(-MOST);
  return {
    state: story.state,
    history: events.map(({ seq, change, observedAt, origin, fields }) => {
      return { seq: String(seq), change, observedAt, origin, fields };
    }),
    historyTruncated: events.length < story.events.length,
  };
}
