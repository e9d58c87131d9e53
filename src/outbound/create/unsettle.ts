import { instantText } from '../../lib/clock.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { letGo } from '../attempt/conclude.ts';
import { lookTimes } from './look-schedule.ts';
import type { OutboundRules } from '../parts.ts';

/** Nobody knows whether the service has it: it is looked for, and not sent again until it is certain that it is not there. */
export async function unsettle(
  tx: Transaction,
  entry: Entry,
  { rules, now }: { readonly rules: OutboundRules; readonly now: Date },
): Promise<void> {
  const { next } = lookTimes(0, rules);
  const nextAttemptAt = instantText(new Date(now.getTime() + next));
  // What was noted of an earlier send says nothing about this one.
  await letGo(tx, entry, { state: 'unsettled', verdict: 'ambiguous', result: null, nextAttemptAt, now });
}
