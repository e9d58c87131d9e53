import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Transaction } from '../session/session.ts';
import { readNumber } from './rows.ts';

/** A table whose rows processes claim: the columns `owner` and `epoch`, and the condition under which a row is due. */
interface WorkTable {
  readonly name: string;
  readonly isDue: SQL;
}

/** A process's claim of a row. */
export interface WorkClaim extends WorkRef {
  readonly owner: string;
  readonly now: Date;
}

/** Claims a due row by compare-and-set and raises its epoch; returns the row, or none if another process was first. */
export function claimRow(table: WorkTable, { owner, now, ...ref }: WorkClaim): SQL {
  const set = sql`owner = ${owner}, epoch = epoch + 1, updated_at = ${instantText(now)}`;
  return sql`update ${sql.identifier(table.name)} set ${set} ${ifFree(table, ref)} returning *`;
}

/** Raises the epoch of a row that is still due with this one; null if it is not. */
export async function raiseRow(tx: Transaction, table: WorkTable, ref: WorkRef): Promise<WorkRef | null> {
  const raise = sql`update ${sql.identifier(table.name)} set epoch = epoch + 1 ${ifFree(table, ref)} returning epoch`;
  const epoch = await readNumber(tx, raise);
  return epoch === null ? null : { id: ref.id, epoch };
}

const ifFree = ({ isDue }: WorkTable, { id, epoch }: WorkRef): SQL =>
  sql`where id = ${id} and epoch = ${epoch} and owner is null and ${isDue}`;
