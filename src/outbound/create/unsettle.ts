import { instantText } from '../../lib/clock.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { letGo } from '../attempt/conclude.ts';
import { lookTimes } from './look-schedule.ts';
import type { OutboundRules } from '../parts.ts';

/** Its outcome is unknown: the mirror is searched, and the create is not sent again until its absence is certain. */
export async function unsettle(
  tx: Transaction,
  entry: Entry,
  { rules, now }: { readonly rules: OutboundRules; readonly now: Date },
): Promise<void> {
  const { next } = lookTimes(0, rules);
  const nextAttemptAt = instantText(new Date(now.getTime() + next));
  // Notes about an earlier send do not apply to this one.
  await letGo(tx, entry, { state: 'unsettled', verdict: 'ambiguous', result: null, nextAttemptAt, now });
}
