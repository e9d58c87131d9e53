import type { Kind } from '../../catalog/kind.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { RecordTraces } from './record-traces.ts';

/** How long history is kept, in days; null keeps all of it. */
export interface KeptDays {
  readonly changesDays: number | null;
  /** Runs, counted from their end. */
  readonly runsDays: number | null;
  /** Entries of the outbox that ended, whose keys stay; and plans. */
  readonly outboxDays: number | null;
  /** Closed issues, notes of drift and proven deletions. */
  readonly issuesDays: number | null;
  /** Webhook deliveries that are settled. */
  readonly deliveriesDays: number | null;
}

export interface ErasedRecord extends RecordTraces {
  readonly kind: string;
  readonly id: string;
}

/** What the owner of tables does in them when history is pruned, a field is excluded, or a record is forgotten. */
export interface TableOwner {
  readonly prune: (tx: Transaction, keep: KeptDays, now: Date) => Promise<void>;
  readonly exclude: (tx: Transaction, kind: Kind) => Promise<void>;
  readonly erase?: (tx: Transaction, record: ErasedRecord) => Promise<void>;
}
