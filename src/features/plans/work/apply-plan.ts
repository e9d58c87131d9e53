import type { Kind } from '../../../catalog/kind.ts';
import { shownValue } from '../../../diff/shown-value.ts';
import { canonicalJson, compactJson, parseObject, type JsonObject } from '../../../lib/json/json.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import { formatInstant } from '../../../lib/time/clock.ts';
import type { Queryable, Session } from '../../../db/session/session.ts';
import { inChunks } from '../../../db/session/sql-text.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import {
  decidePlan,
  isChangedUpdate,
  planRowSlices,
  readPlan,
  saveEntriesOfRows,
  type PlanRow,
  type StoredPlan,
} from '../store.ts';
import { firstSeqSince, readPasts } from '../../../store/records/change-store.ts';
import { readOwnRows } from '../../../outbound/mirror-rows.ts';
import { findOtherRecord } from '../../../outbound/send/other-record.ts';
import type { CheckedEntry, EntryRequest } from '../../../outbound/intake/entry-request.ts';
import { checkRequests, storeInTransaction } from '../../../outbound/intake/intake.ts';
import { alreadyDecided, planAltered, readUnalteredPlan, type PlanDecision } from './approve-plan.ts';
import { parseCells, toEntryData } from './judge-row.ts';
import { judgeThenStore, ROWS_A_SLICE } from './judge-then-store.ts';

/**
 * Puts exactly the rows of a plan into the outbox, all or none; an applied plan stays as it is. Each entry carries the values that
 * the plan shows as old, so that changes by others since then are not overwritten.
 *
 * Rows are checked without the write lock. The transaction that stores them checks again what has changed since.
 *
 * @throws {SyncError} `plan.unapproved`, `plan.stale` where the mirror has moved on in one of its cells, and what `approvePlan` throws.
 * @throws {UsageError} `outbox.double` where something has the natural key of a create by now.
 */
export async function applyPlan(
  session: Session,
  decision: PlanDecision & { readonly approvals: number },
): Promise<void> {
  const { kinds, id, by, now, approvals } = decision;
  const plan = await readPlan(session, id);
  if (plan.state === 'applied') return;
  if (plan.state !== 'open') throw alreadyDecided(plan);
  const kind = kinds.find((kind) => kind.name === plan.kind);
  if (kind === undefined) throw planAltered(id);
  if (approvals > 0 && plan.approvedBy === null) throw unapproved(id);
  const refuseStale = async (db: Queryable, since: string): Promise<void> => {
    const stale = await findStale(db, kind, plan, since);
    if (stale.length > 0) throw outdated(id, stale);
  };
  await judgeThenStore(
    session,
    { kind, now },
    async () => {
      const { rows } = await readUnalteredPlan(session, id);
      await refuseStale(session, plan.createdAt);
      const mirrored = await readMirroredKind(session, kind);
      const checked: CheckedEntry[] = [];
      for (const slice of inChunks(rows, ROWS_A_SLICE)) {
        const requests = slice.map((row) => requestOf(id, mirrored, row));
        checked.push(...(await checkRequests(session, kinds, requests)));
      }
      return checked;
    },
    async (tx, checked, since) => {
      const applied = { state: 'applied', appliedAt: formatInstant(now), appliedBy: by } as const;
      if (!(await decidePlan(tx, id, applied))) {
        const decided = await readPlan(tx, id);
        if (decided.state === 'applied') return;
        throw alreadyDecided(decided);
      }
      await refuseStale(tx, since);
      await storeInTransaction(tx, checked, { now, by });
      await saveEntriesOfRows(tx, id);
    },
  );
}

const unapproved = (id: number): SyncError =>
  new SyncError(`Plan ${id} waits for the approval of another user.`, {
    code: 'plan.unapproved',
    hint: `That user runs: bms-sync approve ${id}`,
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

/** Finds the cells of a plan that the mirror shows otherwise by now, each as a sentence, among the records that changed since an instant. */
export async function findStale(
  db: Queryable,
  declared: Kind,
  plan: StoredPlan,
  since: string,
): Promise<readonly string[]> {
  const stale: string[] = [];
  const kind = await readMirroredKind(db, declared);
  const changed = isChangedUpdate(kind.name, since, await firstSeqSince(db, since));
  for await (const slice of planRowSlices(db, plan.id, changed)) {
    const ids = slice.map((update) => update.recordId ?? '');
    const records = await readOwnRows(db, kind.name, ids);
    const pasts = await readPasts(db, kind.name, ids, plan.createdAt);
    for (const row of slice) {
      const id = row.recordId ?? '';
      const record = records.get(id);
      const raw = record?.isLive === true ? parseObject(record.raw) : null;
      const past = pasts.get(id);
      if (raw === null) stale.push(`Row ${row.position}: record ${id} is gone.`);
      else if (past && (await findOtherRecord(db, kind, past, { id, remote: raw })) !== null)
        stale.push(`Row ${row.position}: record ${id} is now another one.`);
      else stale.push(...changedCells(kind, row, raw));
    }
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
