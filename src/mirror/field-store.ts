import { sql } from 'drizzle-orm';
import type { SeenType } from '../diff/field-type.ts';
import { instantText } from '../lib/clock.ts';
import type { Queryable, Transaction } from './session.ts';

/** The undocumented fields of a kind and the type that each has shown so far. */
export async function readFields(db: Queryable, kind: string): Promise<Map<string, SeenType>> {
  const rows = await db.query(sql`select field, type from fields where kind = ${kind}`);
  return new Map(rows.map((row) => [String(row['field']), String(row['type']) as SeenType]));
}

/** Records fields seen for the first time, or with a wider type than before. */
export async function saveFields(
  tx: Transaction,
  kind: string,
  { types, now }: { types: ReadonlyMap<string, SeenType>; now: Date },
): Promise<void> {
  for (const [field, type] of types) {
    await tx.query(sql`
      insert into fields (kind, field, type, first_seen_at) values (${kind}, ${field}, ${type}, ${instantText(now)})
      on conflict (kind, field) do update set type = excluded.type`);
  }
}
