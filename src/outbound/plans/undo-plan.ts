import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { holdsWritten, shownValue } from '../../diff/written.ts';
import { canonicalJson, isArray, parseObject } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { bigint, optionalText, text } from '../../db/rows/engine-column.ts';
import { readRows as readAll } from '../../db/rows/rows.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { findEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { insertPlan, readPlan, readPlanRows } from '../../mirror/outbox/plan-store.ts';
import type { NewPlanRow, PlanRow } from '../../mirror/outbox/plan-store.ts';
import { readRows } from '../attempt/land-own.ts';
import type { MirrorRow } from '../attempt/land-own.ts';
import { cellsOf, cellsText } from './judge-row.ts';
import type { PlannedCell } from './judge-row.ts';

interface Undoing {
  readonly kinds: readonly Kind[];
  readonly id: number;
  readonly by: string;
  readonly now: Date;
}

/**
 * Makes the plan that returns what an applied plan has changed and nobody has touched since. Returns its number; it says, too,
 * what stays and why.
 *
 * @throws {SyncError} `plan.absent`, `plan.open` where it is not applied.
 */
export async function undoPlan(session: Session, { kinds, id, by, now }: Undoing): Promise<number> {
  return session.atomically(async (tx) => {
    const { kind: name, state } = await readPlan(tx, id);
    const declared = kinds.find((one) => one.name === name);
    if (state !== 'applied' || declared === undefined)
      throw new SyncError(`Plan ${id} is not applied: there is nothing to undo.`, { code: 'plan.open' });
    const kind = await asMirrored(tx, declared);
    const applied = (await readPlanRows(tx, id)).filter(({ entryId }) => entryId !== null);
    const rows: NewPlanRow[] = [];
    for (const row of applied) {
      const { cells, refusal } = await returning(tx, kind, row);
      const { position, recordId } = row;
      if (cells.length > 0 || refusal !== null)
        rows.push({ position, operation: 'update', recordId, cells: cellsText(cells), refusal });
    }
    return insertPlan(tx, { kind: name, origin: `undo of plan ${id}`, createdBy: by, now }, rows);
  });
}

/** What returns the cells of a row that nobody has touched, and why others stay. */
async function returning(tx: Transaction, kind: Kind, row: PlanRow) {
  const entry = await findEntry(tx, row.entryId ?? 0);
  const id = row.recordId ?? '';
  const record = (await readRows(tx, kind.name, id === '' ? [] : [id])).get(id);
  const stays = whyStays(entry, record);
  if (stays !== null || entry === null || record === undefined) return { cells: [], refusal: stays };
  const raw = parseObject(record.raw);
  const { made, later } = await eventsOf(tx, { kind: kind.name, id, entry: entry.id });
  const isOurs = ({ field, new: written }: PlannedCell): boolean => {
    const now = shownValue(kind, raw, field) ?? null;
    const pair = made[field];
    const isAsMade = isArray(pair) && canonicalJson(pair[1] ?? null) === canonicalJson(now);
    return !later.has(field) && (isAsMade || holdsWritten(kind, field, written, now));
  };
  const cells = cellsOf(row);
  const touched = cells.filter((cell) => !isOurs(cell)).map(({ field }) => field);
  const back = cells
    .filter(isOurs)
    .map(({ field, old }) => ({ field, old: shownValue(kind, raw, field) ?? null, new: old }))
    .filter((cell) => canonicalJson(cell.old) !== canonicalJson(cell.new));
  return { cells: back, refusal: touched.length > 0 ? `touched since: ${touched.join(', ')}` : null };
}

function whyStays(entry: Entry | null, record: MirrorRow | undefined): string | null {
  if (entry === null) return 'its entry is no longer kept';
  if (entry.state !== 'done') return `its entry ${entry.id} is ${entry.state}`;
  if (entry.operation === 'create') return 'the service deletes no record';
  if (entry.verdict === 'already_so') return 'somebody else had made the same change';
  return record?.isLive === true ? null : `record ${entry.recordId ?? ''} is gone`;
}

/** What the service showed after our write, and the fields that have changed since. */
async function eventsOf(
  db: Queryable,
  { kind, id, entry }: { readonly kind: string; readonly id: string; readonly entry: number },
) {
  const statement = sql`
    select seq, fields, origin from changes where kind = ${kind} and record_id = ${id} order by seq`;
  const events = await readAll(db, [bigint('seq'), optionalText('fields'), text('origin')], statement);
  const own = events.findLastIndex(({ origin }) => origin === `outbox:${entry}`);
  const fieldsOf = (fields: string | null) => parseObject(fields ?? '{}');
  const later = own < 0 ? [] : events.slice(own + 1).flatMap(({ fields }) => Object.keys(fieldsOf(fields)));
  return { made: fieldsOf(events[own]?.fields ?? null), later: new Set(later) };
}
