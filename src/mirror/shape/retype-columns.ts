import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { systemClock } from '../../lib/clock.ts';
import { changeTypes } from './change-types.ts';
import type { Retyped } from './change-types.ts';
import { asMirrored, saveColumn } from '../kinds/field-store.ts';
import { growKindTable } from './grow-kind-tables.ts';
import type { Retyping } from './plan-retyping.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { redecodeWhere } from './redecode.ts';
import type { Transaction } from '../session/session.ts';
import { addTextColumns } from './text-columns.ts';

/**
 * Gives the columns of a mirror that an older release made the types that they have now, filled from `_raw`.
 *
 * Rows keep their instants, and there is no change event. No view of ours may stand on the table.
 */
export async function retypeColumns(
  tx: Transaction,
  { kind, fields, columns: retyped }: Retyping,
  dialect: Dialect,
): Promise<void> {
  for (const field of fields) await saveRetyped(tx, kind.name, field);
  if (retyped.length === 0) return;
  await changeTypes(tx, { table: kind.name, dialect, columns: retyped });
  const cast = retyped.filter(({ to }) => to !== 'as it was');
  if (cast.length > 0) await fillLost(tx, await asMirrored(tx, kind), { retyped: cast, dialect });
}

async function saveRetyped(tx: Transaction, kind: string, field: Field): Promise<void> {
  await saveColumn(tx, kind, field);
  await tx.query(sql`update fields set type = ${field.type} where kind = ${kind} and field = ${field.name}`);
}

/** Decodes the rows whose retyped column is empty: what was null before may fit now, and what fitted may be lost. */
async function fillLost(
  tx: Transaction,
  kind: Kind,
  { retyped, dialect }: { readonly retyped: readonly Retyped[]; readonly dialect: Dialect },
): Promise<void> {
  const now = systemClock.now();
  const where = sql`(${sql.join(
    retyped.map(({ name }) => sql`${sql.identifier(name)} is null`),
    sql` or `,
  )})`;
  await growKindTable(tx, kind, dialect);
  await redecodeWhere(tx, kind, { where, now });
  const grown = await addTextColumns(tx, kind, now); // The issues that were opened just now ask for them.
  if (grown.fields.length === kind.fields.length) return;
  await growKindTable(tx, grown, dialect);
  await redecodeWhere(tx, grown, { where, now });
}
