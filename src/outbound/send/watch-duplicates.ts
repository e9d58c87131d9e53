import type { Kind } from '../../catalog/kind.ts';
import { hasAllSentValues } from '../../diff/match.ts';
import { readNameOf } from '../../diff/merge-update.ts';
import { shownValue } from '../../diff/shown-value.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import { saveDuplicates } from '../../store/records/issue-store.ts';
import { possibleMatchesSince } from '../../store/records/record-store.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { releaseEntry } from './end-entry.ts';
import { payloadOf, watermarkOf } from './journal.ts';
import { readOwnRows } from '../mirror-rows.ts';
import type { OutboundParts } from '../parts.ts';

const WATCH_MS = 7 * 86_400_000;
const CHECK_EVERY_MS = 3_600_000;

/**
 * Watches for a second record of a create that was adopted or sent again: a request that arrives days late doubles it.
 *
 * A twin is reported and never repaired: only a person can decide which of the two to delete.
 */
export async function watchDuplicates(tx: Transaction, parts: OutboundParts, kind: Kind, entry: Entry) {
  const now = parts.clock.now();
  const payloads = [payloadOf(entry), await payloadAsStored(tx, kind, entry)];
  const duplicates = (await possibleMatchesSince(tx, kind.name, watermarkOf(entry))).filter(({ raw }) => {
    const record = parseObject(raw);
    return payloads.some((payload) => hasAllSentValues(kind, payload, record));
  });
  const ids = duplicates.map((twin) => twin.id);
  if (ids.length > 0) await saveDuplicates(tx, kind.name, { recordId: entry.recordId ?? '', ids, now });
  const isOver = now.getTime() - parseInstant(watermarkOf(entry).at).getTime() > WATCH_MS;
  const nextAttemptAt = isOver ? null : formatInstant(new Date(now.getTime() + CHECK_EVERY_MS));
  await releaseEntry(tx, entry, { nextAttemptAt, now });
}

/** The sent payload in the service's form, as our own record shows it: the service treats a twin alike. */
async function payloadAsStored(tx: Transaction, kind: Kind, entry: Entry): Promise<JsonObject> {
  const row = (await readOwnRows(tx, kind.name, [entry.recordId ?? ''])).get(entry.recordId ?? '');
  const ownRecord = parseObject(row?.raw ?? '{}');
  const storedFields = Object.entries(payloadOf(entry)).map(([name, sent]) => {
    return [name, shownValue(kind, ownRecord, readNameOf(kind, name)) ?? sent] as const;
  });
  return Object.fromEntries(storedFields);
}
