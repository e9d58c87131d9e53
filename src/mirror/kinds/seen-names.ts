import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';
import { sqlList } from '../session/sql-text.ts';
import { FIELDS } from '../tables/engine-tables.ts';
import { pick, select } from '../tables/rows.ts';

/** Names of fields that the service has ever sent, by record kind. */
export type SeenNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the names of all fields that the service has ever sent of these kinds; a kind that was never read is left out. */
export async function readSeenNames(db: Queryable, kinds: readonly string[]): Promise<SeenNames> {
  const seen = new Map<string, Set<string>>();
  if (kinds.length === 0) return seen;
  const rows = await select(db, pick(FIELDS, 'kind', 'field'), sql`where kind in (${sqlList(kinds)})`);
  for (const { kind, field } of rows) {
    const names = seen.get(kind) ?? new Set<string>();
    seen.set(kind, names.add(field));
  }
  return seen;
}
