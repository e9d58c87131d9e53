import type { Kind } from '../../../catalog/kind.ts';
import { shownValue } from '../../../diff/shown-value.ts';
import { canonicalJson, compactJson, parseObject, type JsonObject } from '../../../lib/json/json.ts';
import { SyncError } from '../../../lib/sync-error.ts';
import { withFullStop } from '../../../lib/text/text.ts';
import type { MessageKey } from '../../../lib/text/translator.ts';
import type { Queryable } from '../../../db/session/session.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import { firstSeqSince, readPasts } from '../../../store/records/change-store.ts';
import { readOwnRows } from '../../../outbound/mirror-rows.ts';
import { findOtherRecord } from '../../../outbound/send/other-record.ts';
import {
  isChangedUpdate,
  planChecksum,
  planRowSlices,
  readPlanRows,
  type PlanRow,
  type StoredPlan,
} from '../store.ts';
import { parseCells } from './judge-row.ts';

/** The state of a plan, and why an open one can no longer be applied: it is stale then. */
export async function findState(db: Queryable, kinds: readonly Kind[], plan: StoredPlan) {
  const kind = kinds.find((kind) => kind.name === plan.kind);
  const stale = plan.state === 'open' && kind ? await findStale(db, kind, plan, plan.createdAt) : [];
  return { state: stale.length > 0 ? ('stale' as const) : plan.state, stale };
}

/** The error of a plan that somebody else has decided: `plan.approved`, `plan.applied`, `plan.rejected`, `plan.withdrawn`. */
export function alreadyDecided(plan: StoredPlan): SyncError {
  const { id, state, approvedAt, approvedBy, appliedAt, appliedBy, closedAt, closedBy, reason } = plan;
  const decision = state === 'open' ? 'approved' : state;
  const who = closedBy ?? appliedBy ?? approvedBy;
  const when = (closedAt ?? appliedAt ?? approvedAt)?.slice(0, 'YYYY-MM-DD HH:MM'.length);
  const why = reason === null ? '' : `: ${reason}`;
  return new SyncError(withFullStop(`Plan ${id} was ${decision} by ${who} at ${when} UTC${why}`), {
    code: `plan.${decision}`,
    hint: `To show it: bms-sync plan ${id}`,
  });
}

/** The kind of an open plan. @throws {SyncError} the error of an earlier decision, `plan.altered` for a kind that is no longer read. */
export function kindOfOpen(kinds: readonly Kind[], plan: StoredPlan): Kind {
  if (plan.state !== 'open') throw alreadyDecided(plan);
  const kind = kinds.find((kind) => kind.name === plan.kind);
  if (kind === undefined) throw planAltered(plan);
  return kind;
}

/**
 * Reads the rows of an open plan that change something, if it can be approved and applied: one without cells is refused as a whole.
 *
 * @throws {SyncError} `plan.altered` where its rows differ from the shown ones, `plan.empty` where it changes nothing, `plan.stale`.
 */
export async function readOpenRows(db: Queryable, kind: Kind, plan: StoredPlan): Promise<readonly PlanRow[]> {
  const { id } = plan;
  const rows = await readPlanRows(db, id);
  if (planChecksum(plan.kind, rows) !== plan.checksum) throw planAltered(plan);
  await refuseStale(db, kind, plan, plan.createdAt);
  const changing = rows.filter((row) => row.cells !== '[]');
  if (changing.length > 0) return changing;
  throw new SyncError(`Plan ${id} changes nothing: all its rows are refused.`, {
    code: 'plan.empty',
    hint: `To see why: bms-sync plan ${id}`,
  });
}

/** How to make a plan again that can no longer be applied: by what has made it. */
export const remakeWords = ({ origin }: Pick<StoredPlan, 'origin'>): MessageKey =>
  /^undo of plan \d/.test(origin) ? 'Undo the former plan again.' : 'Export again, and make a new plan.';

const planAltered = (plan: StoredPlan): SyncError =>
  new SyncError(`Plan ${plan.id} differs from the one that was shown: its checksum has changed.`, {
    code: 'plan.altered',
    hint: remakeWords(plan),
  });

/** @throws {SyncError} `plan.stale` where the mirror has moved on in a cell since an instant. */
export async function refuseStale(db: Queryable, kind: Kind, plan: StoredPlan, since: string): Promise<void> {
  const stale = await findStale(db, kind, plan, since);
  if (stale.length === 0) return;
  throw new SyncError(`Plan ${plan.id} is stale: the mirror has changed.\n  ${stale.join('\n  ')}`, {
    code: 'plan.stale',
    hint: `Nothing was stored. ${remakeWords(plan)}`,
  });
}

/** Finds the cells of a plan that the mirror shows otherwise by now, each as a sentence, among the records that changed since an instant. */
async function findStale(
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
    const [id, old] = [row.recordId ?? '', compactJson(plannedCell.old)];
    return [`Row ${row.position}, ${plannedCell.field} of record ${id}: ${old} is now ${compactJson(now)}.`];
  });
}
