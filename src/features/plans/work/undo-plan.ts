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
  const { made, later, past } = splitEvents(seen.events, row.entryId);
  const raw = parseObject(record.raw);
  if (past && (await findOtherRecord(db, kind, past, { id, remote: raw })))
    return { cells: [], refusal: `${id} is now the id of another record` };
  const shown = (field: string): Json => shownValue(kind, raw, field) ?? null;
  const isOurs = (cell: PlannedCell): boolean => {
    const { field, old, new: written } = cell;
    const isSame = (value: Json, other: Json): boolean => isSameInAnySpelling(kind, field, value, other);
    const isAsMade = (value: Json): boolean =>
      isSame(written, value) ||
      made.some(([name, pair]) => name === field && isSame(newValueOf(pair), value));
    // An old page shows the value before ours, and the next one ours again.
    const isTouched = later.some(
      ([name, pair]) => name === field && !isAsMade(newValueOf(pair)) && !isSame(old, newValueOf(pair)),
    );
    return !isTouched && isAsMade(shown(field));
  };
  const unprovenFields = seen.includesUnproven ? [] : (parseSettlement(row.settlement).unproven ?? []);
  const isProven = (cell: PlannedCell): boolean => !unprovenFields.includes(cell.field);
  const cells = parseCells(row.cells);
  const ownCells = cells.filter(isOurs);
  const refusals = [
    ...refusalOf(
      'touched since:',
      cells.filter((cell) => !ownCells.includes(cell)),
    ),
    ...refusalOf(
      'not proven to be ours (to undo it anyway: --unproven):',
      ownCells.filter((cell) => !isProven(cell)),
    ),
  ];
  const undone = ownCells
    .filter(isProven)
    .map((cell) => ({ field: cell.field, old: shown(cell.field), new: cell.old }))
    .filter((cell) => !isSameJson(cell.old, cell.new));
  return { cells: undone, refusal: refusals.join('; ') || null };
}

const refusalOf = (why: string, cells: readonly PlannedCell[]): readonly string[] =>
  cells.length === 0 ? [] : [`${why} ${cells.map((cell) => cell.field).join(', ')}`];

/** The second of `[old, new]`. */
const newValueOf = (pair: Json): Json => (isArray(pair) ? pair[1] : null) ?? null;

const isSameJson = (value: Json, other: Json): boolean => canonicalJson(value) === canonicalJson(other);

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

/** Returns the fields that our write changed, the changes since, and the record as it was after our write. */
function splitEvents(events: readonly RecordEvent[], entry: number | null) {
  const ownIndex = events.findLastIndex((event) => event.origin === `outbox:${entry}`);
  const since = ownIndex < 0 ? [] : events.slice(ownIndex + 1);
  const isReplaced = since.some((event) => event.change === 'deleted' || event.change === 'restored');
  const before = events[ownIndex]?.after;
  return {
    made: Object.entries(parseObject(events[ownIndex]?.fields ?? '{}')),
    later: since.flatMap((event) => Object.entries(parseObject(event.fields))),
    past: before === undefined ? null : { before, isReplaced },
  };
}
