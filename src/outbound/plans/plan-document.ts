import type { Kind } from '../../catalog/kind.ts';
import { compactJson, type Json } from '../../lib/json/json.ts';
import type { Text } from '../../lib/text/speech.ts';
import type { Session } from '../../db/session/session.ts';
import { asMirrored } from '../../store/kinds/field-store.ts';
import { followRows, readPlan, type FollowedRow } from '../../store/outbox/plan-store.ts';
import { staleCells } from './apply-plan.ts';
import { cellsOf } from './judge-row.ts';

/** Says the counts of a plan's rows. */
export const COUNTED: Text =
  '{updates, plural, one {# update} other {# updates}}, {creates, plural, one {# create} other {# creates}}, {refusals, plural, one {# refusal} other {# refusals}}';

/** A plan as people and programs see it. */
export type ShownPlan = Awaited<ReturnType<typeof showPlan>>;

/** Reads a plan with the states of its entries; `stale`: why an open one can no longer be applied. @throws {SyncError} `plan.absent` */
export async function showPlan(session: Session, kinds: readonly Kind[], id: number) {
  const plan = await readPlan(session, id);
  const followed = await followRows(session, id);
  const kind = kinds.find(({ name }) => name === plan.kind);
  const isOpen = plan.state === 'open' && kind !== undefined;
  const stale = isOpen
    ? await session.atomically(async (tx) =>
        staleCells(tx, await asMirrored(tx, kind), followed, plan.createdAt),
      )
    : [];
  const rows = followed.map(shownRow);
  const state = stale.length > 0 ? ('stale' as const) : plan.state;
  return { ...plan, state, stale, counts: countsOf(rows), rows };
}

/** A row of a plan with what has become of it. */
export type ShownRow = ReturnType<typeof shownRow>;

function shownRow({ position, operation, recordId, refusal, ...row }: FollowedRow) {
  const { entryId, state, verdict } = row;
  const entry = entryId === null || state === null ? null : { id: entryId, state, verdict };
  return { position, operation, recordId, refusal, cells: cellsOf(row.cells), entry };
}

/** How many rows there are of each sort, and how many entries in each state. */
function countsOf(rows: readonly ShownRow[]) {
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
