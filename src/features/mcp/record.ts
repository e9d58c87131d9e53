import { isRecordId } from '../../diff/compare-page.ts';
import type { Kind } from '../../catalog/kind.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { asOfInstant } from '../../lib/time/as-of-instant.ts';
import { findPast } from '../export/export-source.ts';
import { exportColumns, readAsOf } from '../export/read-rows.ts';
import { readKnownPast } from '../../views/as-of.ts';
import { readDeclaredColumns } from '../../views/views.ts';
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
async function readOne(context: ToolContext, kind: Kind, id: string, instant: string | undefined) {
  const { session, timezone } = context;
  const now = context.clock.now();
  const story = await readRecordStory(session, kind, id);
  const { firstSeenAt } = await readKnownPast(session, kind.name, formatInstant(now));
  const at = instant === undefined ? now : asOfInstant(instant, now, timezone).at;
  // If nothing was ever read, an empty answer is right; it is not an error.
  const isUnread = instant === undefined && firstSeenAt === null;
  const { remark, ...table } = isUnread ? NOTHING : await readState(context, kind, id, at);
  return {
    ...table,
    kinds: [kind.name],
    asOf: formatInstant(at),
    more: { ...historyOf(story), ...(remark !== null && { remark }) },
  };
}

const NOTHING = { columns: [], rows: [], remark: null };

/** Reads the row that the view had at this instant. */
async function readState({ session, kinds }: ToolContext, kind: Kind, id: string, at: Date) {
  const view = `bi_${kind.name}`;
  const past = await findPast(session, kinds, view, at);
  if (past === null) throw new Error(`${view} has no past.`);
  const columns = exportColumns(await readDeclaredColumns(session, view));
  const rows: (string | null)[][] = [];
  for await (const batch of readAsOf(session, { ...past, ids: [id] }, columns))
    rows.push(...batch.map((row) => row.map((value) => (value === null ? null : String(value)))));
  return { columns: columns.map((column) => column.name), rows, remark: past.partial };
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
