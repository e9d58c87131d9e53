import type { Kind } from '../../catalog/kind.ts';
import { splitPage, withoutSuppressed } from '../../diff/compare-page.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readListView, readMirroredKind } from '../../store/kinds/field-store.ts';
import { excludedSince } from '../../store/kinds/exclusions.ts';
import { readStanding, jumpTick } from '../../store/kinds/kind-standing.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { compareRetrieved, readStoredRows, writeRows } from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { OutboundParts } from '../parts.ts';

export interface OwnRecord {
  readonly kind: Kind;
  readonly record: JsonObject;
  /** `service` for the record before our write, `outbox:<id>` for the record after it. */
  readonly origin: string;
  /** A record that the mirror does not know gets a row. */
  readonly canBeNew: boolean;
}

/**
 * Lands a record from the answer to our own write at once, with its event.
 *
 * It counts as newer than every list response requested until now, so that no page read earlier reverts it.
 */
export async function landOwnWrite(tx: Transaction, parts: OutboundParts, reading: OwnRecord): Promise<void> {
  const { kind, record, origin, canBeNew } = reading;
  // The outcome is stored in any case; a process with the present exclusions lands the record.
  if ((await excludedSince(tx, kind)).length > 0) return;
  const page = withoutSuppressed(splitPage([record]), await readSuppressed(tx, kind.name));
  const [incoming] = page.incoming;
  if (incoming === undefined) return; // It cannot become a row (the next sweep opens the issue), or is kept out on purpose.
  const mirrored = await readMirroredKind(tx, kind);
  const stored = (await readStoredRows(tx, mirrored, [incoming.id])).get(incoming.id);
  const isListedNow = stored !== undefined && stored.listed !== null && !stored.isDeleted;
  if (stored === undefined ? !canBeNew : canBeNew && isListedNow) return;

  const response = await jumpTick(tx, kind.name);
  const list = await readListView(tx, kind.name);
  const judged = compareRetrieved({ kind: mirrored, list }, stored, incoming, response);
  await writeRows(tx, {
    kind: mirrored,
    records: [judged],
    isListed: false,
    origin,
    runId: null,
    now: parts.clock.now(),
    standing: await readStanding(tx, kind.name),
    ignoredFields: new Set(parts.rules.ignoreFields[kind.name] ?? []),
  });
}
