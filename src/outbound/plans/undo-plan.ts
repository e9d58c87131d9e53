import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { holdsWritten, shownValue } from '../../diff/written.ts';
import { canonicalJson, compactJson, isArray, parseObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { bigint, optionalText, text } from '../../db/rows/engine-column.ts';
import { readRows as readAll } from '../../db/rows/rows.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { followRows, insertPlan, readPlan } from '../../mirror/outbox/plan-store.ts';
import type { FollowedRow, NewPlanRow } from '../../mirror/outbox/plan-store.ts';
import { readRows } from '../attempt/land-own.ts';
import type { MirrorRow } from '../attempt/land-own.ts';
import type { PlanDecision } from './approve-plan.ts';
import { cellsOf } from './judge-row.ts';
import type { PlannedCell } from './judge-row.ts';

/**
 * Makes the plan that returns what an applied plan has changed and nobody has touched since. Returns its number; it says, too,
 * what stays and why.
 *
 * @throws {SyncError} `plan.absent`, `plan.open` where it is not applied.
 */
export async function undoPlan(session: Session, { kinds, id, by, now }: PlanDecision): Promise<number> {
  return session.atomically(async (tx) => {
    const { kind: name, state } = await readPlan(tx, id);
    const declared = kinds.find((one) => one.name === name);
    if (state !== 'applied' || declared === undefined)
      throw new SyncError(`Plan ${id} is not applied: there is nothing to undo.`, { code: 'plan.open' });
    const kind = await asMirrored(tx, declared);
    const rows: NewPlanRow[] = [];
    for (const row of await followRows(tx, id)) {
      if (row.entryId === null) continue;
      const { cells, refusal } = await returning(tx, kind, row);
      const { position, recordId } = row;
      if (cells.length > 0 || refusal !== null)
        rows.push({ position, operation: 'update', recordId, cells: compactJson(cells), refusal });
    }
    return insertPlan(tx, { kind: name, origin: `undo of plan ${id}`, createdBy: by, now }, rows);
  });
}

/** What returns the cells of a row that nobody has touched, and why others stay. */
async function returning(tx: Transaction, kind: Kind, row: FollowedRow) {
  const id = row.recordId ?? '';
  const record = (await readRows(tx, kind.name, id === '' ? [] : [id])).get(id);
  const stays = whyStays(row, record);
  if (stays !== null || record === undefined) return { cells: [], refusal: stays };
  const raw = parseObject(record.raw);
  const shown = (field: string): Json => shownValue(kind, raw, field) ?? null;
  const { made, later } = await eventsOf(tx, { kind: kind.name, id, entry: row.entryId });
  const isOurs = ({ field, new: written }: PlannedCell): boolean => {
    const pair = made[field];
    const isAsMade = isArray(pair) && isEqual(pair[1] ?? null, shown(field));
    return !later.has(field) && (isAsMade || holdsWritten(kind, field, written, shown(field)));
  };
  const [ours = [], touched = []] = [true, false].map((is) =>
    cellsOf(row.cells).filter((cell) => isOurs(cell) === is),
  );
  const cells = ours
    .map(({ field, old }) => ({ field, old: shown(field), new: old }))
    .filter((cell) => !isEqual(cell.old, cell.new));
  const names = touched.map(({ field }) => field).join(', ');
  return { cells, refusal: names === '' ? null : `touched since: ${names}` };
}

const isEqual = (one: Json, other: Json): boolean => canonicalJson(one) === canonicalJson(other);

function whyStays(
  { operation, recordId, entryId, state, verdict }: FollowedRow,
  record?: MirrorRow,
): string | null {
  if (state === null || (state === 'done' && verdict === null)) return 'its entry is no longer kept';
  if (state !== 'done') return `its entry ${entryId ?? ''} is ${state}`;
  if (operation === 'create') return 'the service deletes no record';
  if (verdict === 'already_so') return 'somebody else had made the same change';
  return record?.isLive === true ? null : `record ${recordId ?? ''} is gone`;
}

/** What the service showed after our write, and the fields that have changed since. */
async function eventsOf(
  db: Queryable,
  { kind, id, entry }: { readonly kind: string; readonly id: string; readonly entry: number | null },
) {
  const statement = sql`
    select seq, fields, origin from changes where kind = ${kind} and record_id = ${id} order by seq`;
  const events = await readAll(db, [bigint('seq'), optionalText('fields'), text('origin')], statement);
  const own = events.findLastIndex(({ origin }) => origin === `outbox:${entry}`);
  const fieldsOf = (fields: string | null) => parseObject(fields ?? '{}');
  const later = own < 0 ? [] : events.slice(own + 1).flatMap(({ fields }) => Object.keys(fieldsOf(fields)));
  return { made: fieldsOf(events[own]?.fields ?? null), later: new Set(later) };
}
