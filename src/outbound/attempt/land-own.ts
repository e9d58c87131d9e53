import type { Kind } from '../../catalog/kind.ts';
import { sortPage } from '../../diff/judge-page.ts';
import type { JsonObject } from '../../lib/json.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { readStanding } from '../../mirror/kinds/kind-standing.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { judgeAsked, readStored } from '../../mirror/records/stored-rows.ts';
import { leapTick } from '../../mirror/kinds/tick-store.ts';
import { confirmRows, saveTouches } from '../../mirror/records/touch-store.ts';
import { writeRows } from '../../mirror/records/write-rows.ts';
import type { OutboundParts } from '../parts.ts';

export interface OwnReading {
  readonly kind: Kind;
  readonly record: JsonObject;
  /** `service` for the record before our write, `outbox:<id>` for the record after it. */
  readonly origin: string;
  /** A record that the mirror does not know gets a row. */
  readonly mayBeNew: boolean;
}

/**
 * Lands a record from the answer to our own write at once, with its event.
 *
 * It counts as newer than every list response requested until now, so that no page read earlier reverts it.
 */
export async function landOwn(
  tx: Transaction,
  { rules, clock }: OutboundParts,
  { kind, record, origin, mayBeNew }: OwnReading,
): Promise<void> {
  const [incoming] = sortPage([record]).incoming;
  if (incoming === undefined) return; // No row can be made of it; its list will say so.
  const mirrored = await asMirrored(tx, kind);
  const stored = (await readStored(tx, mirrored, [incoming.id])).get(incoming.id);
  if (stored === undefined ? !mayBeNew : mayBeNew && stored.listed !== null) return;

  const judged = judgeAsked(mirrored, stored, incoming);
  const response = await leapTick(tx, kind.name);
  if (judged.verdict.is === 'unchanged') {
    await confirmRows(tx, kind.name, { ids: [judged.id], response });
    await saveTouches(tx, kind.name, { ids: [judged.id], response });
    return;
  }
  await writeRows(tx, {
    ...{ kind: mirrored, records: [judged], response, isListed: false, origin, runId: null },
    ...{ now: clock.now(), standing: await readStanding(tx, kind.name) },
    ignoredFields: new Set(rules.ignoreFields[kind.name] ?? []),
  });
}
