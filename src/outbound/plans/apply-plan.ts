import type { Kind } from '../../catalog/kind.ts';
import { shownValue } from '../../diff/merge-update.ts';
import { canonicalJson, compactJson, parseObject, type JsonObject } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { closePlan, readPlan, saveEntryOfRow, type PlanRow } from '../../store/outbox/plan-store.ts';
import { readPasts } from '../../store/records/change-store.ts';
import { readOwnRows } from '../attempt/land-own-write.ts';
import { findOtherRecord } from '../attempt/other-record.ts';
import type { EntryRequest } from '../intake/entry-request.ts';
import { checkRequests, storeInTransaction } from '../intake/intake.ts';
import { planAltered, readUnalteredPlan, type PlanDecision } from './approve-plan.ts';
import { parseCells, toEntryData } from './judge-row.ts';

/**
 * Puts exactly the rows of a plan into the outbox, all or none; a plan that is applied already stays as it is. Each entry carries
 * the values that the plan shows as old: what another person has changed meanwhile is not overwritten.
 *
 * @throws {SyncError} `plan.absent`, `plan.unapproved`, `plan.stale` where the mirror has moved on in one of its cells,
 * `plan.altered` where its rows differ from the shown ones.
 * @throws {UsageError} `outbox.double` where something has the natural key of a create by now.
 */
export async function applyPlan(
  session: Session,
  decision: PlanDecision & { readonly approvals: number },
): Promise<void> {
  const { kinds, id, by, now, approvals } = decision;
  if ((await readPlan(session, id)).state === 'applied') return;
  const { plan, rows } = await readUnalteredPlan(session, id);
  const kind = kinds.find((kind) => kind.name === plan.kind);
  if (kind === undefined) throw planAltered(id);
  if (approvals > 0 && plan.approvedBy === null) throw unapproved(id);
  const wanted = rows.filter(isWanted);
  await session.makeDurable();
  await session.atomically(async (tx) => {
    if (!(await closePlan(tx, id, by, now))) return;
    const mirrored = await readMirroredKind(tx, kind);
    const stale = await staleCells(tx, mirrored, wanted, plan.createdAt);
    if (stale.length > 0) throw outdated(id, stale);
    const requests = wanted.map((row) => requestOf(id, mirrored, row));
    const stored = await storeInTransaction(tx, await checkRequests(tx, kinds, requests), { now, by });
    for (const [index, { position }] of wanted.entries()) {
      const entryId = stored[index]?.id;
      if (entryId !== undefined) await saveEntryOfRow(tx, id, position, entryId);
    }
  });
}

/** A row whose cells are none is refused as a whole. */
const isWanted = (row: PlanRow): boolean => row.cells !== '[]';

const unapproved = (id: number): SyncError =>
  new SyncError(`Plan ${id} waits for the approval of another user.`, {
    code: 'plan.unapproved',
    hint: `To approve it: bms-sync approve ${id}, or its page.`,
  });

const outdated = (id: number, stale: readonly string[]): SyncError =>
  new SyncError(`Plan ${id} is stale: the mirror has changed.\n  ${stale.join('\n  ')}`, {
    code: 'plan.stale',
    hint: 'Nothing was stored. Export again, and make a new plan.',
  });

function requestOf(planId: number, kind: Kind, row: PlanRow): EntryRequest {
  const { position, operation, recordId } = row;
  const cells = parseCells(row.cells);
  const request = {
    operation,
    kind: kind.name,
    data: toEntryData(kind, cells),
    key: `plan:${planId}:${position}`,
    where: `row ${position}`,
  };
  if (operation === 'create') return request;
  return { ...request, id: recordId, base: Object.fromEntries(cells.map((cell) => [cell.field, cell.old])) };
}

/** The cells of a plan that the mirror shows otherwise by now, each as a sentence. @param since When it was made. */
export async function staleCells(
  tx: Transaction,
  kind: Kind,
  rows: readonly PlanRow[],
  since: string,
): Promise<readonly string[]> {
  const updates = rows.filter((row) => row.operation === 'update' && isWanted(row));
  const ids = updates.map((update) => update.recordId ?? '');
  const records = await readOwnRows(tx, kind.name, ids);
  const pasts = await readPasts(tx, kind.name, ids, since);
  const stale: string[] = [];
  for (const row of updates) {
    const id = row.recordId ?? '';
    const record = records.get(id);
    const raw = record?.isLive === true ? parseObject(record.raw) : null;
    const past = pasts.get(id);
    if (raw === null) stale.push(`Row ${row.position}: record ${id} is gone.`);
    else if (past && (await findOtherRecord(tx, kind, past, { id, remote: raw })) !== null)
      stale.push(`Row ${row.position}: record ${id} is now another one.`);
    else stale.push(...changedCells(kind, row, raw));
  }
  return stale;
}

function changedCells(kind: Kind, row: PlanRow, raw: JsonObject): readonly string[] {
  return parseCells(row.cells).flatMap((plannedCell) => {
    const now = shownValue(kind, raw, plannedCell.field) ?? null;
    if (canonicalJson(now) === canonicalJson(plannedCell.old)) return [];
    const cell = `Row ${row.position}, ${plannedCell.field} of record ${row.recordId ?? ''}`;
    return [`${cell}: ${compactJson(plannedCell.old)} is now ${compactJson(now)}.`];
  });
}
