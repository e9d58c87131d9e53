import { SyncError } from '../../src/lib/sync-error.ts';
import { readPlan, readPlanRows } from '../../src/features/plans/store.ts';
import { parseCells } from '../../src/features/plans/work/judge-row.ts';
import { undoPlan } from '../../src/features/plans/work/undo-plan.ts';
import type { Stage } from './stage.ts';

/** A cell that the undo of a plan would write. */
export interface UndoneCell {
  readonly kind: string;
  readonly recordId: string;
  readonly field: string;
  /** Of the plan that is undone. */
  readonly entry: number | null;
}

/** What the undo of each plan would write if somebody applied it. */
export async function undoAll({ session, kinds, plans, timeline }: Stage): Promise<readonly UndoneCell[]> {
  const undone: UndoneCell[] = [];
  for (const plan of plans) {
    const wish = { kinds, id: plan, by: 'world', now: timeline.clock.now() };
    const id = await undoPlan(session, wish).catch((error: unknown) => {
      if (error instanceof SyncError) return null;
      throw error;
    });
    if (id === null) continue;
    const { kind } = await readPlan(session, id);
    const [followed] = await readPlanRows(session, plan);
    for (const row of await readPlanRows(session, id))
      for (const { field } of parseCells(row.cells))
        undone.push({ kind, recordId: row.recordId ?? '', field, entry: followed?.entryId ?? null });
  }
  return undone;
}
