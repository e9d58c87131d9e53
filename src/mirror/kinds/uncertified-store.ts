import { sql } from 'drizzle-orm';
import type { Queryable, Row } from '../session/session.ts';

/** A kind whose last sweep did not certify its list, with the work that waits for a certificate; instants are UTC texts. */
export interface UncertifiedKind {
  readonly kind: string;
  /** When the list was last known exactly; null = never. */
  readonly since: string | null;
  /** Complete sweeps since then, without one that did not certify between them. */
  readonly sweeps: number;
  /** The stable reason of the last sweep that ended, and the same reason for a person. */
  readonly reason: string | null;
  readonly detail: string | null;
  readonly waiting: WaitingForList;
}

/** Counts of conclusions that wait for a certificate. */
interface WaitingForList {
  /** Records that the list no longer shows and that are not yet proven to be gone. */
  readonly suspectedDeletions: number;
  readonly heldDeletions: number;
  readonly unsettledCreates: number;
}

/** Kinds whose last sweep did not certify them. A kind that is being read is judged by the sweep before. */
export async function readUncertified(db: Queryable): Promise<UncertifiedKind[]> {
  const rows = await db.query(sql`
    select s.kind, s.certified_at, s.uncertified_sweeps, s.reason as told, ended.reason, ended.detail,
      (select count(*) from deletions as d
        where d.kind = s.kind and d.state in ('suspected', 'approved', 'released')) as suspected,
      (select count(*) from deletions as d where d.kind = s.kind and d.state = 'held') as held,
      (select count(*) from outbox as o
        where o.kind = s.kind and o.operation = 'create' and o.state = 'unsettled') as unsettled
    from kind_state as s
    left join run_kinds as ended on ended.kind = s.kind and ended.run_id = (
      select max(k.run_id) from run_kinds as k join runs as r on r.id = k.run_id
      where k.kind = s.kind and r.command = 'pull')
    where s.uncertified_sweeps > 0 or s.state not in ('certified', 'running', 'never')
    order by s.kind`);
  return rows.map(uncertifiedKind);
}

function uncertifiedKind(row: Row): UncertifiedKind {
  const text = (name: string): string | null => (typeof row[name] === 'string' ? row[name] : null);
  const count = (name: string): number => Number(row[name] ?? 0);
  return {
    kind: String(row['kind']),
    since: text('certified_at'),
    sweeps: count('uncertified_sweeps'),
    reason: text('told') ?? text('reason'),
    detail: text('detail'),
    waiting: {
      suspectedDeletions: count('suspected'),
      heldDeletions: count('held'),
      unsettledCreates: count('unsettled'),
    },
  };
}
