import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { findTypeDrift } from '../../diff/field-drift.ts';
import { withoutSuppressed, type IncomingRecord, type SplitPage } from '../../diff/compare-page.ts';
import { MAX_FIELDS, observeFields } from '../../diff/observe-fields.ts';
import { truncate, replaceUnstorable } from '../../lib/text/text.ts';
import { isSameOrder } from '../../lib/json/json.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { hasDrift, saveDrift } from '../../store/kinds/drift-store.ts';
import { refuseExcluded } from '../../store/kinds/exclusions.ts';
import { changeFields, saveFields } from '../../store/kinds/field-store.ts';
import { issueKey, openIssues } from '../../store/records/issue-store.ts';
import { readStoredRows, writeRows, type RecordWithChange } from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { noteWrites, type KindReading } from '../reading.ts';
import { compareRecords, idsOf, type AnswerTicks } from './compare-records.ts';
import type { LandingReading } from './land-together.ts';

/** An answer whose records land. */
export interface AnswerToLand extends SplitPage, AnswerTicks {
  /** The ids of its records, and the length of their texts or of those of their rows. */
  readonly seen: readonly string[];
  readonly text: number;
  /** Fields that at least one of them has. */
  readonly fields: Iterable<string>;
}

export function answerOf(
  { incoming, quarantined }: SplitPage,
  { sent, answered }: AnswerTicks,
): AnswerToLand {
  const text = incoming.reduce((length, { raw }) => length + raw.length, 0);
  const fields = new Set<string>();
  let before: readonly string[] = []; // Most records have the same fields in the same order: these are checked once.
  for (const { record } of incoming) {
    const names = Object.keys(record);
    if (isSameOrder(names, before)) continue;
    for (const name of names) fields.add(name);
    before = names;
  }
  return { incoming, quarantined, sent, answered, seen: idsOf(incoming), text, fields };
}

/** The result of landing records, by id. */
export interface LandedRecords {
  readonly created: string[];
  readonly changed: string[];
  readonly restored: string[];
  /** Not written: the row is newer than the request, or an outbox entry is changing the record. */
  readonly overtaken: string[];
  /** The fields that changed by record; ignored ones are left out. */
  readonly fieldsChanged: Map<string, readonly string[]>;
  /** Keys of the issues about records that cannot become a row. */
  readonly quarantined: readonly string[];
}

/** A turn of the event loop after each slice keeps requests leaving while a page lands. */
const ROWS_PER_SLICE = 200;
const CHARACTERS_PER_SLICE = 150_000;

/** Cuts records into slices of about the same work, which grows with the length of their texts. */
export function* slicesOf(records: readonly IncomingRecord[]): Generator<readonly IncomingRecord[]> {
  let from = 0;
  let text = 0;
  for (const [index, { raw }] of records.entries()) {
    const isFull = index - from >= ROWS_PER_SLICE || text + raw.length > CHARACTERS_PER_SLICE;
    if (isFull && index > from) {
      yield records.slice(from, index);
      from = index;
      text = 0;
    }
    text += raw.length;
  }
  if (from < records.length) yield records.slice(from);
}

/** Text of the answers in a group. */
const MAX_TEXT = 4_000_000;

/**
 * Groups answers whose rows are read at once, before any of them is written: they are short and share no record, so that
 * PostgreSQL is asked once where it would be asked for each page.
 */
export function* groupAnswers<T extends AnswerToLand>(answers: readonly T[]): Generator<readonly T[]> {
  let group: T[] = [];
  let text = 0;
  const ids = new Set<string>();
  for (const answer of answers) {
    if (group.length > 0 && (text + answer.text > MAX_TEXT || answer.seen.some((id) => ids.has(id)))) {
      yield group;
      group = [];
      text = 0;
      ids.clear();
    }
    group.push(answer);
    text += answer.text;
    for (const id of answer.seen) ids.add(id);
  }
  yield group;
}

/** SQLite works on our thread, so it gets its rows in small portions; each statement for PostgreSQL waits for the network. */
const ROWS_WRITTEN = { sqlite: 200, postgres: 800 };

/**
 * Lands the records of a group of answers within a transaction: rows, their change events and new fields; records that cannot
 * become a row are issues.
 * @returns The result of each answer.
 */
export async function landGroup(
  tx: Transaction,
  reading: LandingReading,
  answers: readonly AnswerToLand[],
): Promise<readonly LandedRecords[]> {
  const landed: LandedRecords[] = [];
  const ids = answers.flatMap(({ incoming }) => idsOf(incoming));
  const isShort = answers.reduce((sum, { text }) => sum + text, 0) <= MAX_TEXT; // Else the answer is alone.
  const rowsOfAll = isShort ? await readStoredRows(tx, reading.kind, ids) : null;
  const changes: RecordWithChange[] = [];
  for (const answer of answers) {
    const { incoming, quarantined } = withoutSuppressed(answer, reading.suppressed);
    const result = { ...emptyLanding(), quarantined: await openNewIssues(tx, reading, quarantined) };
    landed.push(result);
    // A record with a new field is unchanged while the field has no value.
    const hasNew = [...answer.fields].some((name) => !reading.effects.fields.has(name));
    for (const records of slicesOf(incoming)) {
      await ownEventLoopTurn(); // A record of 100,000 fields takes long in each of these steps.
      const rows = rowsOfAll ?? (await readStoredRows(tx, reading.kind, idsOf(records)));
      const { compared, overtaken } = await compareRecords(tx, reading, { ...answer, records, rows });
      noteResults(result, compared, reading);
      result.overtaken.push(...overtaken);
      const changed = compared.filter(({ change }) => change.is !== 'unchanged');
      await yieldToEventLoop();
      await saveNewFields(tx, reading, hasNew ? records : changed);
      await yieldToEventLoop();
      changes.push(...changed);
      if (!isShort || changes.length >= ROWS_WRITTEN[tx.dialect])
        await writeChanges(tx, reading, changes.splice(0));
    }
  }
  await writeChanges(tx, reading, changes);
  return landed;
}

async function writeChanges(tx: Transaction, reading: LandingReading, records: readonly RecordWithChange[]) {
  if (records.length === 0) return;
  const { kind, lease, effects } = reading;
  refuseExcluded(kind, reading.excluded);
  const { misfits, rewritten } = await writeRows(tx, {
    ...reading,
    records,
    origin: 'service',
    standing: lease,
  });
  noteWrites(effects, rewritten);
  reading.hasFieldIssues ||= misfits > 0;
}

/** Opens the issues of records that cannot become a row, unless they are open. @returns The keys of all of them. */
async function openNewIssues(
  tx: Transaction,
  { kind, state, effects, now }: LandingReading,
  quarantined: SplitPage['quarantined'],
): Promise<readonly string[]> {
  const issues = quarantined.map(({ id, code, raw }) => ({ recordId: id, field: null, code, detail: raw }));
  const newIssues = issues.filter((issue) => {
    const key = issueKey(issue);
    return !state.quarantined.has(key) && !effects.quarantined.has(key);
  });
  await openIssues(tx, kind.name, newIssues, now);
  for (const issue of newIssues) effects.quarantined.add(issueKey(issue));
  return issues.map(issueKey);
}

export const emptyLanding = (): LandedRecords => ({
  created: [],
  changed: [],
  restored: [],
  overtaken: [],
  fieldsChanged: new Map(),
  quarantined: [],
});

/** Notes what has changed; a row rewritten without an event has not. */
function noteResults(landed: LandedRecords, compared: readonly RecordWithChange[], reading: KindReading) {
  for (const { id, change } of compared) {
    if (change.is === 'unchanged') continue;
    const fields =
      change.is === 'changed' ? change.fields.filter((name) => !reading.ignoredFields.has(name)) : null;
    if (fields !== null) landed.fieldsChanged.set(id, fields);
    if (fields?.length !== 0) landed[change.is].push(id);
  }
}

const EXAMPLES = 3;
const LONGEST_EXAMPLE = 40;

/**
 * Notes fields that appear for the first time, or with another type; the first reading is the baseline. Notes once that a kind has
 * more names than are tracked.
 */
async function saveNewFields(
  tx: Transaction,
  { kind, lease, now, isListed, effects: { fields } }: LandingReading,
  shown: readonly Pick<IncomingRecord, 'record'>[],
): Promise<void> {
  const records = shown.map(({ record }) => record);
  const { fields: seen, untracked } = observeFields(kind, fields, records);
  const drift = { kind: kind.name, code: 'untracked_fields', field: null } as const;
  if (untracked.size > 0 && !(await hasDrift(tx, drift))) {
    const names = [...untracked]
      .slice(0, EXAMPLES)
      .map((name) => replaceUnstorable(truncate(name, LONGEST_EXAMPLE)));
    const detail = `${untracked.size} further names were sent at once, such as ${names.join(', ')}; ${MAX_FIELDS} are tracked, the values of others stay in _raw`;
    await saveDrift(tx, [{ ...drift, detail }], now);
  }
  if (seen.size === 0) return;
  await saveFields(tx, kind, seen, now);
  const drifts = lease.completeSweeps === 0 ? [] : findTypeDrift(fields, seen);
  const noted = drifts.map((drift) => ({ kind: kind.name, ...drift }));
  await saveDrift(tx, noted, now);
  // What a single record shows first is no field of the list, until a list shows it.
  const unlisted = isListed ? [] : [...seen.keys()].filter((name) => !fields.has(name));
  await changeFields(tx, kind.name, unlisted, { vanishedAt: formatInstant(now) });
  for (const [field, shown] of seen) {
    const vanishedAt = unlisted.includes(field) ? formatInstant(now) : null;
    fields.set(field, { ...shown, vanishedAt });
  }
}
