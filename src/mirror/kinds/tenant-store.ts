import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable } from '../session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { readTexts, select } from '../tables/rows.ts';

/** The companies (`system_id`) whose records one kind holds, as a sweep knows them; landing stores the new ones. */
export interface KindTenants {
  readonly kind: string;
  readonly companies: Set<string>;
  /** How many of them the mirror remembers. */
  saved: number;
  /** True if the mirror knew no company when the sweep began: every company that the list names is then the kind's. */
  readonly isLearning: boolean;
  /** True once the facts of the kind's old source are forgotten, so that this happens only once. */
  isReset: boolean;
}

/** Whether a kind's records name their company. */
export function namesCompany({ fields }: Kind): boolean {
  return fields.some(({ name, type }) => name === 'system_id' && (type === 'integer' || type === 'text'));
}

/** Reads the companies of a kind. A mirror that has not remembered any takes the ones that its live rows name. */
export async function readTenants(db: Queryable, kind: Kind, isNew: boolean): Promise<KindTenants> {
  const remembered = isNew ? [] : await readRemembered(db, kind.name);
  const named = isNew || remembered.length > 0 ? [] : await namedByRows(db, kind);
  const companies = new Set([...remembered, ...named]);
  return {
    ...{ kind: kind.name, companies, saved: remembered.length },
    ...{ isLearning: companies.size === 0, isReset: false },
  };
}

/** Every kind with the companies that the mirror remembers for it. */
export async function boundCompanies(db: Queryable): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await select(db, KIND_STATE, sql`where system_ids is not null order by kind`);
  return new Map(rows.map(({ kind, systemIds }) => [kind, idsIn(systemIds)]));
}

async function readRemembered(db: Queryable, kind: string): Promise<readonly string[]> {
  const [row] = await select(db, KIND_STATE, sql`where kind = ${kind}`);
  return idsIn(row?.systemIds ?? null);
}

async function namedByRows(db: Queryable, kind: Kind): Promise<readonly string[]> {
  if (!namesCompany(kind)) return [];
  const named = sql`
    select distinct cast(system_id as text) from ${sql.identifier(kind.name)}
    where _deleted_at is null and system_id is not null`;
  return readTexts(db, named);
}

const idsIn = (text: string | null): readonly string[] =>
  text === null ? [] : (JSON.parse(text) as string[]);
