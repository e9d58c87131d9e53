import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';

type DriftCode =
  | 'new_field'
  | 'vanished_field'
  | 'returned_field'
  | 'retyped_field'
  | 'unusable_field'
  | 'text_column'
  | 'untracked_fields'
  | 'flapping_field'
  | 'holes'
  | 'envelope'
  | 'page_size';

/** One change in how the service answers. */
export interface Drift {
  readonly kind: string;
  readonly code: DriftCode;
  readonly field: string | null;
  readonly detail: string;
}

export async function saveDrift(tx: Transaction, drifts: readonly Drift[], now: Date): Promise<void> {
  await tx.append({
    table: 'drift',
    columns: ['kind', 'code', 'field', 'detail', 'seen_at'],
    rows: drifts.map(({ kind, code, field, detail }) => [kind, code, field, detail, instantText(now)]),
  });
}

/** Whether an equal note of drift exists already. */
export async function hasDrift(
  db: Queryable,
  { kind, code, field }: Omit<Drift, 'detail'>,
): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 from drift where kind = ${kind} and code = ${code} and coalesce(field, '') = ${field ?? ''} limit 1`);
  return rows.length > 0;
}

/** The fields that already have an equal note of drift. */
export async function fieldsWithDrift(
  db: Queryable,
  { kind, code }: Pick<Drift, 'kind' | 'code'>,
): Promise<ReadonlySet<string>> {
  const rows = await db.query(
    sql`select distinct field from drift where kind = ${kind} and code = ${code} and field is not null`,
  );
  return new Set(rows.map((row) => String(row['field'])));
}

/** The latest changes, newest first. */
export async function readDrift(
  db: Queryable,
  limit: number,
): Promise<(Drift & { readonly seenAt: string })[]> {
  const rows = await db.query(
    sql`select kind, code, field, detail, seen_at from drift order by id desc limit ${limit}`,
  );
  return rows.map((row) => ({
    kind: String(row['kind']),
    code: String(row['code']) as DriftCode,
    field: row['field'] === null ? null : String(row['field']),
    detail: String(row['detail']),
    seenAt: String(row['seen_at']),
  }));
}

/** The envelope and the page size that a kind's list had last. */
export interface ListShape {
  readonly envelope: string | null;
  readonly pageSize: number | null;
}

export async function readListShape(db: Queryable, kind: string): Promise<ListShape> {
  const [row] = await db.query(sql`select envelope, page_size from kind_state where kind = ${kind}`);
  const [envelope, pageSize] = [row?.['envelope'] ?? null, row?.['page_size'] ?? null];
  return {
    envelope: envelope === null ? null : String(envelope),
    pageSize: pageSize === null ? null : Number(pageSize),
  };
}

export async function saveListShape(
  tx: Transaction,
  kind: string,
  { envelope, pageSize }: ListShape,
): Promise<void> {
  await tx.query(
    sql`update kind_state set envelope = ${envelope}, page_size = ${pageSize} where kind = ${kind}`,
  );
}
