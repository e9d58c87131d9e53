import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { findTypeDrift } from '../../diff/field-drift.ts';
import { withoutSuppressed, type IncomingRecord, type SplitPage } from '../../diff/compare-page.ts';
import { MAX_FIELDS, observeFields } from '../../diff/observe-fields.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { truncate, replaceUnstorable } from '../../lib/text/text.ts';
import { hasDrift, saveDrift } from '../../store/kinds/drift-store.ts';
import { saveFields } from '../../store/kinds/field-store.ts';
import { issueKey, openIssues } from '../../store/records/issue-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { confirmRows, saveDirtyRows } from '../../store/sightings/page-store.ts';
import { noteWrites, type Sweep } from '../run/sweep.ts';
import {
  compareRecords,
  isCompared,
  needsWrite,
  type ComparedRecord,
  type AnswerTicks,
} from './compare-records.ts';
import type { LandingSweep } from './row-buffer.ts';

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

/**
 * Lands the records of one response within a transaction: rows, their change events and new fields; records that
 * cannot become a row are issues.
 */
export async function landRecords(
  tx: Transaction,
  sweep: LandingSweep,
  page: SplitPage,
  answer: AnswerTicks,
): Promise<LandedRecords> {
  const { sent, answered } = answer;
  const { incoming, quarantined } = withoutSuppressed(page, sweep.suppressed);
  const issues = quarantined.map(({ id, code, raw }) => ({ recordId: id, field: null, code, detail: raw }));
  const { state, effects } = sweep;
  const newIssues = issues.filter((issue) => {
    const key = issueKey(issue);
    return !state.quarantined.has(key) && !effects.quarantined.has(key);
  });
  await openIssues(tx, sweep.kind.name, newIssues, sweep.now);
  for (const issue of newIssues) effects.quarantined.add(issueKey(issue));
  const landed = { ...emptyLanding(), quarantined: issues.map(issueKey) };
  for (const records of slicesOf(incoming)) {
    const compared = await compareRecords(tx, sweep, records, sent);
    for (const record of compared) {
      const list = resultListOf(record, sweep);
      if (list !== null) landed[list].push(record.id);
    }
    const current = compared.filter(isCompared);
    for (const { id, change } of current)
      if (change.is === 'changed') landed.fieldsChanged.set(id, countedFields(change.fields, sweep));
    const changedRecords = current.filter(needsWrite);
    await yieldToEventLoop();
    if (changedRecords.length > 0) {
      await sweep.rows.put({ records: changedRecords, response: answered });
      await yieldToEventLoop();
      const written = changedRecords.map((changed) => changed.record);
      await saveNewFields(tx, sweep, written);
    }
    if (!sweep.isListed) {
      // Retrieved and unchanged records become as new as their answer, so that an older page cannot undo them.
      const ids = current.filter((record) => !needsWrite(record)).map((record) => record.id);
      const confirmed = new Map(ids.map((id) => [id, answered]));
      await confirmRows(tx, sweep.kind.name, ids, answered);
      await saveDirtyRows(tx, sweep.kind.name, confirmed);
      noteWrites(effects, confirmed);
      for (const id of ids) sweep.rows.forget(id);
    }
    await yieldToEventLoop();
  }
  return landed;
}

export const emptyLanding = (): LandedRecords => ({
  created: [],
  changed: [],
  restored: [],
  overtaken: [],
  fieldsChanged: new Map(),
  quarantined: [],
});

/** The count that a record adds to; a row rewritten without an event has not changed. */
function resultListOf(
  compared: ComparedRecord,
  sweep: Sweep,
): Exclude<keyof LandedRecords, 'quarantined' | 'fieldsChanged'> | null {
  if (!isCompared(compared)) return 'overtaken';
  const { change } = compared;
  if (change.is === 'unchanged') return null;
  if (change.is !== 'changed') return change.is;
  return countedFields(change.fields, sweep).length > 0 ? 'changed' : null;
}

const countedFields = (fields: readonly string[], sweep: Sweep): readonly string[] =>
  fields.filter((name) => !sweep.ignoredFields.has(name));

const EXAMPLES = 3;
const LONGEST_EXAMPLE = 40;

/**
 * Notes fields that appear for the first time, or with another type; the first reading is the baseline. Notes once that a kind has
 * more names than are tracked.
 */
async function saveNewFields(
  tx: Transaction,
  { kind, lease, now, effects: { fields } }: LandingSweep,
  records: readonly JsonObject[],
): Promise<void> {
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
  for (const [field, shown] of seen) fields.set(field, shown);
}
