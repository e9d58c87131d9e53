import type { Kind } from '../../catalog/kind.ts';
import { compactJson } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import type { Session } from '../../db/session/session.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { followRows, readPlan } from '../../mirror/outbox/plan-store.ts';
import type { FollowedRow, StoredPlan } from '../../mirror/outbox/plan-store.ts';
import { staleCells } from './apply-plan.ts';
import { cellsOf } from './judge-row.ts';
import type { PlannedCell } from './judge-row.ts';

/** A row of a plan with what has become of it. */
export type ShownRow = Omit<FollowedRow, 'planId' | 'cells' | 'entryId' | 'state' | 'verdict'> & {
  readonly cells: readonly PlannedCell[];
  readonly entry: { readonly id: number; readonly state: string; readonly verdict: string | null } | null;
};

/** A plan as people and programs see it. */
export type ShownPlan = Omit<StoredPlan, 'state'> & {
  readonly state: StoredPlan['state'] | 'stale';
  /** Why an open plan can no longer be applied. */
  readonly stale: readonly string[];
  readonly counts: PlanCounts;
  readonly rows: readonly ShownRow[];
};

type PlanCounts = Readonly<Record<'updates' | 'creates' | 'refusals', number>> & {
  /** By their states. */
  readonly entries: Readonly<Record<string, number>>;
};

/** Reads a plan with the states of its entries. @throws {SyncError} `plan.absent` */
export async function showPlan(session: Session, kinds: readonly Kind[], id: number): Promise<ShownPlan> {
  const plan = await readPlan(session, id);
  const followed = await followRows(session, id);
  const kind = kinds.find(({ name }) => name === plan.kind);
  const isOpen = plan.state === 'open' && kind !== undefined;
  const stale = isOpen
    ? await session.atomically(async (tx) => staleCells(tx, await asMirrored(tx, kind), followed))
    : [];
  const rows = followed.map(({ position, operation, recordId, refusal, ...row }) => {
    const { entryId, state, verdict } = row;
    const entry = entryId === null || state === null ? null : { id: entryId, state, verdict };
    return { position, operation, recordId, refusal, cells: cellsOf(row.cells), entry };
  });
  return { ...plan, state: stale.length > 0 ? 'stale' : plan.state, stale, counts: countsOf(rows), rows };
}

function countsOf(rows: readonly ShownRow[]): PlanCounts {
  const changing = rows.filter(({ cells }) => cells.length > 0);
  const creates = changing.filter(({ operation }) => operation === 'create').length;
  const entries: Record<string, number> = {};
  for (const { entry } of rows) if (entry !== null) entries[entry.state] = (entries[entry.state] ?? 0) + 1;
  const refusals = rows.filter(({ refusal }) => refusal !== null).length;
  return { updates: changing.length - creates, creates, refusals, entries };
}

/** The columns of a plan's result. */
export const RESULT_COLUMNS = 'row operation record field old new refused entry state verdict'
  .split(' ')
  .map((name) => ({ name, type: 'text' as const }));

/** The result of a plan: a line a cell, and one for each row that is refused. */
export const resultLines = ({ rows }: ShownPlan) =>
  rows.flatMap(({ position, operation, recordId, cells, refusal, entry }) => {
    const line = (field: string | null, values: readonly (string | null)[]) => {
      const become = [entry?.id ?? null, entry?.state ?? null, entry?.verdict ?? null];
      return [position, operation, recordId, field, ...values, ...become];
    };
    const changed = cells.map((cell) => line(cell.field, [shown(cell.old), shown(cell.new), null]));
    return refusal === null ? changed : [...changed, line(null, [null, null, refusal])];
  });

const shown = (value: Json): string => (typeof value === 'string' ? value : compactJson(value));
