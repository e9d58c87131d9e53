import type { Schedule } from './schedule.ts';
import type { ChangeRow, Dump } from './dump.ts';
import type { Ledger, Span } from './ledger.ts';

/** All that is left of a schedule: the truth, and what the mirror made of it. */
export interface Recording {
  readonly schedule: Schedule;
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** At the end the service has behaved for a while. */
  readonly pulls: readonly RecordedPull[];
  readonly changes: readonly ChangeRow[];
  /** The last pull of a world at rest whose service still lied; null where it did not lie. */
  readonly lying: RecordedPull | null;
}

/** One pull, whatever came of it. */
export interface RecordedPull extends Span {
  readonly runId: number;
  /** State and reason of each kind's sweep; none where the process died. */
  readonly states: ReadonlyMap<string, string>;
  readonly isDead: boolean;
  readonly after: Dump;
}
