import type { Kind } from '../../../catalog/kind.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import { formatInstant } from '../../../lib/time/clock.ts';
import type { Session } from '../../../db/session/session.ts';
import { inChunks } from '../../../db/session/sql-text.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import { decidePlan, entryKeyOf, readPlan, type PlanRow } from '../store.ts';
import type { CheckedEntry, EntryRequest } from '../../../outbound/intake/entry-request.ts';
import { checkRequests, storeInTransaction } from '../../../outbound/intake/intake.ts';
import type { PlanDecision } from './decide-plan.ts';
import { parseCells, toEntryData } from './judge-row.ts';
import { judgeThenStore, ROWS_A_SLICE } from './judge-then-store.ts';
import { alreadyDecided, kindOfOpen, readOpenRows, refuseStale } from './plan-state.ts';

/**
 * Puts exactly the rows of a plan into the outbox, all or none; an applied plan stays as it is. Each entry carries the values that
 * the plan shows as old, so that changes by others since then are not overwritten.
 *
 * Rows are checked without the write lock. The transaction that stores them checks again what has changed since.
 *
 * @throws {SyncError} `plan.unapproved`, and what `approvePlan` throws except `plan.own`; `outbox.key_taken` where somebody has stored a row's key by SQL.
 * @throws {UsageError} `outbox.double` where something has the natural key of a create by now.
 */
export async function applyPlan(
  session: Session,
  decision: PlanDecision & { readonly approvals: number },
): Promise<void> {
  const { kinds, id, by, now, approvals } = decision;
  const plan = await readPlan(session, id);
  if (plan.state === 'applied') return;
  const kind = kindOfOpen(kinds, plan);
  await judgeThenStore(
    session,
    { kind, now },
    async () => {
      const rows = await readOpenRows(session, kind, plan);
      if (approvals > 0 && plan.approvedBy === null) throw unapproved(id);
      const mirrored = await readMirroredKind(session, kind);
      const checked: CheckedEntry[] = [];
      for (const slice of inChunks(rows, ROWS_A_SLICE)) {
        const requests = slice.map((row) => requestOf(mirrored, row));
        checked.push(...(await checkRequests(session, kinds, requests)));
      }
      return checked.map((entry, n) => ({ ...entry, key: entryKeyOf(id, rows[n]?.position ?? 0) })); // No request may name it.
    },
    async (tx, checked, since) => {
      const applied = { state: 'applied', appliedAt: formatInstant(now), appliedBy: by } as const;
      if (!(await decidePlan(tx, id, applied))) {
        const decided = await readPlan(tx, id);
        if (decided.state === 'applied') return;
        throw alreadyDecided(decided);
      }
      await refuseStale(tx, kind, plan, since);
      await storeInTransaction(tx, checked, { now, by });
    },
  );
}

const unapproved = (id: number): SyncError =>
  new SyncError(`Plan ${id} waits for the approval of another user.`, {
    code: 'plan.unapproved',
    hint: `That user approves it: bms-sync approve ${id}`,
  });

function requestOf(kind: Kind, row: PlanRow): EntryRequest {
  const { position, operation, recordId } = row;
  const cells = parseCells(row.cells);
  const request = {
    operation,
    kind: kind.name,
    data: toEntryData(kind, cells),
    where: `row ${position}`,
  };
  if (operation === 'create') return request;
  return { ...request, id: recordId, base: Object.fromEntries(cells.map((cell) => [cell.field, cell.old])) };
}
