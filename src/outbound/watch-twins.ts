import type { Kind } from '../catalog/kind.ts';
import { matchRecord } from '../diff/match.ts';
import { instantOf, instantText } from '../lib/clock.ts';
import { isObject, parseJson } from '../lib/json.ts';
import { saveTwins } from '../mirror/issue-store.ts';
import { readNewcomers } from '../mirror/newcomers.ts';
import type { Entry } from '../mirror/outbox-store.ts';
import type { Transaction } from '../mirror/session.ts';
import { letGo } from './conclude.ts';
import { momentOf } from './create.ts';
import { payloadOf } from './payload.ts';
import { markerOf } from './marker.ts';
import type { OutboundParts } from './parts.ts';

const WATCH_MS = 7 * 86_400_000;
const LOOK_EVERY_MS = 3_600_000;

/**
 * Looks for a second record of a create that was adopted or sent again: a request that arrives days late doubles it.
 *
 * What is found is told and never repaired: only a person can say which of the two may go.
 */
export async function watchTwins(
  tx: Transaction,
  { rules, clock }: OutboundParts,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
): Promise<void> {
  const now = clock.now();
  const marker = markerOf(kind, entry, rules.markerFields);
  const payload = payloadOf(entry);
  const twins = (await readNewcomers(tx, kind.name, momentOf(entry))).filter(({ raw }) => {
    const record = parseJson(raw);
    return isObject(record) && matchRecord({ kind, payload, record, marker }) === 'exact';
  });
  const ids = twins.map(({ id }) => id);
  if (ids.length > 0) await saveTwins(tx, kind.name, { recordId: entry.recordId ?? '', ids, now });
  const isOver = now.getTime() - instantOf(momentOf(entry).at).getTime() > WATCH_MS;
  const nextAttemptAt = isOver ? null : instantText(new Date(now.getTime() + LOOK_EVERY_MS));
  await letGo(tx, entry, { nextAttemptAt, now });
}
