import { sql } from 'drizzle-orm';
import type { Kind } from '../../../catalog/kind.ts';
import { isSameInAnySpelling } from '../../../diff/merge-update.ts';
import { shownValue } from '../../../diff/shown-value.ts';
import { canonicalJson, compactJson, isArray, parseObject, type Json } from '../../../lib/json/json.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import type { Queryable, Session } from '../../../db/session/session.ts';
import { pickColumns, readInChunks, select, type RowOf } from '../../../db/rows/rows.ts';
import { CHANGES } from '../../../store/tables/change-tables.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import {
  findAppliedFrom,
  insertPlan,
  planRowSlices,
  readPlan,
  type NewPlanRow,
  type PlanRow,
} from '../store.ts';
import { parseSettlement } from '../../../store/outbox/settlement.ts';
import { readOwnRows, type MirrorRow } from '../../../outbound/mirror-rows.ts';
import { findOtherRecord } from '../../../outbound/send/other-record.ts';
import type { PlanDecision } from './decide-plan.ts';
import { alreadyDecided } from './plan-state.ts';
import { parseCells, type PlannedCell } from './judge-row.ts';
import { judgeThenStore } from './judge-then-store.ts';

/**
 * Makes the plan that returns the values that an applied plan changed, except values that were changed since. Returns its number.
 *
 * @param decision `unproven`: also values that another user may have written, because our request got no answer.
 * @throws {SyncError} `plan.absent`, `plan.open` if it is not applied.
 */
export async function undoPlan(
  session: Session,
  decision: PlanDecision & { readonly unproven?: boolean | undefined },
): Promise<number> {
  const { kinds, id, by, now, unproven = false } = decision;
  const plan = await readPlan(session, id);
  const kind = kinds.find((declared) => declared.name === plan.kind);
  if (plan.closedAt !== null) throw alreadyDecided(plan);
  if (plan.state !== 'applied' || kind === undefined)
    throw new SyncError(`Plan ${id} is not applied: there is nothing to undo.`, { code: 'plan.open' });
  const first = undoOrigin(id);
  const earlier = await findAppliedFrom(session, first);
  const origin = earlier === null ? first : `${first}, which plan ${earlier} has undone already`;
  const undoId = await judgeThenStore(
    session,
    { kind, now },
    async () => judgeUndo(session, await readMirroredKind(session, kind), id, unproven),
    (tx, rows, createdAt) => insertPlan(tx, { kind: kind.name, origin, createdBy: by, createdAt }, rows),
  );
  return undoId ?? 0;
}

/** The origin of the plan that undoes another one. */
export const undoOrigin = (id: number): string => `undo of plan ${id}`;

async function judgeUndo(db: Queryable, kind: Kind, id: number, includesUnproven: boolean) {
  const rows: NewPlanRow[] = [];
  for await (const slice of planRowSlices(db, id)) {
    const applied = slice.filter((row) => row.entryId !== null);
    const ids = applied.flatMap((row) => row.recordId ?? []);
    const records = await readOwnRows(db, kind.name, ids);
    const events = await readEvents(db, kind.name, ids);
    for (const row of applied) {
      const { position, recordId } = row;
      const seen = { record: records.get(recordId ?? ''), events: events.get(recordId ?? '') ?? [] };
      const { cells, refusal } = await undoRow(db, kind, row, { ...seen, includesUnproven });
      if (cells.length > 0 || refusal !== null)
        rows.push({ position, operation: 'update', recordId, cells: compactJson(cells), refusal });
    }
  }
  return rows;
}

/** A cell with what it replaced, what the service made of it, and the values since. */
type OwnChange = ReturnType<typeof readOwnChanges>['changes'][number];

interface SeenTarget {
  readonly record: MirrorRow | undefined;
  readonly events: readonly RecordEvent[];
  readonly includesUnproven: boolean;
}

/** The cells of a row to undo, and why other cells stay. */
async function undoRow(db: Queryable, kind: Kind, row: PlanRow, seen: SeenTarget) {
  const { record } = seen;
  const id = row.recordId ?? '';
  const reason = reasonToKeep(row, record);
  if (reason !== null || record === undefined) return { cells: [], refusal: reason };
  const { changes, past } = readOwnChanges(kind, seen.events, row);
  const raw = parseObject(record.raw);
  if (past && (await findOtherRecord(db, kind, past, { id, remote: raw })))
    return { cells: [], refusal: `${id} is now the id of another record` };
  const shown = (field: string): Json => shownValue(kind, raw, field) ?? null;
  const isOurs = ({ field, new: written, replaced, made, later }: OwnChange): boolean => {
    const isSame = (value: Json, other: Json): boolean => isSameInAnySpelling(kind, field, value, other);
    const isAsMade = (value: Json): boolean => isSame(written, value) || isSame(made, value);
    // An old page shows the value before ours, and the next one ours again.
    const isTouched = later.some((value) => !isAsMade(value) && !isSame(replaced, value));
    return !isTouched && isAsMade(shown(field));
  };
  const unprovenFields = seen.includesUnproven ? [] : (parseSettlement(row.settlement).unproven ?? []);
  const isProven = (cell: PlannedCell): boolean => !unprovenFields.includes(cell.field);
  const ownCells = changes.filter(isOurs);
  const isUnseen = ({ field }: PlannedCell): boolean => !changes.some((change) => change.field === field);
  const unproven = ownCells.filter((cell) => !isProven(cell));
  const touched = changes.filter((change) => !ownCells.includes(change));
  const refusals = [
    ...refusalOf('no event shows that this plan changed it:', parseCells(row.cells).filter(isUnseen)),
    ...refusalOf('touched since:', touched),
    ...refusalOf('not proven to be ours (to undo it anyway: --unproven):', unproven),
  ];
  const undone = ownCells
    .filter(isProven)
    .map(({ field, replaced }) => ({ field, old: shown(field), new: replaced }))
    .filter((cell) => canonicalJson(cell.old) !== canonicalJson(cell.new));
  return { cells: undone, refusal: refusals.join('; ') || null };
}

const refusalOf = (why: string, cells: readonly PlannedCell[]): readonly string[] =>
  cells.length === 0 ? [] : [`${why} ${cells.map((cell) => cell.field).join(', ')}`];

function reasonToKeep(row: PlanRow, record?: MirrorRow): string | null {
  const { operation, recordId, entryId, state, verdict } = row;
  if (state === null || (state === 'done' && verdict === null)) return 'its entry is no longer kept';
  if (state !== 'done') return `its entry ${entryId ?? ''} is ${state}`;
  if (operation === 'create') return 'the service deletes no record';
  if (verdict === 'already_so') return 'somebody else had made the same change';
  return record?.isLive === true ? null : `record ${recordId ?? ''} is gone`;
}

const EVENT = pickColumns(CHANGES, 'recordId', 'change', 'fields', 'origin', 'after');
type RecordEvent = RowOf<typeof EVENT>;

/** Reads the events of these records in their order. */
async function readEvents(db: Queryable, kind: string, ids: readonly string[]) {
  const events = await readInChunks(ids, (some) =>
    select(db, EVENT, sql`where kind = ${kind} and record_id in (${some}) order by seq`),
  );
  return Map.groupBy(events, (event) => event.recordId);
}

/** Reads from events what our write changed, which others may have changed before it, and the record as it was after it. */
function readOwnChanges(kind: Kind, events: readonly RecordEvent[], row: PlanRow) {
  const isOwn = (event: RecordEvent): boolean => event.origin === `outbox:${row.entryId}`;
  const ownIndex = events.findLastIndex(isOwn);
  const since = ownIndex < 0 ? [] : events.slice(ownIndex + 1);
  const isReplaced = since.some((event) => event.change === 'deleted' || event.change === 'restored');
  const before = events[ownIndex]?.after;
  const shown = events.map((event) => ({ isOurs: isOwn(event), fields: parseObject(event.fields) }));
  const changes = parseCells(row.cells).flatMap((cell) => {
    const values = shown.flatMap(({ isOurs, fields }) => {
      const pair = shownValue(kind, fields, cell.field);
      return isArray(pair) ? [{ isOurs, old: pair[0] ?? null, made: pair[1] ?? null }] : [];
    });
    const last = values.findLastIndex(({ isOurs }) => isOurs);
    const first = values.slice(0, last + 1).findLastIndex(({ isOurs }) => !isOurs) + 1; // It may have taken several requests.
    const [replaced, made] = [values[first]?.old, values[last]?.made];
    if (replaced === undefined || made === undefined) return [];
    return [{ ...cell, replaced, made, later: values.slice(last + 1).map((value) => value.made) }];
  });
  return { changes, past: before === undefined ? null : { before, isReplaced } };
}
