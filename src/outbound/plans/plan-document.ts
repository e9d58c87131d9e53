import type { Kind } from '../../catalog/kind.ts';
import { compactJson } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Session } from '../../db/session/session.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { countRows, followRows, readPlan, readPlanRows } from '../../mirror/outbox/plan-store.ts';
import type { FollowedRow, RowsWanted, StoredPlan } from '../../mirror/outbox/plan-store.ts';
import { staleCells } from './apply-plan.ts';
import { cellsOf } from './judge-row.ts';
import type { PlannedCell } from './judge-row.ts';

/** A row of a plan with what has become of it. */
export interface ShownRow extends Omit<FollowedRow, 'planId' | 'cells' | 'entryId' | 'state' | 'verdict'> {
  readonly cells: readonly PlannedCell[];
  readonly entry: { readonly id: number; readonly state: string; readonly verdict: string | null } | null;
}

/** A plan as people see it. */
export interface ShownPlan extends Omit<StoredPlan, 'state'> {
  readonly state: StoredPlan['state'] | 'stale';
  /** Why an open plan can no longer be applied. */
  readonly stale: readonly string[];
  /** Of all its rows. */
  readonly counts: Awaited<ReturnType<typeof countRows>>;
  readonly rows: readonly ShownRow[];
}

/** Reads a plan, with all its rows or some, and the states of their entries. @throws {SyncError} `plan.absent` */
export async function showPlan(
  session: Session,
  kinds: readonly Kind[],
  id: number,
  wanted: RowsWanted = {},
): Promise<ShownPlan> {
  const plan = await readPlan(session, id);
  const kind = kinds.find(({ name }) => name === plan.kind);
  const isOpen = plan.state === 'open' && kind !== undefined;
  const stale = isOpen
    ? await session.atomically(async (tx) =>
        staleCells(tx, await asMirrored(tx, kind), await readPlanRows(tx, id)),
      )
    : [];
  const counts = await countRows(session, id);
  const rows = (await followRows(session, id, wanted)).map(shownRow);
  return { ...plan, state: stale.length > 0 ? 'stale' : plan.state, stale, counts, rows };
}

function shownRow({ position, operation, recordId, refusal, ...row }: FollowedRow): ShownRow {
  const { entryId, state, verdict } = row;
  const entry = entryId === null || state === null ? null : { id: entryId, state, verdict };
  return { position, operation, recordId, refusal, cells: cellsOf(row), entry };
}

export const planDocument = ({ rows, counts, ...plan }: ShownPlan): JsonObject => ({
  ...plan,
  counts: { ...counts },
  rows: rows.map(({ cells, entry, ...row }) => ({
    ...row,
    cells: cells.map((cell) => ({ ...cell })),
    entry: entry && { ...entry },
  })),
});

/** The columns of a plan's result. */
export const RESULT_COLUMNS = [
  'row',
  'operation',
  'record',
  'field',
  'old',
  'new',
  'refused',
  'entry',
  'state',
  'verdict',
].map((name) => ({ name, type: 'text' as const }));

/** The result of a plan: a line a cell, and one for each row that is refused. */
export const resultLines = ({ rows }: ShownPlan) =>
  rows.flatMap(({ position, operation, recordId, cells, refusal, entry }) => {
    const from = [position, operation, recordId];
    const become = [entry?.id ?? null, entry?.state ?? null, entry?.verdict ?? null];
    const changed = cells.map((cell) => [
      ...from,
      cell.field,
      shown(cell.old),
      shown(cell.new),
      null,
      ...become,
    ]);
    return refusal === null ? changed : [...changed, [...from, null, null, null, refusal, ...become]];
  });

const shown = (value: Json): string => (typeof value === 'string' ? value : compactJson(value));
