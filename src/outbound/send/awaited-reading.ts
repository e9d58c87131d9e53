import type { Kind } from '../../catalog/kind.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { lastReading } from '../../store/kinds/kind-standing.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { AwaitedReading } from '../../store/outbox/settlement.ts';
import { describeOutcome } from '../../words/outcome-texts.ts';
import { NEXT_READING } from '../../words/verdicts.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { SettlementFacts } from './decide-settlement.ts';

/** A create that waits for its kind to be read, and the time. */
export interface Unsettled {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly now: Date;
}

/** Notes since when a create waits for its kind to be read, and why the latest reading was not enough. */
export async function awaitReading(
  tx: Transaction,
  unsettled: Unsettled,
  facts?: Pick<SettlementFacts, 'doubt' | 'unlistedIds' | 'unreadable'>,
): Promise<AwaitedReading> {
  const since = unsettled.entry.settlement.awaits?.since ?? formatInstant(unsettled.now);
  const last = await lastReading(tx, unsettled.kind.name);
  if (last === null) return { since, why: 'it was never read' };
  const { why } = describeOutcome({ ...last, missing: null });
  const records = facts ? [...facts.unlistedIds, ...facts.unreadable] : [];
  const named = records.length > 0 && { records };
  return { since, why: why ?? facts?.doubt ?? NEXT_READING, ...named };
}
