import type { Kind } from '../../catalog/kind.ts';
import { splitPage, withoutSuppressed } from '../../diff/compare-page.ts';
import { listViewOf, type ShownFields } from '../../diff/shown-value.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readFields, readMirroredKind } from '../../store/kinds/field-store.ts';
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
  /** The fields that our update has sent: their changes are events, also where the row lacks them because they were kept out. */
  readonly sent?: ShownFields;
}

/**
 * Lands a record from the answer to our own write at once, with its event.
 *
 * It counts as newer than every list response requested until now, so that no page read earlier reverts it.
 */
export async function landOwnWrite(tx: Transaction, parts: OutboundParts, reading: OwnRecord): Promise<void> {
  const { kind, record, origin, canBeNew, sent } = reading;
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
  const { allowedAgain: allowed = [] } = mirrored;
  const unseen = allowed.map((name) => [name, {}] as const); // No list could show them: they count as shown.
  const list = listViewOf(new Map([...unseen, ...(await readFields(tx, kind.name))]));
  const compared = { ...mirrored, allowedAgain: allowed.filter((name) => sent?.has(name) !== true) };
  const judged = compareRetrieved({ kind: compared, list }, stored, incoming, response);
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
