import type { Kind } from '../../catalog/kind.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { findEnded } from '../../mirror/outbox/ended-entries.ts';
import { findEntry } from '../../mirror/outbox/outbox-store.ts';
import { readPlan, readPlanRows } from '../../mirror/outbox/plan-store.ts';
import type { PlanRow, StoredPlan } from '../../mirror/outbox/plan-store.ts';
import { staleCells } from './apply-plan.ts';
import { cellsOf } from './judge-row.ts';
import type { PlannedCell } from './judge-row.ts';

/** A row of a plan with what has become of it. */
interface ShownRow extends Omit<PlanRow, 'cells' | 'entryId'> {
  readonly cells: readonly PlannedCell[];
  readonly entry: { readonly id: number; readonly state: string; readonly verdict: string | null } | null;
}

/** A plan as people see it. */
export interface ShownPlan extends Omit<StoredPlan, 'state'> {
  readonly state: StoredPlan['state'] | 'stale';
  /** Why an open plan can no longer be applied. */
  readonly stale: readonly string[];
  readonly rows: readonly ShownRow[];
}

/** Reads a plan with the states of its entries. @throws {SyncError} `plan.absent` */
export async function showPlan(session: Session, kinds: readonly Kind[], id: number): Promise<ShownPlan> {
  const plan = await readPlan(session, id);
  const stored = await readPlanRows(session, id);
  const kind = kinds.find(({ name }) => name === plan.kind);
  const isOpen = plan.state === 'open' && kind !== undefined;
  const stale = isOpen
    ? await session.atomically(async (tx) => staleCells(tx, await asMirrored(tx, kind), stored))
    : [];
  const rows: ShownRow[] = [];
  for (const { entryId, cells, ...row } of stored)
    rows.push({
      ...row,
      cells: cellsOf({ cells }),
      entry: entryId === null ? null : await entryOf(session, entryId),
    });
  return { ...plan, state: stale.length > 0 ? 'stale' : plan.state, stale, rows };
}

async function entryOf(db: Queryable, id: number): Promise<ShownRow['entry']> {
  const entry = await findEntry(db, id);
  if (entry !== null) return { id, state: entry.state, verdict: entry.verdict };
  const ended = await findEnded(db, id);
  return ended && { id, state: ended.state, verdict: null };
}

export const planDocument = ({ rows, ...plan }: ShownPlan): JsonObject => ({
  ...plan,
  rows: rows.map(({ cells, entry, ...row }) => ({
    ...row,
    cells: cells.map((cell) => ({ ...cell })),
    entry: entry && { ...entry },
  })),
});
